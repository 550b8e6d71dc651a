import { pipeline } from "node:stream/promises";
import { whenOver } from "../base/background.ts";
import { throwUnlessStream } from "../base/fault.ts";

/** A stream that is written to and read from: one that unpacks, one that finds the entries of an archive. */
type Through<T> = AsyncIterable<T> & NodeJS.WritableStream & { destroy(): unknown };

/**
 * What comes out of `through` when `pieces` go in. What ends either of them is thrown where this is read: Node ends the
 * stream with what ended the one before it. Whoever reads no further ends both, and has waited until nobody reads any more.
 */
export async function* joined<T>(
  pieces: AsyncIterable<Uint8Array>,
  through: Through<T>,
): AsyncGenerator<T, void, undefined> {
  const over = pipeline(pieces, through).catch(throwUnlessStream);
  void whenOver(over); // It is told where it is waited for.
  try {
    yield* through;
  } finally {
    through.destroy();
    await over;
  }
}
