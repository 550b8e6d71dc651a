import { type ClipboardEvent, useEffect, useRef, useState } from "react";
import { bytesText } from "../app/format.ts";
import { keep, readKept } from "../app/kept.ts";
import { go } from "../app/router.ts";
import { createStore, useStore } from "../app/store.ts";
import { useYard, type Yard } from "../app/yard.ts";
import type { Attached } from "../chat/composer.tsx";
import { IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { type ConversationFiles, emptyView, type Upload } from "./conversation-files.ts";
import { filesIn } from "./dropped.ts";
import { shownName } from "./file-names.ts";

const nothing = createStore(emptyView);

/** Files that go with the next message. In a chat that has not begun, the first file begins it. */
export function useAttached(
  conversation: string | undefined,
): Attached & { readonly take: (files: readonly File[]) => void } {
  const yard = useYard();
  const words = useWords().files;
  const files = conversation === undefined ? undefined : yard.files.of(conversation);
  const { uploads, selected, waiting } = useStore(files?.view ?? nothing);
  const beginning = useBeginning(yard);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (files === undefined) return;
    files.onUploaded = ({ name, path, replaced }) => {
      if (replaced) yard.toasts.tell({ kind: "news", text: words.replaced({ name: shownName(name) }) });
      if (conversation !== undefined) void tellLosses(yard, conversation, path);
    };
  }, [files, yard, words, conversation]);
  const take = (given: readonly File[]) => {
    if (given.length === 0) return;
    if (files === undefined) void beginning.with(given);
    else files.upload(given);
  };
  return {
    take,
    files: selected,
    waiting: files === undefined ? beginning.waiting : waiting,
    wait: files === undefined ? beginning.wait : (mode) => files.wait(mode),
    isBusy: beginning.isBusy || uploads.some(({ state }) => state !== "failed"),
    hasFailed: uploads.some(({ state }) => state === "failed"),
    clear: () => files?.clearSelected(),
    restore: (paths) => files?.select(paths),
    onPaste(event: ClipboardEvent) {
      const pasted = filesIn(event.clipboardData);
      if (pasted.length === 0) return;
      event.preventDefault();
      take(pasted);
    },
    bar: files !== undefined && (uploads.length > 0 || selected.length > 0) && (
      <ul className="attached" aria-label={words.selected}>
        {selected.map((path) => (
          <SelectedChip key={path} path={path} onRemove={() => files.toggle(path)} />
        ))}
        {uploads.map((upload) => (
          <UploadChip key={upload.id} upload={upload} files={files} />
        ))}
      </ul>
    ),
    button: (
      <>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={words.attach}
          onChange={({ target }) => {
            take([...(target.files ?? [])]);
            target.value = "";
          }}
        />
        <IconButton icon="attach" label={words.attach} onClick={() => input.current?.click()} />
      </>
    ),
  };
}

const receiptSeconds = 30;

/** What of a file cannot be read is told while somebody can still send a better one. */
async function tellLosses({ client, toasts }: Yard, conversation: string, path: string): Promise<void> {
  const query = { path, wait: receiptSeconds };
  const details = await client().call("describeFile", { params: { id: conversation }, query });
  if (!details.ok || details.value.notes.length === 0) return;
  toasts.tell({ kind: "news", text: `${shownName(path)}: ${details.value.notes.join(" ")}` });
}

/** The first file makes the conversation. What was typed so far goes along, and that it was sent already, too. */
function useBeginning({ client, toasts, files, conversations }: Yard) {
  const [isBusy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState<Attached["waiting"]>();
  const wanted = useRef(waiting);
  const wait = (mode: Attached["waiting"]) => {
    wanted.current = mode;
    setWaiting(mode);
  };
  const given = useRef<File[]>([]);
  const begin = async (more: readonly File[]) => {
    given.current.push(...more);
    if (isBusy) return;
    setBusy(true);
    const made = await client().call("createConversation", { body: {} });
    if (!made.ok) {
      wait(undefined);
      given.current = [];
      setBusy(false);
      return void toasts.tell({ kind: "trouble", text: made.failure.detail });
    }
    const { id } = made.value;
    keep(`draft.${id}`, readKept("draft.new"));
    keep("draft.new", undefined);
    files.of(id).upload(given.current);
    files.of(id).wait(wanted.current);
    go({ page: "chat", conversation: id });
    void conversations.refresh();
  };
  return { isBusy, waiting, wait, with: begin };
}

function SelectedChip({ path, onRemove }: { readonly path: string; readonly onRemove: () => void }) {
  const words = useWords().files;
  const name = shownName(path);
  return (
    <li className="attached-chip" title={path}>
      <Icon name="file" size={16} />
      <span className="attached-name">{name}</span>
      <IconButton icon="close" label={words.unselect({ name })} onClick={onRemove} />
    </li>
  );
}

/** A file on its way up: how far it is, and what kept it from arriving. */
export function UploadChip({ upload, files }: { readonly upload: Upload; readonly files: ConversationFiles }) {
  const { files: words, language, shell } = useWords();
  const { id, file, state, sentBytes, detail } = upload;
  const percent = file.size === 0 ? 100 : Math.min(100, Math.floor((sentBytes / file.size) * 100));
  return (
    <li className="attached-chip" data-state={state}>
      <Icon name={state === "failed" ? "warning" : "upload"} size={16} />
      <span className="attached-name">{shownName(file.name)}</span>
      {state === "failed" ? (
        <span className="attached-why" role="alert">
          {detail ?? shell.lost}
        </span>
      ) : (
        <>
          <progress max={100} value={percent} aria-label={words.uploading({ name: file.name, percent })} />
          <span className="file-note">{bytesText(file.size, language)}</span>
        </>
      )}
      {state === "failed" && <IconButton icon="again" label={words.retry} onClick={() => files.retry(id)} />}
      <IconButton
        icon="close"
        label={state === "failed" ? words.dismiss : words.cancel}
        onClick={() => files.dismiss(id)}
      />
    </li>
  );
}
