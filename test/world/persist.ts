import type { Result } from "../../src/base/result.ts";
import type { ClientFailure } from "../../src/client/client.ts";
import { pause } from "./events.ts";

type Persisting = {
  /** A failure that says that it was done before. */
  readonly isFine?: string;
  readonly gone?: AbortSignal;
};

/** Whoever is not answered, or told to come again, asks again in the same words and under the same id. */
export async function persist<V>(
  ask: () => Promise<Result<V, ClientFailure>>,
  { isFine, gone }: Persisting = {},
): Promise<V | undefined> {
  for (;;) {
    gone?.throwIfAborted();
    const told = await ask();
    if (told.ok) return told.value;
    const { code, status = 0 } = told.failure;
    if (code === isFine) return undefined;
    if (status >= 400 && status < 500 && status !== 429 && status !== 409)
      throw new Error(`refused: ${status} ${code}`);
    await pause(100);
  }
}
