import { derivedHex, type Ids } from "../base/ids.ts";
import type { Once } from "./handler.ts";

/** An id for something that a call makes: the same again when the call is repeated under its key. */
export function idFor({ once }: { readonly once: Once | undefined }, ids: Ids, what: string): string {
  return once === undefined ? ids.uuid() : uuidFrom(derivedHex(32, once.seed, what));
}

/** In the form of a random one, so that nobody can tell. */
export function uuidFrom(hex: string): string {
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4];
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join("-");
}
