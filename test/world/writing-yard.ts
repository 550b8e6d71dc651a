import { type LiveFrame, openLive } from "../../src/loop/loop.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { countListeners } from "./listeners.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "./yard.ts";

/** A whole yard in which no agent works: the test writes what one would, into the log and into the running answer. */
export type WritingYard = TestYard & {
  append(row: ConversationRow, ...events: NewEvent[]): Promise<void>;
  /** A piece of the running answer of any agent, or of what a program says. */
  say(row: ConversationRow, frame: LiveFrame): void;
  endAnswer(row: ConversationRow): void;
  /** How many still listen to a log or to a running answer. */
  listeners(): number;
};

export async function writingYard(options: TestYardOptions = {}): Promise<WritingYard> {
  const listeners = countListeners(options);
  const yard = await startYard({ ...options, ...listeners.options, isOneProcess: true });
  const live = openLive();
  yard.engine.live = live.listen;
  listeners.watchLive(yard);
  /** What each agent of each conversation is writing. */
  const places = new Map<string, string>();
  return {
    ...yard,
    listeners: listeners.held,
    append: async ({ number }, ...events) => void (await must(yard.log.append(number, events))),
    say({ number }, frame) {
      if (frame.frame === "output") return live.say({ number }, frame.call, frame.text);
      const { agent, turn, step, attempt, kind, text } = frame;
      const now = `${turn} ${step} ${attempt}`;
      if (places.get(`${number} ${agent}`) !== now) live.begin({ number, agent }, { turn, step, attempt });
      places.set(`${number} ${agent}`, now);
      live.add({ number, agent }, kind, text);
    },
    endAnswer({ number }) {
      places.delete(`${number} undefined`);
      live.end({ number });
    },
  };
}
