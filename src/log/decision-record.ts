import { createHash } from "node:crypto";
import { derivedHex } from "../base/ids.ts";
import type { EventBody } from "../protocol/events.ts";

/*
 * Who approved which bytes under which rule, as a chain: every decision holds a hash over all that was asked and all
 * that was said, and names the hash of the decision before it in the same log, rewound ones included.
 */

type Asked = EventBody<"decision.asked">;
type Made = EventBody<"decision.made">;

/** Completes a decision, so that it follows the one that `previous` names. */
export function chained(asked: Asked, made: Omit<Made, "previous" | "hash">, previous: string): Made {
  return { ...made, previous, hash: madeHash(askedHash(asked), { ...made, previous }) };
}

/** Of all that was asked; `hash` itself is left out. */
export function askedHash(asked: Asked): string {
  return sha256(canonical(asked));
}

/** Of all that was said; `asked` is the hash of what it answers. */
export function madeHash(asked: string, made: Made): string {
  return sha256(JSON.stringify([asked, canonical(made)]));
}

/** What the next decision names. Decisions of the first logs have no hash of their own. */
export function linkOf(made: Made): string {
  return made.hash ?? derivedHex(16, made.id, made.verdict, made.argumentsHash, made.previous);
}

/** What a decision is about: the edited arguments, those that were shown, or the question. */
export function decidedOn(asked: Asked, made: Pick<Made, "arguments">): string {
  return made.arguments ?? asked.arguments ?? asked.question ?? "";
}

/** The bytes that were decided on, in short. */
export function argumentsHash(written: string): string {
  return sha256(written).slice(0, 32);
}

/** The same text for the same content, whoever wrote it down. What only says where an event stands is left out. */
function canonical(body: Asked | Made): string {
  const { type: _, seq: __, at: ___, hash: ____, ...content }: Readonly<Record<string, unknown>> = { ...body };
  return JSON.stringify(content, (_key, value: unknown) => (isPlain(value) ? sorted(value) : value));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
