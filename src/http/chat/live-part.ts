import type { Engine, LiveFrame } from "../../loop/loop.ts";
import { type Attempt, isSameAttempt } from "../attempt.ts";

type Delta = Extract<LiveFrame, { frame: "delta" }>;

export type LivePart = {
  /** What came since the last time: text of this attempt, if it is the one being written. */
  readonly take: (open: Attempt | undefined) => Delta[];
  readonly stop: () => void;
};

/** Text that is held for a reader who is busy. Beyond that nothing is held: what is missing is read again, from the engine. */
const heldCharactersMax = 256 * 1024;

/** The running answer for one reader, in pieces that go on where the last one ended, however slowly they are taken. */
export function openLivePart(engine: Pick<Engine, "live">, number: number, ring: () => void): LivePart {
  let pieces: Delta[] = [];
  let held = 0;
  let taken: { attempt: Attempt; text: number; reasoning: number } | undefined;
  let unlisten: (() => void) | undefined;

  function hear(frame: LiveFrame): void {
    // What programs say is shown once they are done.
    if (frame.frame === "output" || frame.agent !== undefined) return;
    held += frame.text.length;
    const [first] = pieces;
    // The text of an older attempt is of no use any more: its end is in the log.
    if (first !== undefined && !isSameAttempt(first, frame)) pieces = [];
    const last = pieces.at(-1);
    if (last?.kind === frame.kind && last.offset + last.text.length === frame.offset)
      pieces[pieces.length - 1] = { ...last, text: last.text + frame.text };
    else pieces.push(frame);
    if (held > heldCharactersMax && unlisten !== undefined) leave();
    ring();
  }

  function leave(): void {
    unlisten?.();
    unlisten = undefined;
    pieces = [];
    held = 0;
  }

  function listen(): void {
    unlisten = engine.live(number, hear);
    // The answer so far came at once and may be long, but it is the engine's own: only what gathers from here on counts.
    held = 0;
  }

  return {
    take(open) {
      if (unlisten === undefined) listen();
      const [first] = pieces;
      if (open === undefined || first === undefined || !isSameAttempt(first, open)) return [];
      if (taken === undefined || !isSameAttempt(taken.attempt, open)) taken = { attempt: open, text: 0, reasoning: 0 };
      const news: Delta[] = [];
      for (const piece of pieces) {
        const known = taken[piece.kind] - piece.offset;
        if (known < 0 || known >= piece.text.length) continue;
        news.push({ ...piece, offset: taken[piece.kind], text: known === 0 ? piece.text : piece.text.slice(known) });
        taken[piece.kind] += piece.text.length - known;
      }
      pieces = [];
      held = 0;
      return news;
    },
    stop: leave,
  };
}
