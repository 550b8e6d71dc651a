import type { Clock } from "../base/clock.ts";

/** So long nobody has typed when a key is a choice: who was writing something else has seen the question by then. */
const quietMs = 400;

/** When a single key is a choice: the keys have been on the screen for a moment, and it is pressed alone. */
export class KeyChoice {
  readonly #clock: Pick<Clock, "monotonic" | "after">;
  readonly #onShown: () => void;
  #isShown = false;
  #keyAt = Number.NEGATIVE_INFINITY;
  #stop = () => {};

  constructor(clock: Pick<Clock, "monotonic" | "after">, onShown: () => void) {
    this.#clock = clock;
    this.#onShown = onShown;
  }

  /** The keys that can be pressed are on the screen. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** They are shown when nobody has typed for a moment. */
  begin(): void {
    this.end();
    this.#stop = this.#clock.after(quietMs, () => {
      this.#isShown = true;
      // A timer may fire a little before the clock says so: a key that is pressed at once is a choice all the same.
      this.#keyAt = Number.NEGATIVE_INFINITY;
      this.#onShown();
    });
  }

  end(): void {
    this.#stop();
    this.#isShown = false;
  }

  /** A key was pressed; whether it is a choice. */
  take({ isAlone }: { readonly isAlone: boolean }): boolean {
    const now = this.#clock.monotonic();
    const isQuiet = now - this.#keyAt >= quietMs;
    this.#keyAt = now;
    if (!this.#isShown) this.begin();
    return this.#isShown && isAlone && isQuiet;
  }
}
