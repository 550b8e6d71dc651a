import { useEffect, useState } from "react";
import { countText, durationText } from "../app/format.ts";
import { useYard } from "../app/yard.ts";
import { useSince } from "../chat/since.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { Trouble } from "../preview/trouble.tsx";
import { useWords, type Words } from "../words/words.ts";
import { eventsMax, readTurns } from "./read-turns.ts";
import type { Entry, TimedTurn } from "./turns.ts";

const turnsMax = 50;

type TimelineProps = {
  readonly conversation: string;
  /** Of the log, as far as the page knows it: whenever it moves, the timeline looks again. */
  readonly head: number;
  readonly onClose: () => void;
};

/** How each turn went: steps, calls of models with tokens, tools, waits, also those of agents. The newest turn first. */
export function TimelinePanel({ conversation, head, onClose }: TimelineProps) {
  const { timeline: words, shell } = useWords();
  const { client } = useYard();
  const [turns, setTurns] = useState<readonly TimedTurn[]>();
  const [trouble, setTrouble] = useState<string>();
  const [again, setAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever wants it tried again asks anew.
  useEffect(() => {
    let isWanted = true;
    void readTurns(client(), conversation, head).then((read) => {
      if (!isWanted) return;
      setTrouble(read.ok ? undefined : read.failure.detail);
      // What was read before stays.
      if (read.ok) setTurns(read.value);
    });
    return () => {
      isWanted = false;
    };
  }, [client, conversation, head, again]);
  return (
    <section className="timeline" aria-label={words.title}>
      <header className="timeline-head">
        <h2>{words.title}</h2>
        <IconButton icon="close" label={shell.close} onClick={onClose} />
      </header>
      {trouble !== undefined && <Trouble detail={trouble} onRetry={() => setAgain((count) => count + 1)} />}
      {turns?.length === 0 && <p className="about">{words.none}</p>}
      {turns
        ?.slice(-turnsMax)
        .reverse()
        .map((turn, index) => (
          <Turn key={turn.turn} turn={turn} isOpen={index === 0} />
        ))}
      {head > eventsMax && <p className="meta">{words.older}</p>}
    </section>
  );
}

function Turn({ turn, isOpen }: { readonly turn: TimedTurn; readonly isOpen: boolean }) {
  const { timeline: words, language } = useWords();
  const { startedAt, endedAt, outcome, steps, calls, usage, entries } = turn;
  const since = useSince(endedAt === undefined ? startedAt : undefined) ?? 0;
  const wholeMs = Math.max(1, (endedAt ?? Math.max(lastOf(entries, startedAt), startedAt + since)) - startedAt);
  const percent = cacheShare(usage);
  return (
    <details className="timed-turn" open={isOpen}>
      <summary>
        <strong>{words.turn({ turn: turn.turn })}</strong>
        <span className="meta">
          {words.outcome[outcome]} · {durationText(wholeMs, language)} · <Time at={startedAt} />
        </span>
      </summary>
      <p className="meta">
        {words.sum({
          steps,
          calls,
          input: countText(usage.input, language),
          output: countText(usage.output, language),
        })}
        {percent !== undefined && ` · ${words.cached({ percent })}`}
      </p>
      <ol className="timed-entries">
        {entries.map((entry) => (
          <EntryRow key={entry.key} entry={entry} from={startedAt} wholeMs={wholeMs} />
        ))}
      </ol>
    </details>
  );
}

type RowProps = { readonly entry: Entry; readonly from: number; readonly wholeMs: number };

function EntryRow({ entry, from, wholeMs }: RowProps) {
  const words = useWords();
  const { language } = words;
  const { title, about } = textsOf(entry, words);
  const left = Math.min(99, ((entry.at - from) / wholeMs) * 100);
  // What is under way lasts until now.
  const ms = entry.ms ?? (entry.kind === "compacted" ? 0 : wholeMs);
  const width = Math.max(1, Math.min(100 - left, (ms / wholeMs) * 100));
  return (
    <li className="timed-entry" data-kind={entry.kind} data-agent={entry.agent}>
      <Icon name={icons[entry.kind]} size={16} />
      <span className="timed-title">
        {entry.agent !== undefined && <strong>{entry.agent || words.team.worker} · </strong>}
        {title}
      </span>
      <span className="meta timed-ms">{entry.ms === undefined ? "…" : durationText(entry.ms, language)}</span>
      {about !== "" && <span className="meta timed-about">{about}</span>}
      <span className="timed-bar" aria-hidden="true">
        <span style={{ marginInlineStart: `${left}%`, width: `${width}%` }} />
      </span>
    </li>
  );
}

const icons: Readonly<Record<Entry["kind"], IconName>> = {
  model: "chats",
  call: "settings",
  wait: "clock",
  compacted: "copy",
};

function textsOf(entry: Entry, { timeline: words, language }: Words): { title: string; about: string } {
  switch (entry.kind) {
    case "model": {
      const { step, attempt, model, slot, usage, firstMs, failed } = entry;
      const percent = usage === undefined ? undefined : cacheShare(usage);
      return {
        title: [words.step({ step }), ...(attempt > 1 ? [words.attempt({ attempt })] : [])].join(" · "),
        about: [
          words.model({ model, slot }),
          ...(usage === undefined
            ? []
            : [words.tokens({ input: countText(usage.input, language), output: countText(usage.output, language) })]),
          ...(percent === undefined ? [] : [words.cached({ percent })]),
          ...(firstMs === undefined ? [] : [words.first({ time: durationText(firstMs, language) })]),
          ...(failed === undefined ? [] : [words.failed({ kind: failed })]),
        ].join(" · "),
      };
    }
    case "call":
      return { title: entry.name, about: words.call[entry.outcome] };
    case "wait":
      return { title: entry.tool, about: entry.ms === undefined ? words.stillWaits : words.wait };
    case "compacted":
      return { title: words.compacted, about: "" };
  }
}

function lastOf(entries: readonly Entry[], startedAt: number): number {
  return entries.reduce((last, { at, ms = 0 }) => Math.max(last, at + ms), startedAt);
}

/** Undefined where nothing came from a cache, as far as the provider says. */
function cacheShare({ input, cachedInput = 0 }: { input: number; cachedInput?: number | undefined }) {
  return cachedInput === 0 || input === 0 ? undefined : Math.round((cachedInput / input) * 100);
}
