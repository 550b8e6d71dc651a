import { createHash } from "node:crypto";
import type { Ids } from "../base/ids.ts";

/** 256 bits of chance as 43 characters: for keys, cookies and links. */
export function newSecret(ids: Ids): string {
  return Buffer.from(ids.hex(64), "hex").toString("base64url");
}

/** Under what a secret is stored. It is too long to be guessed, so a plain hash keeps it. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
