import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import { ExecutionFrame } from "../protocol/sandbox-resources.ts";
import type { ClientFailure } from "./failure.ts";
import { endSilence, isFinal } from "./follow.ts";
import { known, readEvents, Unreadable } from "./sse.ts";

export type ExecutionNews =
  | Exclude<ExecutionFrame, { frame: "ping" | "closing" | "part" }>
  /** Nothing more is to be heard of it: the last frame. */
  | { readonly frame: "failed"; readonly failure: ClientFailure };

const retryFirstMs = 100;
const retryMsMax = 2_000;
/** An execution lives in its server: one that stays away this often has taken it along. */
const fruitlessMax = 8;

type Following = {
  /** `after`: the id of the last frame that came. */
  readonly connect: (after: string | undefined, signal: AbortSignal) => Promise<Result<Response, ClientFailure>>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What is said of a server that ends every answer before its time. */
  readonly cutOff: (response: Response) => ClientFailure;
};

/** Many connections as one stream: no output comes twice. Ends with `result`, with `failed`, or with the signal. */
export async function* followExecution(following: Following): AsyncGenerator<ExecutionNews, void> {
  const { connect, signal, clock, cutOff } = following;
  let after: string | undefined;
  let failure: ClientFailure | undefined;
  for (let fruitless = 0; fruitless < fruitlessMax && !signal.aborted; fruitless += 1) {
    const connection = new AbortController();
    const leave = () => connection.abort();
    signal.addEventListener("abort", leave);
    const soon = <V>(step: Promise<V>) => endSilence(step, connection, clock);
    try {
      const response = await soon(connect(after, connection.signal));
      if (!response.ok) {
        failure = response.failure;
        if (isFinal(failure)) break;
      } else {
        failure = cutOff(response.value);
        const events = readEvents(response.value, connection.signal);
        for (let next = await soon(events.next()); next.done !== true; next = await soon(events.next())) {
          const frame = known(ExecutionFrame, next.value.data);
          fruitless = 0;
          after = next.value.id ?? after;
          if (isNews(frame)) yield frame;
          if (frame?.frame === "result" || signal.aborted) return;
        }
      }
    } catch (error) {
      // Against such a server one would come back in vain.
      if (!(error instanceof Unreadable)) throw error;
      break;
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
    await clock.wait(Math.min(retryMsMax, retryFirstMs * 2 ** fruitless), signal);
  }
  if (!signal.aborted && failure !== undefined) yield { frame: "failed", failure };
}

function isNews(frame: ExecutionFrame | undefined): frame is Exclude<ExecutionNews, { frame: "failed" }> {
  return frame?.frame === "output" || frame?.frame === "cut" || frame?.frame === "result";
}
