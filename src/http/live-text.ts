import type { LiveFrame } from "../loop/loop.ts";
import { type Attempt, isSameAttempt } from "./attempt.ts";

type Delta = Extract<LiveFrame, { frame: "delta" }>;
type Output = Extract<LiveFrame, { frame: "output" }>;

type LiveText = {
  readonly add: (frame: LiveFrame) => void;
  /** What gathered for this attempt, if it is the one that is being written, and what programs said. */
  readonly take: (open: Attempt | undefined) => LiveFrame[];
  /** Characters that gathered since counting began or the last take. */
  readonly unsent: () => number;
  readonly startCounting: () => void;
};

/** Of what one program said; a slow reader misses the beginning. */
const outputCharactersMax = 16_000;

/** Gathers the text of the newest attempt until its reader takes it: many deltas become one frame. */
export function gatherLiveText(): LiveText {
  let gathered: Delta[] = [];
  let outputs = new Map<string, Output>();
  let characters = 0;
  return {
    add(delta) {
      if (delta.frame === "output") {
        outputs.set(delta.call, joined(outputs.get(delta.call), delta));
        return;
      }
      const last = gathered.at(-1);
      characters += delta.text.length;
      if (last === undefined || !isSameAttempt(last, delta)) {
        // The text of an older attempt is of no use any more: its end is in the log.
        gathered = [delta];
        characters = delta.text.length;
      } else if (last.kind === delta.kind && last.offset + last.text.length === delta.offset) {
        gathered[gathered.length - 1] = { ...last, text: last.text + delta.text };
      } else gathered.push(delta);
    },
    take(open) {
      const first = gathered[0];
      const said = [...outputs.values()];
      outputs = new Map();
      if (open === undefined || first === undefined || !isSameAttempt(first, open)) return said;
      const taken = gathered;
      gathered = [];
      characters = 0;
      return [...said, ...taken];
    },
    unsent: () => characters,
    startCounting() {
      characters = 0;
    },
  };
}

function joined(before: Output | undefined, next: Output): Output {
  if (before === undefined || before.offset + before.text.length !== next.offset) return next;
  const all = before.text + next.text;
  const text = all.slice(-outputCharactersMax);
  return { ...next, offset: next.offset + next.text.length - text.length, text };
}
