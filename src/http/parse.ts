import type { z } from "zod";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { issueWords, type Language, wordsFor } from "../words/words.ts";

/** One part of a request by its schema; what does not fit is said in the caller's language, without the value itself. */
export function parsePart<Parsed>(
  part: "path" | "query" | "body",
  schema: z.ZodType<Parsed>,
  value: unknown,
  language: Language,
): Result<Parsed, Failure<"bad_request">> {
  const { faults } = wordsFor(language);
  const parsed = schema.safeParse(value, { error: (issue) => issueWords(issue, faults) });
  if (parsed.success) return ok(parsed.data);
  const { issues } = parsed.error;
  const said = issues.slice(0, faultsMax).map((issue) => {
    return `${[part, ...issue.path].join(".")}: ${issue.message.slice(0, faultCharactersMax)}`;
  });
  const what = said.join("; ");
  const isCursor = part === "query" && issues.every(({ path: [field] }) => field === cursorField);
  return failure("bad_request", isCursor ? { what, rule: "cursor" } : { what });
}

const faultsMax = 3;
const faultCharactersMax = 200;
/** Every stream takes the place to go on from under this name. */
const cursorField = "after";
