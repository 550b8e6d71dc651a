import type { ServiceFetch } from "../web/web.ts";
import { messageBytesMax } from "./limits.ts";

/**
 * A fetch whose answers break off where a server says too much at once: the client collects an answer, or one event of a
 * stream, before it reads it.
 */
export function boundedFetch(fetch: ServiceFetch): ServiceFetch {
  return async (where, init) => {
    const answer = await fetch(where, init);
    if (answer.body === null) return answer;
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const { status, statusText, headers } = answer;
    return new Response(answer.body.pipeThrough(bounded(isStream)), { status, statusText, headers });
  };
}

/** Counts what came since the beginning; of a stream, since the last empty line. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let sizeBytes = 0;
  let isLineStart = false;
  return new TransformStream({
    transform(chunk, controller) {
      const from = isStream ? lastEnd(chunk, isLineStart) : 0;
      sizeBytes = from === 0 ? sizeBytes + chunk.length : chunk.length - from;
      const last = chunk.at(-1);
      isLineStart = last === undefined ? isLineStart : last === newLine;
      if (sizeBytes > messageBytesMax) controller.error(new Error("an answer that is too long"));
      else controller.enqueue(chunk);
    },
  });
}

/** Where the last event of a piece ends that ends in it; 0 where none does. */
function lastEnd(chunk: Uint8Array, isLineStart: boolean): number {
  for (let at = chunk.length - 1; at >= 0; at -= 1) {
    if (chunk[at] !== newLine) continue;
    const before = chunk[at - 1] === carriageReturn ? at - 2 : at - 1;
    if (before < 0 ? isLineStart : chunk[before] === newLine) return at + 1;
  }
  return 0;
}

const newLine = 0x0a;
const carriageReturn = 0x0d;
