import type { z } from "zod";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { type Language, type ValueType, type Words, wordsFor } from "../words/words.ts";

/** One part of a request by its schema; what does not fit is said in the caller's language, without the value itself. */
export function parsePart<Parsed>(
  part: "path" | "query" | "body",
  schema: z.ZodType<Parsed>,
  value: unknown,
  language: Language,
): Result<Parsed, Failure<"bad_request">> {
  const { faults } = wordsFor(language);
  const parsed = schema.safeParse(value, { error: (issue) => faultWords(issue, faults) });
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
const valuesMax = 12;
/** Every stream takes the place to go on from under this name. */
const cursorField = "after";

function faultWords(issue: z.core.$ZodRawIssue, faults: Words["faults"]): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? faults.missing() : faults.type({ type: typeOf(issue.expected) });
    case "invalid_value": {
      if (issue.input === undefined) return faults.missing();
      const shown = issue.values.slice(0, valuesMax).map((one) => (one === "" ? '""' : String(one)));
      return faults.choice({ values: [...shown, ...(issue.values.length > valuesMax ? ["…"] : [])].join(", ") });
    }
    case "too_big":
      return limitWords(issue.origin, { max: String(issue.maximum) }, faults);
    case "too_small":
      return limitWords(issue.origin, { min: String(issue.minimum) }, faults);
    case "invalid_format":
      return faults.form();
    case "unrecognized_keys":
      return faults.unknown({ keys: issue.keys.slice(0, valuesMax).join(", ") });
    default:
      return issue.input === undefined ? faults.missing() : faults.other();
  }
}

type Limit = { readonly max: string } | { readonly min: string };

function limitWords(origin: string, limit: Limit, faults: Words["faults"]): string {
  if (origin === "string") return "max" in limit ? faults.tooLong(limit) : faults.tooShort(limit);
  const isList = ["array", "set", "map", "object", "record"].includes(origin);
  if (isList) return "max" in limit ? faults.tooMany(limit) : faults.tooFew(limit);
  return "max" in limit ? faults.tooBig(limit) : faults.tooSmall(limit);
}

function typeOf(expected: string): ValueType {
  return types[expected] ?? "other";
}

const types: Readonly<Record<string, ValueType>> = {
  string: "text",
  number: "number",
  int: "whole",
  boolean: "flag",
  array: "list",
  object: "object",
  record: "object",
};
