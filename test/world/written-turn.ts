import { manualClock } from "./manual-clock.ts";
import { writingYard } from "./writing-yard.ts";
import { must } from "./yard.ts";

type Place = { readonly turn: number; readonly step: number; readonly attempt: number };

/** A conversation of a whole yard whose log and running answer the test writes, as whoever follows a message sees it. */
export async function writtenTurn() {
  const clock = manualClock();
  const yard = await writingYard({ clock });
  const conversation = await yard.start("c");
  const { engine, log } = yard;
  const timersOfYard = clock.timers();
  let looks = 0;
  let place: Place = { turn: 1, step: 1, attempt: 1 };
  const said = { text: 0, reasoning: 0 };
  return {
    view: {
      ...{ conversation, clock, log },
      engine: {
        live: engine.live,
        state: (...asked: Parameters<typeof engine.state>) => {
          looks += 1;
          return engine.state(...asked);
        },
      },
    },
    clock,
    events: () => yard.events("c"),
    append: (...events: Parameters<typeof yard.append> extends [unknown, ...infer Events] ? Events : never) =>
      yard.append(conversation, ...events),
    remove: async () => void (await must(engine.remove(conversation))),
    begin(begun: Place): void {
      yard.endAnswer(conversation);
      place = begun;
      Object.assign(said, { text: 0, reasoning: 0 });
    },
    say(text: string, kind: "text" | "reasoning" = "text"): void {
      yard.say(conversation, { frame: "delta", ...place, kind, offset: said[kind], text });
      said[kind] += text.length;
    },
    endAnswer: () => yard.endAnswer(conversation),
    /** How many times the state was looked at. */
    looks: () => looks,
    /** Who listens, and what is left waiting for the clock. */
    left: () => yard.listeners() + clock.timers() - timersOfYard,
    listeners: yard.listeners,
    [Symbol.asyncDispose]: () => yard[Symbol.asyncDispose](),
  };
}
