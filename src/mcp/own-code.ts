// The client that we speak with servers through calls code of ours: the way to a server, and who asks. What ends that by a
// mistake comes back out of the client as if the server had done it. So it is marked where it leaves our code.

class Mistake extends Error {}

/** Code of ours as the client may have it: a mistake in it is known again (`throwMistake`), all else passes as it is. */
export function ownCode<Given extends unknown[], T>(
  run: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  return async (...given) => {
    try {
      return await run(...given);
    } catch (error) {
      throw isMistake(error) ? new Mistake("a mistake in code that the MCP client calls", { cause: error }) : error;
    }
  };
}

/** For a catch around the client: what began as a mistake of ours is thrown, the rest is left to the caller. */
export function throwMistake(error: unknown): void {
  let at = error;
  for (let depth = 0; depth < causesMax && at instanceof Error; depth += 1) {
    if (at instanceof Mistake) throw at.cause;
    at = at.cause;
  }
}

const causesMax = 5;

/**
 * What nobody else can make code of ours throw. Settings and servers name programs and addresses: where Node refuses to take
 * one, its own code has made the error. What cannot be reached is a TypeError by the custom of fetch, also of ours.
 */
function isMistake(error: unknown): boolean {
  if (!(error instanceof Error) || /^[^\n]*node:/.test(error.stack?.split("\n    at ")[1] ?? "")) return false;
  if (error instanceof TypeError) return !/^(?:fetch failed|terminated)$/.test(error.message);
  return (
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    /^(?:assertion failed|unreachable): /.test(error.message)
  );
}
