import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What may have come in since memory was last given back. A young collection takes a few milliseconds. */
const bytesBetween = 8 * 1024 * 1024;

let bytesSince = 0;
let collect: (() => void) | undefined;

/**
 * Called with each piece of a large body. The bytes of a piece lie outside of V8's heap, where it lets some 64 MB of
 * those that nobody uses any more pile up: of every upload that would be more than all the rest of its work takes.
 */
export function tookIn(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < bytesBetween) return;
  bytesSince = 0;
  collect ??= openCollector();
  collect();
}

/** V8 only gives its collector to a context that is made while it is asked for it. */
function openCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("typeof gc === 'function' ? () => gc({ type: 'minor' }) : () => {}");
  setFlagsFromString("--no-expose-gc");
  return typeof found === "function" ? () => void found() : () => {};
}
