import type { Arrival } from "./arrival.ts";

type Place = Pick<Arrival, "scheme" | "prefix">;

export function signInCookie(at: Place): string {
  return ownCookie("agentyard", at);
}

/**
 * Over https a browser takes this name only from us, and not from a neighbour under another name of the same domain; below a
 * path only over https.
 */
export function ownCookie(name: string, { scheme, prefix }: Place): string {
  if (scheme !== "https") return name;
  return `${prefix === "" ? "__Host-" : "__Secure-"}${name}`;
}

const sameNameMax = 5;

/**
 * What a request has under the name of one cookie. Over http a neighbour under another name of the same domain can put
 * one of its own before ours; a browser sends both.
 */
export function readCookies(header: string | undefined, name: string): readonly string[] {
  const values = (header ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.slice(0, sameNameMax);
}

/** What the browser keeps while the person is at the sign-in service. */
export const wayCookie = "agentyard-way";

/** Of all cookies only those: they are sealed, and end soon. */
export function waysIn(header: string | undefined): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => /^(__Host-|__Secure-)?agentyard-way=/.test(pair)).join("; ");
}

/** A header that sets a cookie which scripts do not see and other sites do not make the browser send with what changes something. */
export function setCookie(
  name: string,
  value: string,
  at: Place & { readonly seconds: number; readonly path?: string },
) {
  const path = `${at.prefix}${at.path ?? ""}` || "/";
  const secure = at.scheme === "https" ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${Math.max(0, Math.round(at.seconds))}; HttpOnly; SameSite=Lax${secure}`;
}

/** Signs a browser in until then. */
export function signedInCookie(
  at: Place,
  { token, lastsMs }: { readonly token: string; readonly lastsMs: number },
): string {
  return setCookie(signInCookie(at), token, { ...at, seconds: lastsMs / 1000 });
}

export function signedOutCookie(at: Place): string {
  return setCookie(signInCookie(at), "", { ...at, seconds: 0 });
}
