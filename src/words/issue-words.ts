import type { z } from "zod";
import type { FaultWords, ValueType } from "./en-faults.ts";

const valuesMax = 12;

/** What does not fit a schema, in words, without the value itself. */
export function issueWords(issue: z.core.$ZodRawIssue, faults: FaultWords): string {
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

function limitWords(origin: string, limit: Limit, faults: FaultWords): string {
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
