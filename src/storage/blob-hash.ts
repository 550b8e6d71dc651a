import { createHash } from "node:crypto";

/** The name of a blob. */
export function hashOf(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
