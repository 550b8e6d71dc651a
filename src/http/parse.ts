import { z } from "zod";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Language } from "../words/words.ts";

/** One part of a request by its schema; what does not fit is said in the caller's language, without the value itself. */
export function parsePart<Parsed>(
  part: "path" | "query" | "body",
  schema: z.ZodType<Parsed>,
  value: unknown,
  language: Language,
): Result<Parsed, Failure<"bad_request">> {
  const parsed = schema.safeParse(value, { error: faultsIn[language] });
  if (parsed.success) return ok(parsed.data);
  const faults = parsed.error.issues.slice(0, faultsMax).map((issue) => {
    return `${[part, ...issue.path].join(".")}: ${issue.message.slice(0, faultCharactersMax)}`;
  });
  return failure("bad_request", { what: faults.join("; ") });
}

const faultsMax = 3;
const faultCharactersMax = 200;
const faultsIn: Readonly<Record<Language, z.core.$ZodErrorMap>> = {
  en: z.locales.en().localeError,
  zh: z.locales.zhCN().localeError,
};
