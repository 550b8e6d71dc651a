import { useState } from "react";
import { bytesText, durationText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { shownPath } from "../files/file-names.ts";
import { MadePictures } from "../files/made-pictures.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { objectOf, shownArguments, withoutMarks } from "./call-words.ts";
import type { OpenConversation } from "./conversation.ts";
import { FailureText } from "./failure-text.tsx";
import type { CallItem } from "./items.ts";
import { useSince } from "./since.ts";

type CallCardProps = { readonly opened: OpenConversation; readonly item: CallItem };

const glyphs: Readonly<Record<CallItem["state"], IconName>> = {
  ...{ asked: "clock", waiting: "warning", running: "clock", ok: "check", error: "cross", cancelled: "stop" },
  ...{ rejected: "cross", unknown: "warning", not_run: "stop" },
};

/** One line: state, verb, object, time. It opens to what was asked and what came of it. */
export function CallCard({ opened, item }: CallCardProps) {
  const words = useWords();
  const [isOpen, setOpen] = useState(false);
  const isRunning = item.state === "running";
  const object = objectOf(item.arguments);
  return (
    <div className="call" data-state={item.state}>
      <button type="button" className="call-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={glyphs[item.state]} size={16} />
        <span className="unseen">{words.chat.callStates[item.state]}: </span>
        <span className="call-name">{item.name}</span>
        <span className="call-object">{object}</span>
        <CallTime item={item} />
        <Icon name="right" size={16} />
      </button>
      {isRunning && !isOpen && <LiveOutput opened={opened} item={item} lines={4} />}
      {isOpen && <CallBody opened={opened} item={item} />}
      {item.state !== "ok" && item.failure !== undefined && (
        <p className="call-failure">
          <FailureText failure={item.failure} />
        </p>
      )}
      <CallFiles opened={opened} item={item} />
    </div>
  );
}

function CallTime({ item }: { readonly item: CallItem }) {
  const { language, chat } = useWords();
  const since = useSince(item.state === "running" ? item.at : undefined);
  if (item.state === "waiting") return <span className="call-time">{chat.callStates.waiting}</span>;
  const ms = item.durationMs ?? since;
  return <span className="call-time">{ms === undefined ? "" : durationText(ms, language)}</span>;
}

const resultCharactersMax = 20_000;

function CallBody({ opened, item }: CallCardProps) {
  const words = useWords().chat;
  const result = withoutMarks(item.result);
  return (
    <div className="call-body">
      {shownArguments(item.arguments).map(({ name, text }) => (
        <div key={name}>
          <span className="call-label">{name}</span>
          <pre>{text.slice(0, resultCharactersMax)}</pre>
        </div>
      ))}
      {item.state === "running" && <LiveOutput opened={opened} item={item} lines={20} />}
      {result !== "" && (
        <div>
          <span className="call-label">{words.result}</span>
          <pre>{result.slice(0, resultCharactersMax)}</pre>
          {result.length > resultCharactersMax && <span className="call-label">{words.cut}</span>}
        </div>
      )}
    </div>
  );
}

type LiveOutputProps = CallCardProps & { readonly lines: number };

/** The end of what a running program says. */
function LiveOutput({ opened, item, lines }: LiveOutputProps) {
  const words = useWords().chat;
  const output = useStore(opened.live.outputOf(item.call, item.agent));
  if (output === "") return null;
  return (
    <div className="call-output">
      <span className="unseen">{words.output}: </span>
      <pre>{output.trimEnd().split("\n").slice(-lines).join("\n")}</pre>
    </div>
  );
}

function CallFiles({ opened, item }: CallCardProps) {
  const { language, chat } = useWords();
  if (item.files.length === 0 && item.images.length === 0) return null;
  return (
    <div className="call-files">
      {item.files.map(({ path, change, bytes, workspace }) =>
        change === "removed" || workspace !== undefined ? (
          <span key={path} className="file-chip" data-change={change}>
            {change === "removed" ? <del>{shownPath(path)}</del> : shownPath(path)}
          </span>
        ) : (
          <Link key={path} to={{ page: "chat", conversation: opened.id, file: path }} className="file-chip">
            <Icon name="files" size={16} />
            {shownPath(path)}
            <span className="file-note">
              {chat.fileChanges[change]} · {bytesText(bytes, language)}
            </span>
          </Link>
        ),
      )}
      <MadePictures conversation={opened.id} files={item.files.filter(({ workspace }) => workspace === undefined)} />
      {item.images.map(({ mime, base64 }) => (
        <img key={base64.slice(-40)} className="call-image" alt={item.name} src={imageAddress(mime, base64)} />
      ))}
    </div>
  );
}

/** Only kinds that can hold no script. */
export function imageAddress(mime: string, base64: string): string {
  return /^image\/(png|jpeg|gif|webp)$/.test(mime) ? `data:${mime};base64,${base64}` : "data:,";
}
