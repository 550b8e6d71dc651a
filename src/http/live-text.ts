import type { LiveFrame } from "../loop/loop.ts";
import { type Attempt, isSameAttempt } from "./attempt.ts";

type LiveText = {
  readonly add: (delta: LiveFrame) => void;
  /** What gathered for this attempt, if it is the one that is being written. */
  readonly take: (open: Attempt | undefined) => LiveFrame[];
  /** Characters that gathered since counting began or the last take. */
  readonly unsent: () => number;
  readonly startCounting: () => void;
};

/** Gathers the text of the newest attempt until its reader takes it: many deltas become one frame. */
export function gatherLiveText(): LiveText {
  let gathered: LiveFrame[] = [];
  let characters = 0;
  return {
    add(delta) {
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
      if (open === undefined || first === undefined || !isSameAttempt(first, open)) return [];
      const taken = gathered;
      gathered = [];
      characters = 0;
      return taken;
    },
    unsent: () => characters,
    startCounting() {
      characters = 0;
    },
  };
}
