import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { failed, ok, type Result } from "../base/result.ts";

/** What a text was made into: nobody reads it without the key, or puts it where it was not meant for. */
export type Seal = {
  /** `nonce`: 12 bytes that were never used before under this key. */
  seal(value: string, about: { readonly place: string; readonly nonce: Uint8Array }): Uint8Array;
  open(sealed: Uint8Array, place: string): Result<string, "other_key" | "damaged">;
};

const form = 1;
const idBytes = 8;
export const nonceBytes = 12;
const tagBytes = 16;
const nonceAt = 1 + idBytes;
const tagAt = nonceAt + nonceBytes;
const headBytes = tagAt + tagBytes;

/**
 * AES-256-GCM under a key made from `text`. Before the sealed bytes stand the form, which key it was, the nonce and the
 * tag: a value under another key is told from one that was damaged.
 */
export function sealWith(text: string): Seal {
  const made = Buffer.from(hkdfSync("sha256", text, "agentyard", "secrets", 32 + idBytes));
  const [key, id] = [made.subarray(0, 32), made.subarray(32)];
  return {
    seal(value, { place, nonce }) {
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
      const hidden = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
      return Buffer.concat([Uint8Array.of(form), id, nonce, cipher.getAuthTag(), hidden]);
    },
    open(bytes, place) {
      const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (sealed.length < headBytes || sealed[0] !== form) return failed("damaged");
      if (!sealed.subarray(1, nonceAt).equals(id)) return failed("other_key");
      const [nonce, tag] = [sealed.subarray(nonceAt, tagAt), sealed.subarray(tagAt, headBytes)];
      const text = opened({ key, nonce, tag, place }, sealed.subarray(headBytes));
      return text === undefined ? failed("damaged") : ok(text);
    },
  };
}

type Opening = { readonly key: Buffer; readonly nonce: Buffer; readonly tag: Buffer; readonly place: string };

/** Undefined where the tag does not fit: the library throws then, and says nothing else. */
function opened({ key, nonce, tag, place }: Opening, hidden: Buffer): string | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(place)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(hidden), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
