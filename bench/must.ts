import type { Result } from "../src/base/result.ts";

/** The value, or the end of the bench. */
export function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}
