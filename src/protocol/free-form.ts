import { z } from "zod";

/** An object of the caller's own making: any keys, any values. */
export const FreeForm = z.record(z.string(), z.unknown());

/** Counted before any of them is looked at: more than anybody means would hold up everybody else. */
export function few<T extends z.ZodType>(record: T, entriesMax: number) {
  return z.preprocess((value, context) => {
    if (!isObject(value) || Object.keys(value).length <= entriesMax) return value;
    context.addIssue(`more than ${entriesMax} entries`);
    return z.NEVER;
  }, record);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
