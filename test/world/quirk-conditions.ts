import { isDeepStrictEqual } from "node:util";
import type { Condition, Conditions } from "./quirk-data.ts";
import { brokenRule } from "./quirk-rules.ts";
import type { AskedRequest } from "./quirk-server.ts";

/** What is wrong with a request that arrived; empty when it is as the entry wants it. */
export function checkRequest(asked: AskedRequest, must: Conditions, mustNot: Conditions): string[] {
  return [
    ...Object.entries(must).flatMap(([pointer, condition]) => {
      if (Array.isArray(condition)) return condition.flatMap((rule) => brokenRule(rule, asked.body) ?? []);
      return isMet(places(asked, pointer), condition) ? [] : [`requestMust ${pointer} ${JSON.stringify(condition)}`];
    }),
    ...Object.entries(mustNot).flatMap(([pointer, condition]) => {
      if (Array.isArray(condition)) return [];
      const isHit = places(asked, pointer).some((value) => holds(value, condition));
      return isHit ? [`requestMustNot ${pointer} ${JSON.stringify(condition)}`] : [];
    }),
  ];
}

function isMet(found: readonly unknown[], condition: Condition): boolean {
  if (condition.exists === false) return found.length === 0;
  return found.length > 0 && found.every((value) => holds(value, condition));
}

/** All values at a JSON pointer with wildcards; `@` looks at the request line and headers. */
function places(asked: AskedRequest, pointer: string): unknown[] {
  if (pointer === "@method") return [asked.method];
  if (pointer.startsWith("@header/")) return [asked.headers[pointer.slice("@header/".length)]].filter(isThere);
  let found: unknown[] = [asked.body];
  for (const step of pointer.split("/").slice(1))
    found = found.flatMap((value) => members(value, step)).filter(isThere);
  return found;
}

function isThere(value: unknown): boolean {
  return value !== undefined;
}

function members(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Object.values(value);
  if (Array.isArray(value)) return [value.at(Number(step))];
  return [Object.getOwnPropertyDescriptor(value, step)?.value];
}

function holds(value: unknown, condition: Condition): boolean {
  const { exists, type, matches, maxLength, minItems, maxItems, oneOf } = condition;
  const text = typeof value === "string" ? value : undefined;
  const items = Array.isArray(value) ? value.length : undefined;
  return (
    exists !== false &&
    (!("equals" in condition) || isDeepStrictEqual(value, condition.equals)) &&
    (type === undefined || typeOf(value) === type) &&
    (matches === undefined || (text !== undefined && new RegExp(matches).test(text))) &&
    (maxLength === undefined || (text !== undefined && text.length <= maxLength)) &&
    (minItems === undefined || (items !== undefined && items >= minItems)) &&
    (maxItems === undefined || (items !== undefined && items <= maxItems)) &&
    (oneOf === undefined || oneOf.some((option) => isDeepStrictEqual(value, option)))
  );
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
