import type { FileEntry } from "../../../src/protocol/resources.ts";
import { bytesText, fullTimeText, timeText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { go } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard, type Yard } from "../app/yard.ts";
import { downloadAddress } from "../markdown/files-of.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { useWords, type Words } from "../words/words.ts";
import type { ConversationFiles } from "./conversation-files.ts";
import { shownName } from "./file-names.ts";

type FileRowProps = { readonly conversation: string; readonly files: ConversationFiles; readonly entry: FileEntry };

export function FileRow({ conversation, files, entry }: FileRowProps) {
  const { files: words, language } = useWords();
  const yard = useYard();
  const { selected, changes } = useStore(files.view);
  const { path, bytes, modifiedAt } = entry;
  const name = shownName(path);
  const change = changes.get(path);
  const maker = change === undefined ? "unknown" : change.program === true ? "program" : change.by;
  return (
    <li className="file-row">
      <input
        type="checkbox"
        aria-label={words.select({ name })}
        title={words.select({ name })}
        checked={selected.includes(path)}
        onChange={() => files.toggle(path)}
      />
      <Link to={{ page: "chat", conversation, file: path }} className="file-name">
        <Icon name={iconOf(name)} size={16} />
        <span>{name}</span>
      </Link>
      <span className="file-note">{bytesText(bytes, language)}</span>
      <span className="file-note">{change?.agent ?? words.by[maker]}</span>
      <time className="file-note" title={fullTimeText(modifiedAt, language)}>
        {timeText(modifiedAt, language)}
      </time>
      <Menu
        label={words.more({ name })}
        entries={[
          { label: words.download, run: () => save(downloadAddress(conversation, path), entry.name) },
          { label: words.history, run: () => go({ page: "chat", conversation, file: path, spot: "history" }) },
          {
            label: words.remove,
            isDanger: true,
            run: () => void removeFile(yard, words, { conversation, files, path, name }),
          },
        ]}
      />
    </li>
  );
}

/** The browser saves it, as it does with any link. */
function save(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

type Removing = {
  readonly conversation: string;
  readonly files: ConversationFiles;
  readonly path: string;
  readonly name: string;
};

const undoMs = 10_000;

/** What it held is kept by the server, so that it can come back. */
async function removeFile(
  { client, toasts }: Yard,
  words: Words["files"],
  { conversation, files, path, name }: Removing,
): Promise<void> {
  const params = { id: conversation };
  const removed = await client().call("removeFile", { params, query: { path } });
  if (!removed.ok) return void toasts.tell({ kind: "trouble", text: removed.failure.detail });
  await files.refresh();
  const undo = async () => {
    takeAway();
    const history = await client().call("listFileHistory", { params, query: { path } });
    const seq = history.ok ? history.value.items.find(({ canRestore }) => canRestore)?.seq : undefined;
    // Where nothing is kept, the server says so: the first event is never a file's.
    const back = history.ok ? await client().call("restoreFile", { params, body: { path, seq: seq ?? 1 } }) : history;
    if (!back.ok) toasts.tell({ kind: "trouble", text: back.failure.detail });
    await files.refresh();
  };
  const action = { label: words.undo, run: () => void undo() };
  const takeAway = toasts.tell({ kind: "news", text: words.removed({ name }), action }, undoMs);
}

function iconOf(name: string): IconName {
  if (/\.(png|jpe?g|gif|webp|bmp|avif|svg)$/i.test(name)) return "picture";
  return /\.(csv|tsv|xls\w?|ods|parquet)$/i.test(name) ? "table" : "file";
}
