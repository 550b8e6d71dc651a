import { hash } from "node:crypto";
import type { Paired } from "./pair-calls.ts";

/** One message as the bytes that are sent. */
export type Fragment = {
  readonly json: string;
  readonly bytes: number;
  /** Taken from the content: equal bytes have equal keys, in whatever object they were found. */
  readonly key: number;
};

/** Writes messages, each message object once: a long request is then a concatenation. */
export function createFragments(
  write: (message: Paired, isApart: boolean) => string,
): (message: Paired, isApart: boolean) => Fragment {
  const written = new WeakMap<Paired, Fragment>();
  return (message, isApart) => {
    const known = written.get(message);
    if (known !== undefined) return known;
    const json = write(message, isApart);
    const fragment = { json, bytes: Buffer.byteLength(json), key: contentKey(json) };
    written.set(message, fragment);
    return fragment;
  };
}

const keyBytes = 6;

function contentKey(json: string): number {
  return hash("sha1", json, "buffer").readUIntBE(0, keyBytes);
}
