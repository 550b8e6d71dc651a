import { bareHost } from "../../base/host.ts";

/** What a program asked the proxy for. */
export type ProxyRequest = {
  readonly host: string;
  readonly port: number;
  /** What the other side is sent first; undefined for a tunnel, where all of it is the program's own. */
  readonly head: string | undefined;
};

/** `head`: latin1, up to and without the empty line. Undefined for all that is not a proxy request as it should be. */
export function parseRequest(head: string): ProxyRequest | undefined {
  const [first = "", ...lines] = head.split("\r\n");
  const [, method, target = "", version = ""] = requestLine.exec(first) ?? [];
  if (method === undefined || lines.some((line) => !headerLine.test(line))) return undefined;
  return method === "CONNECT" ? parseTunnel(target) : parsePlain({ method, target, version, lines });
}

const requestLine = /^([A-Z]{1,20}) ([!-~]+) HTTP\/(1\.[01])$/;
/** Nothing that a server could take for the end of the line, and no line that goes on the one before it. */
const headerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*$/;

function parseTunnel(target: string): ProxyRequest | undefined {
  const place = placeOf(target);
  return place?.port === undefined ? undefined : { host: place.host, port: place.port, head: undefined };
}

type Plain = {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly lines: readonly string[];
};

function parsePlain({ method, target, version, lines }: Plain): ProxyRequest | undefined {
  const [, authority, path = ""] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(target) ?? [];
  const place = authority === undefined ? undefined : placeOf(authority);
  if (place === undefined) return undefined;
  const kept = lines.filter((line) => !ownHeader.test(line) && !namedByConnection(lines).has(nameOf(line)));
  // The host that was looked at is the one that is told, whatever the program said; and it is asked this once only.
  const head = [
    `${method} ${path.startsWith("/") ? path : `/${path}`} HTTP/${version}`,
    `Host: ${authority}`,
    ...kept,
    "Connection: close",
  ];
  return { host: place.host, port: place.port ?? 80, head: `${head.join("\r\n")}\r\n\r\n` };
}

/** What is meant for the proxy, or for one connection only. */
const ownHeader = /^(host|connection|keep-alive|te|trailer|upgrade|proxy-[^:]*):/i;

function namedByConnection(lines: readonly string[]): Set<string> {
  const named = lines.filter((line) => nameOf(line) === "connection").map((line) => line.slice("connection:".length));
  const hop = named.flatMap((value) => value.split(",").map((name) => name.trim().toLowerCase()));
  // Without these the other side would read another body than the program wrote.
  return new Set(hop.filter((name) => name !== "content-length" && name !== "transfer-encoding"));
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(":")).toLowerCase();
}

/** As DNS has it: a longer name is nobody's, and a refusal would say all of it again. */
const hostCharactersMax = 253;

/** An address in any spelling (`0x7f.1`, `2130706433`) comes out as the address it is. */
function placeOf(authority: string): { readonly host: string; readonly port: number | undefined } | undefined {
  const [, name, digits] = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (name === undefined || !URL.canParse(`http://${name}/`)) return undefined;
  const host = bareHost(new URL(`http://${name}/`).hostname).replace(/\.$/, "");
  const port = digits === undefined ? undefined : Number(digits);
  if (host.length > hostCharactersMax) return undefined;
  return host === "" || port === 0 || (port ?? 0) > 65_535 ? undefined : { host, port };
}
