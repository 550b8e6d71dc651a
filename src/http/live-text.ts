import type { LiveFrame } from "../loop/loop.ts";
import type { LogEvent } from "../protocol/events.ts";
import { type Attempt, isSameAttempt } from "./attempt.ts";

type Delta = Extract<LiveFrame, { frame: "delta" }>;
type Output = Extract<LiveFrame, { frame: "output" }>;

type LiveText = {
  readonly add: (frame: LiveFrame) => void;
  /** What gathered for this attempt, if it is the one that is being written, and what programs said. */
  readonly take: (openOf: (agent?: string) => Attempt | undefined) => LiveFrame[];
  /** The reader has this event: what an agent wrote that has ended is of no use any more. */
  readonly pass: (event: LogEvent) => void;
  /** More gathered since counting began or the last take than may wait for its reader: from then on nothing does. */
  readonly isTooMuch: () => boolean;
  readonly startCounting: () => void;
};

/**
 * Text of the running answer that may wait for its reader, who loses nothing by coming back for the rest. As much again
 * may wait of all other agents together.
 */
const unsentCharactersMax = 256 * 1024;
/** So much of what one program said is kept for a slow reader, who misses the beginning. */
const outputCharactersMax = 16_000;

/** Gathers the text of the newest attempt until its reader takes it: many deltas become one frame. */
export function gatherLiveText(): LiveText {
  let gathered: Delta[] = [];
  /** Of other agents than the main one: of what nobody takes, only the newest attempt is kept. */
  const others = new Map<string, Delta[]>();
  let outputs = new Map<string, Output>();
  let characters = 0;
  // Counted apart: a new attempt of the main agent makes room for its own text, not for theirs, which would get a gap.
  let othersCharacters = 0;
  let isCounting = false;
  const isOver = (count: number) => isCounting && count > unsentCharactersMax;
  return {
    add(delta) {
      if (delta.frame === "output") {
        const key = `${delta.agent ?? ""} ${delta.call}`;
        outputs.set(key, joined(outputs.get(key), delta));
        return;
      }
      if (delta.agent !== undefined) {
        if (!isOver(othersCharacters)) others.set(delta.agent, withPiece(others.get(delta.agent) ?? [], delta));
        othersCharacters += delta.text.length;
        return;
      }
      const last = gathered.at(-1);
      if (last !== undefined && isSameAttempt(last, delta) && isOver(characters)) return;
      characters += delta.text.length;
      if (last === undefined || !isSameAttempt(last, delta)) {
        // The text of an older attempt is of no use any more: its end is in the log.
        gathered = [delta];
        characters = delta.text.length;
      } else if (last.kind === delta.kind && last.offset + last.text.length === delta.offset) {
        gathered[gathered.length - 1] = { ...last, text: last.text + delta.text };
      } else gathered.push(delta);
    },
    take(openOf) {
      const open = openOf();
      const first = gathered[0];
      const said: LiveFrame[] = [...outputs.values()];
      outputs = new Map();
      for (const [agent, pieces] of others) {
        const its = openOf(agent);
        if (its === undefined || pieces[0] === undefined || !isSameAttempt(pieces[0], its)) continue;
        said.push(...pieces);
        others.delete(agent);
      }
      // What is left is none that this reader is slow to take: it has that answer whole, or has not heard of it yet.
      othersCharacters = 0;
      if (open === undefined || first === undefined || !isSameAttempt(first, open)) return said;
      const taken = gathered;
      gathered = [];
      characters = 0;
      return [...said, ...taken];
    },
    pass(event) {
      if (event.type === "agent.ended") others.delete(event.id);
    },
    isTooMuch: () => isOver(characters) || isOver(othersCharacters),
    startCounting() {
      isCounting = true;
      characters = 0;
      othersCharacters = 0;
    },
  };
}

function withPiece(pieces: readonly Delta[], delta: Delta): Delta[] {
  const last = pieces.at(-1);
  if (last === undefined || !isSameAttempt(last, delta)) return [delta];
  const goesOn = last.kind === delta.kind && last.offset + last.text.length === delta.offset;
  return goesOn ? [...pieces.slice(0, -1), { ...last, text: last.text + delta.text }] : [...pieces, delta];
}

function joined(before: Output | undefined, next: Output): Output {
  if (before === undefined || before.offset + before.text.length !== next.offset) return next;
  const all = before.text + next.text;
  const text = all.slice(-outputCharactersMax);
  return { ...next, offset: next.offset + next.text.length - text.length, text };
}
