import type { Clock } from "../../base/clock.ts";
import type { JobControl } from "../job-control.ts";
import type { Screen } from "./screen.ts";

/** The signal that brings us back is told a moment after we are. */
const backWithinMs = 500;

/** Ctrl+Z and `fg`: the shell gets its terminal, and we take it again. */
export class Suspension {
  readonly #screen: Screen;
  readonly #jobControl: JobControl | undefined;
  readonly #clock: Pick<Clock, "after">;
  readonly #forget: (() => void) | undefined;
  #isBack = false;

  constructor(screen: Screen, jobControl: JobControl | undefined, clock: Pick<Clock, "after">) {
    this.#screen = screen;
    this.#jobControl = jobControl;
    this.#clock = clock;
    this.#forget = jobControl?.onContinue(() => this.#onContinued());
  }

  begin(): void {
    if (this.#jobControl === undefined) return;
    this.#screen.giveBack();
    this.#jobControl.stop();
    this.#screen.takeAgain();
    this.#isBack = true;
    this.#clock.after(backWithinMs, () => {
      this.#isBack = false;
    });
  }

  end(): void {
    this.#forget?.();
  }

  /** Also after a stop that was not ours: the shell has its own idea of how a terminal is set. */
  #onContinued(): void {
    if (!this.#isBack) this.#screen.takeAgain();
    this.#isBack = false;
  }
}
