import { domainToASCII } from "node:url";
import { bareHost } from "../base/host.ts";
import { failed, ok, type Result } from "../base/result.ts";

/** Where a request goes: an address that was read once, by the one parser that all of us use. */
export type Place = {
  readonly url: URL;
  /** Without brackets and without the dot at the end of a full name; an address in numbers in its usual spelling. */
  readonly host: string;
  readonly port: number;
};

/** What is wrong with the form of an address, before anybody looks at whom it means. */
export type PlaceFault = "form" | "scheme" | "credentials";

/** Browsers and servers take no more. */
const addressCharactersMax = 8_192;

/**
 * An address as a model or a server wrote it. `base` is what a relative one starts from. `0x7f.1`, `2130706433` and
 * `１２７.0.0.1` come out as the address that they are, as everybody who connects reads them.
 */
export function placeOf(written: string, base?: URL): Result<Place, PlaceFault> {
  const text = written.trim();
  // The parser takes blanks and line ends out of the middle: what was read would not be what was written.
  if (text === "" || text.length > addressCharactersMax || isBroken.test(text)) return failed("form");
  const hasScheme = base !== undefined || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text);
  // Models leave the beginning out, as people do.
  const url = URL.parse(hasScheme ? text : `https://${text.replace(/^\/\//, "")}`, base);
  if (url === null) return failed("form");
  if (url.protocol !== "http:" && url.protocol !== "https:") return failed("scheme");
  if (url.username !== "" || url.password !== "") return failed("credentials");
  const host = bareHost(url.hostname).replace(/\.$/, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  return host === "" || port === 0 ? failed("form") : ok({ url, host, port });
}

const isBroken = /[\s\p{Cc}\p{Cf}]/u;

/** Names that mean something in a private network only, whoever is asked for them. */
export function isInsideName(host: string): boolean {
  const name = domainToASCII(host) || host;
  return !/[.:]/.test(name) || insideEnds.test(name);
}

const insideEnds = /\.(localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa|onion)$/;
