import type { EventOf, LogEvent } from "../protocol/events.ts";
import type { Words } from "../words/words.ts";
import { safeLine } from "./safe-text.ts";

/** What was left out, what was kept, what of the person's own words the model does not get, and what can be done. */
export function compactionLines(
  event: EventOf<"compacted">,
  { terminal: { compact: texts, gap } }: Words,
  cuts: readonly Cut[],
): string[] {
  const because = event.because === undefined ? "" : `${gap}(${texts.because[event.because]})`;
  const kinds: Readonly<Record<string, (count: number) => string>> = texts.kinds;
  const kept = Object.entries(event.kept ?? {}).flatMap(([kind, count]) => kinds[kind]?.(count) ?? []);
  const { window } = event;
  return [
    texts.done(event) + because,
    ...(kept.length === 0 ? [] : [`  ${texts.kept({ what: kept.join(texts.comma) })}`]),
    ...cuts.map((cut) => `  ${texts.cut(cut)}`),
    ...(window === undefined
      ? []
      : [`  ${texts.window({ model: safeLine(window.model, 60), tokens: window.tokens })}`]),
    ...(event.summary === "" ? [] : [`  ${texts.hint()}`]),
  ];
}

/** So many of all characters of a message are left out. */
type Cut = { readonly left: number; readonly all: number };

/** How long the messages of people are: what of them is cut can be told then. */
export class SentLengths {
  readonly #lengths = new Map<string, number>();
  /** By where the model was given them; several may join one step. */
  readonly #places = new Map<number, readonly number[]>();

  learn(event: LogEvent): void {
    if (event.type === "message.user") this.#lengths.set(event.id, event.text.length);
    const taken =
      event.type === "turn.started" ? [event.message] : event.type === "step.started" ? (event.joined ?? []) : [];
    const lengths = taken.flatMap((id) => this.#lengths.get(id) ?? []);
    if (lengths.length > 0) this.#places.set(event.seq, lengths);
  }

  /** Each is told once, when it is cut first. */
  takeCuts({ trims = [] }: EventOf<"compacted">): Cut[] {
    return [...Map.groupBy(trims, ({ seq }) => seq)].flatMap(([seq, texts]) => {
      const lengths = this.#places.get(seq) ?? [];
      const cuts = texts.flatMap(({ text }, index) => {
        const all = lengths[index] ?? 0;
        return text.length < all ? [{ left: all - text.length, all }] : [];
      });
      if (cuts.length > 0) this.#places.delete(seq);
      return cuts;
    });
  }
}
