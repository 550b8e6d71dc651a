import type { Clock } from "../base/clock.ts";
import { failed, type Result } from "../base/result.ts";
import type { ClientFailure } from "./failure.ts";
import { isEventStream, readFrames, Unreadable } from "./sse.ts";
import { onlyUnseen, type UnseenFrame } from "./unseen.ts";

export type FollowFrame =
  | UnseenFrame
  /** The server is away; we go on trying. */
  | { readonly frame: "lost"; readonly failure: ClientFailure }
  /** It is there again, after it was lost. */
  | { readonly frame: "found" }
  /** Trying again would not help: the last frame. */
  | { readonly frame: "failed"; readonly failure: ClientFailure };

const retryFirstMs = 100;
const retryMsMax = 5_000;
/** The server pings every 15 seconds: after three missed ones the connection is dead, whatever the network says. */
const silenceMsMax = 50_000;

type Following = {
  readonly connect: (after: string, signal: AbortSignal) => Promise<Result<Response, ClientFailure>>;
  readonly after: number | string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What is said of a server whose events are none of ours. */
  readonly unreadable: (response: Response) => ClientFailure;
};

/** Many connections as one stream: each begins after what the ones before delivered. */
export async function* followStream(following: Following): AsyncGenerator<FollowFrame, void> {
  const { connect, after, signal, clock, unreadable } = following;
  const unseen = onlyUnseen(after);
  let fruitless = 0;
  let isLost = false;
  while (!signal.aborted) {
    const connection = new AbortController();
    const leave = () => connection.abort();
    signal.addEventListener("abort", leave);
    const soon = <V>(step: Promise<V>) => endSilence(step, connection, clock);
    fruitless += 1;
    let response: Result<Response, ClientFailure> | undefined;
    try {
      response = await soon(connect(unseen.cursor(), connection.signal));
      // Whoever stands in between goes away again.
      if (response.ok && !isEventStream(response.value)) response = failed(unreadable(response.value));
      if (signal.aborted) return;
      if (response.ok) {
        const frames = readFrames(response.value, connection.signal);
        for (let next = await soon(frames.next()); next.done !== true; next = await soon(frames.next())) {
          fruitless = 0;
          if (isLost) yield { frame: "found" };
          isLost = false;
          const news = unseen.pass(next.value);
          if (news !== undefined) yield news;
          if (signal.aborted) return;
        }
      } else if (isFinal(response.failure)) {
        yield { frame: "failed", failure: response.failure };
        return;
      } else if (!isLost) {
        isLost = true;
        yield { frame: "lost", failure: response.failure };
      }
    } catch (error) {
      // Against such a server one would come back for ever, and nobody would hear of it.
      if (!(error instanceof Unreadable) || response?.ok !== true) throw error;
      yield { frame: "failed", failure: unreadable(response.value) };
      return;
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
    await clock.wait(Math.min(retryMsMax, retryFirstMs * 2 ** fruitless), signal);
  }
}

/** Gives a connection up when nothing comes of it. */
export async function endSilence<V>(step: Promise<V>, connection: AbortController, clock: Clock): Promise<V> {
  const cancel = clock.after(silenceMsMax, () => connection.abort());
  try {
    return await step;
  } finally {
    cancel();
  }
}

/** Trying again would not help. */
export function isFinal({ status = 0, retryable }: ClientFailure): boolean {
  return status >= 400 && status < 500 && !retryable;
}
