import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

const patternCharactersMax = 1_000;

/** The pattern of a query that stands between slashes, as `/v\d+/`; undefined of all others. A path is found by it as well. */
export function patternIn(query: string): string | undefined {
  return /^\/(.+)\/$/s.exec(query.trim())?.[1];
}

/** A regular expression for whole passages, whose lines are told apart; upper and lower case are the same. */
export function readPattern(source: string): Result<RegExp, Failure<"pattern_invalid">> {
  const pattern = source.slice(0, patternCharactersMax);
  if (source.trim() === "") return failure("pattern_invalid", { pattern, why: "empty" });
  if (source.length > patternCharactersMax)
    return failure("pattern_invalid", { pattern, why: "too_long", max: patternCharactersMax });
  const strict = compiled(source, "imu");
  const read = typeof strict === "string" ? compiled(source, "im") : strict;
  return typeof read === "string" ? failure("pattern_invalid", { pattern, why: "syntax", said: read }) : ok(read);
}

/** The expression, or what is wrong with it. */
function compiled(source: string, flags: string): RegExp | string {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    return error instanceof SyntaxError ? (error.message.split(": ").at(-1) ?? error.message) : String(error);
  }
}
