import type { Clock } from "../base/clock.ts";
import type { ModelAnswer, ModelError, PreparedCall } from "./provider.ts";

/** The gate before one provider: so many calls at once, owners in turn, and a `Retry-After` holds for everybody. */
export interface Turnstile {
  /** The same call, sent when its turn has come. Waiting ends at once when the signal fires. */
  guard(call: PreparedCall, owner: string): PreparedCall;
}

export type TurnstileOptions = {
  readonly clock: Clock;
  readonly callsMax: number;
  /** A provider that asks for a longer pause is not waited for: its error is handed to everybody who comes. */
  readonly holdMsMax: number;
};

type Outcome = "entered" | "aborted" | { readonly held: ModelError };
type Waiter = (outcome: Outcome) => void;

/** One turnstile for each base URL: all slots of a provider share its limits. */
export function openTurnstiles(options: TurnstileOptions): (baseUrl: string) => Turnstile {
  const turnstiles = new Map<string, Turnstile>();
  return (baseUrl) => {
    const key = baseUrl.replace(/\/+$/, "");
    const turnstile = turnstiles.get(key) ?? openTurnstile(options);
    turnstiles.set(key, turnstile);
    return turnstile;
  };
}

export function openTurnstile({ clock, callsMax, holdMsMax }: TurnstileOptions): Turnstile {
  const waiting = ownersInTurn<Waiter>();
  const pause = makePause(clock);
  let running = 0;

  return {
    guard: (call, owner) => ({
      bytes: call.bytes,
      async send(sink, signal) {
        const outcome = await enter(owner, signal);
        if (outcome !== "entered") return unsent(outcome === "aborted" ? abortedError : outcome.held);
        try {
          const answer = await call.send(sink, signal);
          if (answer.error !== undefined) pause.begin(answer.error);
          return answer;
        } finally {
          running -= 1;
          admit();
        }
      },
    }),
  };

  function enter(owner: string, signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve("aborted");
      const waiter: Waiter = (outcome) => {
        signal.removeEventListener("abort", abort);
        resolve(outcome);
      };
      const abort = () => {
        waiting.leave(owner, waiter);
        resolve("aborted");
        admit();
      };
      signal.addEventListener("abort", abort, { once: true });
      waiting.join(owner, waiter);
      admit();
    });
  }

  /** Lets in whoever may go now; called whenever a place, the pause or the queue has changed. */
  function admit(): void {
    const held = pause.rest();
    if (held !== undefined && held.retryAfterMs > holdMsMax) refuseAll(held);
    if (waiting.isEmpty()) return pause.stopTimer();
    if (held !== undefined) return pause.whenOver(held.retryAfterMs, admit);
    while (running < callsMax) {
      const waiter = waiting.next();
      if (waiter === undefined) return;
      running += 1;
      waiter("entered");
    }
  }

  function refuseAll(held: ModelError): void {
    for (let waiter = waiting.next(); waiter !== undefined; waiter = waiting.next()) waiter({ held });
  }
}

/** The pause a provider has asked for, and the timer that ends it. */
function makePause(clock: Clock) {
  let asked: { readonly error: ModelError; readonly untilMs: number } | undefined;
  let timer: AbortController | undefined;
  return {
    begin(error: ModelError): void {
      if (error.kind !== "rate_limit" && error.kind !== "overloaded") return;
      const untilMs = clock.monotonic() + (error.retryAfterMs ?? 0);
      if (untilMs > (asked?.untilMs ?? 0)) asked = { error, untilMs };
    },
    /** The provider's error with what is left of the pause, while it lasts. */
    rest(): (ModelError & { readonly retryAfterMs: number }) | undefined {
      const retryAfterMs = (asked?.untilMs ?? 0) - clock.monotonic();
      return asked === undefined || retryAfterMs <= 0 ? undefined : { ...asked.error, retryAfterMs };
    },
    whenOver(ms: number, action: () => void): void {
      if (timer !== undefined) return;
      timer = new AbortController();
      void clock.wait(ms, timer.signal).then((how) => {
        if (how === "aborted") return;
        timer = undefined;
        action();
      });
    },
    /** For when nobody waits: the timer would only keep the process alive. */
    stopTimer(): void {
      timer?.abort();
      timer = undefined;
    },
  };
}

/** A queue in which the next owner comes before the same owner's next. */
function ownersInTurn<T>() {
  /** In the order of turns, for a map keeps the order of insertion; each owner has at least one entry. */
  const owners = new Map<string, T[]>();
  return {
    isEmpty: () => owners.size === 0,
    join(owner: string, entry: T): void {
      const entries = owners.get(owner);
      if (entries === undefined) owners.set(owner, [entry]);
      else entries.push(entry);
    },
    leave(owner: string, entry: T): void {
      const rest = (owners.get(owner) ?? []).filter((other) => other !== entry);
      if (rest.length > 0) owners.set(owner, rest);
      else owners.delete(owner);
    },
    next(): T | undefined {
      for (const [owner, entries] of owners) {
        const entry = entries.shift();
        owners.delete(owner);
        if (entries.length > 0) owners.set(owner, entries);
        return entry;
      }
      return undefined;
    },
  };
}

const abortedError: ModelError = { kind: "network", retryable: false, because: "cancelled", message: "" };

/** Nothing left the house, so nothing was used. */
function unsent(error: ModelError): ModelAnswer {
  return { text: "", reasoning: "", toolCalls: [], finish: "error", usage: { input: 0, output: 0 }, error };
}
