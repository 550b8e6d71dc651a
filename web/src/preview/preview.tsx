import { useEffect, useState } from "react";
import type { FileDetails } from "../../../src/protocol/resources.ts";
import { bytesText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import type { ConversationFiles } from "../files/conversation-files.ts";
import { FileHistory } from "../files/file-history.tsx";
import { nameOf, shownName } from "../files/file-names.ts";
import { downloadAddress } from "../markdown/files-of.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { Contents, type Look, looksOf } from "./contents.tsx";
import { Receipt } from "./receipt.tsx";
import { readSpot } from "./spot.ts";
import { Trouble } from "./trouble.tsx";

type PreviewProps = {
  readonly conversation: string;
  readonly files: ConversationFiles;
  readonly path: string;
  readonly spot: string | undefined;
  readonly changes: number;
};

/** What is in a file, and what was in it. */
export function Preview({ conversation, files, path, spot, changes }: PreviewProps) {
  const { preview: words, files: other } = useWords();
  const { details, failure, again } = useDetails(conversation, path, changes);
  const looks = details === undefined ? [] : looksOf(details.type);
  const [chosen, setChosen] = useState<Look | "history" | undefined>(spot === "history" ? "history" : undefined);
  const look = chosen ?? looks[0];
  const labels: Readonly<Record<Look | "history", string>> = {
    ...{ shown: words.rendered, text: words.text, source: words.source, history: other.history },
  };
  return (
    <section className="preview" aria-label={shownName(path)}>
      <Head conversation={conversation} files={files} path={path} details={details} />
      {details !== undefined && (
        <fieldset className="choices" aria-label={shownName(path)}>
          {[...looks, "history" as const].map((one) => (
            <button key={one} type="button" aria-pressed={one === look} onClick={() => setChosen(one)}>
              {labels[one]}
            </button>
          ))}
        </fieldset>
      )}
      {failure !== undefined && <Trouble detail={failure} onRetry={again} />}
      {look === "history" && <FileHistory conversation={conversation} path={path} changes={changes} />}
      {details !== undefined && look !== undefined && look !== "history" && (
        <Contents {...{ conversation, path, look, details }} spot={readSpot(spot)} changes={details.modifiedAt} />
      )}
      {details !== undefined && <Receipt conversation={conversation} details={details} />}
    </section>
  );
}

type HeadProps = Pick<PreviewProps, "conversation" | "files" | "path"> & { readonly details: FileDetails | undefined };

function Head({ conversation, files, path, details }: HeadProps) {
  const { files: words, language } = useWords();
  const { selected } = useStore(files.view);
  const name = nameOf(path);
  return (
    <header className="preview-head">
      <Link to={{ page: "chat", conversation, file: "" }} className="icon-button" label={words.back} title={words.back}>
        <Icon name="left" />
      </Link>
      <h2 title={shownName(path)}>{shownName(path)}</h2>
      <span className="file-note">{details !== undefined && bytesText(details.bytes, language)}</span>
      <label className="preview-select" title={words.selected}>
        <input
          type="checkbox"
          aria-label={words.selected}
          checked={selected.includes(path)}
          onChange={() => files.toggle(path)}
        />
        <Icon name="attach" size={16} />
        <span>{words.selected}</span>
      </label>
      <a
        className="icon-button"
        href={downloadAddress(conversation, path)}
        download={name}
        title={words.download}
        aria-label={words.download}
      >
        <Icon name="download" />
      </a>
    </header>
  );
}

function useDetails(conversation: string, path: string, changes: number) {
  const { client } = useYard();
  const [state, setState] = useState<{ readonly details?: FileDetails; readonly failure?: string }>({});
  const [count, setCount] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file that was changed is looked at anew.
  useEffect(() => {
    let isWanted = true;
    void client()
      .call("describeFile", { params: { id: conversation }, query: { path } })
      .then((answer) => {
        if (isWanted) setState(answer.ok ? { details: answer.value } : { failure: answer.failure.detail });
      });
    return () => {
      isWanted = false;
    };
  }, [client, conversation, path, changes, count]);
  return { ...{ details: undefined, failure: undefined }, ...state, again: () => setCount((before) => before + 1) };
}
