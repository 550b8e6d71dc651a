import { assert } from "../base/assert.ts";

/** Below 2^29, so that a packed key stays below 2^53 and JavaScript numbers hold it exactly. */
export function checkNumber(number: number): number {
  assert(Number.isInteger(number) && number > 0 && number < 2 ** 29, "a conversation number lies in 1 to 2^29");
  return number;
}

/** Less than one means none to one database, and is an error to another. */
export function checkLimit(limit: number): number {
  assert(Number.isInteger(limit) && limit > 0, "a limit is a positive integer");
  return limit;
}

/** A conversation holds fewer than 2^24 events. */
export const seqMax = 2 ** 24 - 1;

/** Where the events of a conversation begin: the key of each is this and its seq, so that one tree holds them all in order. */
export function baseOf(number: number): number {
  return checkNumber(number) * 2 ** 24;
}
