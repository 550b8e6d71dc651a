import type { Clock } from "../base/clock.ts";
import type { FollowFrame } from "../client/client.ts";
import type { Words } from "../words/words.ts";
import type { Console } from "./console.ts";
import { safeLine } from "./safe-text.ts";
import type { Style } from "./style.ts";

type Options = {
  readonly console: Pick<Console, "status">;
  readonly words: Words;
  readonly style: Style;
  readonly clock: Clock;
};

const quietMs = 2_000;
const updateMs = 1_000;

/** It stays one line also in a narrow terminal. */
const outputCellsMax = 60;

/** A sign of life while the model is asked and says nothing yet, and the last line of what a running program says. */
export class WaitingLine {
  readonly #options: Options;
  #forget: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  take(frame: FollowFrame): void {
    if (frame.frame === "caught_up") return;
    if (frame.frame === "output") return this.#showOutput(frame.text);
    this.stop();
    if (frame.frame === "event" && isAsking(frame.event)) this.#start();
  }

  stop(): void {
    this.#forget?.();
    this.#forget = undefined;
    this.#options.console.status(undefined);
  }

  /** A line that is not whole yet is shown with the next piece. */
  #showOutput(text: string): void {
    const { console, style } = this.#options;
    const line = text.split("\n").findLast((part) => part.trim() !== "");
    if (line !== undefined) console.status(style.dim(`  │ ${safeLine(line, outputCellsMax)}`));
  }

  #start(): void {
    const { clock, console, style, words } = this.#options;
    const startedAt = clock.monotonic();
    const show = () => {
      const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
      console.status(style.dim(words.terminal.turn.waiting({ seconds })));
      this.#forget = clock.after(updateMs, show);
    };
    this.#forget = clock.after(quietMs, show);
  }
}

/** A model is asked now: for the next step, or for a summary. */
function isAsking({ type }: { readonly type: string }): boolean {
  return type === "step.started" || type === "compaction.started";
}
