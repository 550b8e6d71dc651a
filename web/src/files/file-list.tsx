import { useId, useRef, useState } from "react";
import { useStore } from "../app/store.ts";
import { archiveAddress } from "../markdown/files-of.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { UploadChip } from "./attached.tsx";
import type { ConversationFiles } from "./conversation-files.ts";
import { folderOf } from "./file-names.ts";
import { FileRow } from "./file-row.tsx";
import { FoundInFiles } from "./found-in-files.tsx";

type FileListProps = { readonly conversation: string; readonly files: ConversationFiles };
type Filter = "all" | "uploads" | "outputs";

export function FileList({ conversation, files }: FileListProps) {
  const words = useWords().files;
  const heading = useId();
  const { phase, detail, files: all, uploads } = useStore(files.view);
  const [filter, setFilter] = useState<Filter>("all");
  const [wanted, setWanted] = useState("");
  const isShown = (path: string) =>
    (filter === "all" || path.startsWith(`${filter}/`)) && path.toLowerCase().includes(wanted.trim().toLowerCase());
  const shown = all.filter(({ path }) => isShown(path));
  const folders = [...Map.groupBy(shown, ({ path }) => folderOf(path))].toSorted(
    ([one], [other]) => order(one) - order(other),
  );
  return (
    <section className="files" aria-labelledby={heading}>
      <header className="files-head">
        <h2 id={heading}>{words.title}</h2>
        <UploadButton onFiles={(given) => files.upload(given)} />
        {all.length > 0 && (
          <a className="button" href={archiveAddress(conversation, ".")} download>
            <Icon name="download" size={16} />
            {words.downloadAll}
          </a>
        )}
      </header>
      <div className="files-tools">
        <input
          className="field"
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
        <Filters filter={filter} onChange={setFilter} />
      </div>
      {uploads.length > 0 && (
        <ul className="attached">
          {uploads.map((upload) => (
            <UploadChip key={upload.id} upload={upload} files={files} />
          ))}
        </ul>
      )}
      {phase === "failed" && <p role="alert">{detail}</p>}
      {phase === "ready" && shown.length === 0 && (
        <p className="about">{all.length === 0 ? words.none : words.noneSuch}</p>
      )}
      {folders.map(([folder, entries]) => (
        <div key={folder} className="files-folder">
          {folder !== "" && <h3>{folder}/</h3>}
          <ul>
            {entries.map((entry) => (
              <FileRow key={entry.path} conversation={conversation} files={files} entry={entry} />
            ))}
          </ul>
        </div>
      ))}
      {wanted.trim().length > 1 && <FoundInFiles conversation={conversation} query={wanted.trim()} />}
    </section>
  );
}

/** What agents made is what people look for. */
function order(folder: string): number {
  const first = ["outputs", "uploads", ""].indexOf(folder.split("/")[0] ?? "");
  return first < 0 ? 3 : first;
}

function Filters({ filter, onChange }: { readonly filter: Filter; readonly onChange: (filter: Filter) => void }) {
  const words = useWords().files;
  return (
    <fieldset className="choices" aria-label={words.title}>
      {(["all", "uploads", "outputs"] as const).map((one) => (
        <button key={one} type="button" aria-pressed={one === filter} onClick={() => onChange(one)}>
          {words.filters[one]}
        </button>
      ))}
    </fieldset>
  );
}

function UploadButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const words = useWords().files;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={words.upload}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      <Button kind="main" onClick={() => input.current?.click()}>
        <Icon name="upload" size={16} />
        {words.upload}
      </Button>
    </>
  );
}
