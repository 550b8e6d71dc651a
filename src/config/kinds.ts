import { BlockList, isIP, isIPv4 } from "node:net";
import { z } from "zod";
import { bareHost } from "../base/host.ts";
import type { ValueForm } from "../words/words.ts";
import type { Kind } from "./first-kinds.ts";

export function wholeNumber(min: number, max: number): Kind<number> {
  return kind(z.number().int().min(min).max(max), { form: "whole_number", min, max }, numberFromText);
}

export function number(min: number, max: number): Kind<number> {
  return kind(z.number().min(min).max(max), { form: "number", min, max }, numberFromText);
}

export const toggle: Kind<boolean> = kind(z.boolean(), { form: "toggle" }, (text) => {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  return text;
});

export const port: Kind<number> = wholeNumber(1, 65_535);

/** `500ms`, `2s`, `1m`, as milliseconds; a number alone counts them. */
export function duration(minMs: number, maxMs: number, example: string): Kind<number> {
  const fromText = (text: string) => {
    const [, count = "", unit = "ms"] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.toLowerCase()) ?? [];
    return count === "" ? text : Number(count) * (unitMs[unit] ?? 1);
  };
  const milliseconds = kind(z.number().min(minMs).max(maxMs), { form: "duration", example }, fromText);
  return { ...milliseconds, show: (value) => `${value}ms` };
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export const text: Kind<string> = kind(z.string().min(1), { form: "text" });

/** Endings of file names: a list in a file, words with commas or blanks between them in a variable. */
export const endings: Kind<readonly string[]> = kind(
  z.array(z.string().regex(/^[a-z0-9][a-z0-9.+-]*$/)).min(1),
  { form: "list", example: "csv, pdf, text" },
  (text) => text.split(/[\s,]+/).flatMap((word) => word.toLowerCase().replace(/^\*?\./, "") || []),
);

/** Names of Python modules, with large and small letters as they are; an empty list is one. */
export const modules: Kind<readonly string[]> = kind(
  z.array(z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/)),
  { form: "list", example: "numpy, pandas" },
  (text) => text.split(/[\s,]+/).filter((word) => word !== ""),
);

/** Names of computers: `pypi.org`, `*.example.com`, with a port where it is an unusual one; an empty list is one. */
export const hosts: Kind<readonly string[]> = kind(
  z.array(z.string().regex(/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/)),
  { form: "list", example: "pypi.org, *.example.com" },
  (text) =>
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== ""),
);

/** Words as they are: large and small letters count. */
export const words: Kind<readonly string[]> = kind(
  z.array(z.string().regex(/^[\x21-\x7e]+$/)).min(1),
  { form: "list", example: "openid, profile" },
  wordsOf,
);

/** Pages of other sites, as browsers name them: `https://app.example.com`; an empty list is one. */
export const origins: Kind<readonly string[]> = kind(
  z.array(z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text && text !== "null")),
  { form: "origins", example: "https://app.example.com" },
  (text) => wordsOf(text).map((word) => word.toLowerCase().replace(/\/$/, "")),
);

/** Addresses and networks: `10.0.0.0/8`, `::1`; an empty list is one. */
export const networks: Kind<readonly string[]> = kind(
  z.array(z.string().refine(isNetwork)),
  { form: "networks", example: "10.0.0.0/8, ::1" },
  wordsOf,
);

/** Where a server listens: an address of this machine, or a name for one. */
export const address: Kind<string> = kind(
  z.string().refine((text) => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)),
  { form: "host", example: "127.0.0.1" },
  bareHost,
);

/** Where other servers of the same installation reach this one: `10.0.0.4:7421`, `[::1]:7421`; port 0 takes a free one. */
export const hostAndPort: Kind<string> = kind(
  z.string().refine((text) => {
    const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
    const bare = bareHost(host);
    const isHost =
      isIP(bare) === 6 ? bare !== host : isIP(bare) === 4 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host);
    return isHost && port !== "" && Number(port) <= 65_535;
  }),
  { form: "host_port", example: "10.0.0.4:7421" },
);

/** The path of a server below another one: `/yard`; empty is none. */
export const subPath: Kind<string> = kind(
  z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/)
    .refine((text) => !/\/\.{1,2}(\/|$)/.test(text)),
  { form: "sub_path", example: "/yard" },
  (text) => text.replace(/^(?=[^/])/, "/").replace(/\/+$/, ""),
);

/** Travels in an HTTP header, where only ASCII passes; quotes are never meant. */
export const key: Kind<string> = kind(z.string().regex(/^[!#-&(-~]+$/), { form: "key" });

/** What secrets are sealed under; shorter ones could be guessed. */
export const sealKey: Kind<string> = kind(z.string().min(32).max(1_024), { form: "seal_key" });

/** Where a database server is, as its own programs take it; the schema is a name that needs no quotes. */
export const databaseAddress: Kind<string> = kind(
  z.string().refine((text) => {
    const place = URL.parse(text);
    const isServer = place !== null && /^postgres(ql)?:$/.test(place.protocol) && !/%(?![0-9a-f]{2})/i.test(text);
    return isServer && /^[a-z_][a-z0-9_]{0,62}$/.test(place.searchParams.get("schema") ?? "agentyard");
  }),
  { form: "database", example: "postgres://user:password@127.0.0.1:5432/agentyard" },
);

const webAddress = z.url({ protocol: /^https?$/ });

/** An address of an HTTP server, without the slashes at its end. */
export const baseUrl: Kind<string> = kind(
  webAddress,
  { form: "address", example: "https://api.openai.com/v1" },
  (text) => text.replace(/\/+$/, ""),
);

/** An address that is compared as a text: a slash at its end counts. */
export function exactAddress(example: string): Kind<string> {
  return kind(webAddress, { form: "address", example });
}

/** As `baseUrl`, or empty: none. */
export function anyBaseUrl(example: string): Kind<string> {
  return kind(z.union([z.literal(""), webAddress]), { form: "address", example }, (text) => text.replace(/\/+$/, ""));
}

/** Where a Docker engine listens: a socket of this machine, or a port of any. */
export const engineHost: Kind<string> = kind(
  z.string().regex(/^(unix:\/\/\/[^\0]+|tcp:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5})$/),
  { form: "address", example: "unix:///var/run/docker.sock" },
);

/** What an entry of a file is called. */
export function nameLike(pattern: RegExp, example: string): Kind<string> {
  return kind(z.string().regex(pattern), { form: "name", example });
}

/** As Docker takes it: `agentyard-sandbox`, `registry.example:5000/team/image:1`. */
export const imageName: Kind<string> = nameLike(/^[a-z0-9][\w.:/@-]{0,254}$/, "agentyard-sandbox");

/** The same for a runtime; empty is the engine's own. */
export const runtimeName: Kind<string> = nameLike(/^[A-Za-z0-9._-]{0,64}$/, "runsc");

/** As Kubernetes names things. */
export function objectName(example: string): Kind<string> {
  return nameLike(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, example);
}

/** Names with slashes between them, none of which leads up again; empty is the folder itself. */
export function placeBelow(example: string): Kind<string> {
  return nameLike(/^$|^(?!\.{1,2}(\/|$))[^/\0]+(\/(?!\.{1,2}(\/|$))[^/\0]+)*$/, example);
}

/** Where sandbox hosts listen; an empty list is one. */
export const hostAddresses: Kind<readonly string[]> = kind(
  z.array(webAddress.refine((text) => !/[?#@]/.test(text))),
  { form: "origins", example: "https://one.example:9200, https://two.example:9200" },
  (text) => wordsOf(text).map((word) => word.replace(/\/+$/, "")),
);

/** `proxy.example:3128`, as many systems have it, means `http://proxy.example:3128`. */
export const proxy: Kind<string> = kind(
  webAddress,
  { form: "address", example: "http://proxy.example:3128" },
  (text) => (text.includes("://") ? text : `http://${text}`),
);

const dollars = z.number().min(0).max(100_000);

/**
 * What models cost, in US dollars for a million tokens, by their ids: a map in a file; in a variable
 * `gpt-5 1.25 10 0.125, other 0.5 2`, with input, output and, where it has one, cached input.
 */
export const prices: Kind<Readonly<Record<string, Price>>> = {
  expected: { form: "prices", example: "gpt-5" },
  parse(value) {
    const table: Record<string, Price> = Object.create(null);
    for (const [id, given] of typeof value === "string" ? pricesOf(value) : Object.entries(Object(value))) {
      const price = priceOf(given);
      if (id === "" || price === undefined) return undefined;
      table[id] = price;
    }
    return typeof value === "object" || typeof value === "string" ? { ...table } : undefined;
  },
  show: (table) =>
    Object.entries(table)
      .map(([id, { input, output, cachedInput }]) => [id, input, output, cachedInput].join(" ").trim())
      .join(", "),
};

const Price = z
  .strictObject({ input: dollars, output: dollars, cached_input: dollars.optional() })
  .transform(({ input, output, cached_input: cachedInput }) => ({
    ...{ input, output, ...(cachedInput === undefined ? {} : { cachedInput }) },
  }));
type Price = z.infer<typeof Price>;

function priceOf(given: unknown): Price | undefined {
  return Price.safeParse(given).data;
}

function pricesOf(text: string): [id: string, price: unknown][] {
  const entries = text.split(",").filter((one) => one.trim() !== "");
  return entries.map((entry) => {
    const [id = "", input, output, cached, ...more] = entry.trim().split(/\s+/);
    const given = { input: Number(input), output: Number(output) };
    if (more.length > 0) return [id, undefined];
    return [id, cached === undefined ? given : { ...given, cached_input: Number(cached) }];
  });
}

/** Variables and flags are text, and a number in a file may stand in quotes: text is read first, then checked. */
function kind<T>(
  schema: z.ZodType<T>,
  expected: ValueForm,
  fromText: (text: string) => unknown = (text) => text,
): Kind<T> {
  return {
    expected,
    parse: (value) => schema.safeParse(typeof value === "string" ? fromText(value) : value).data,
  };
}

function numberFromText(text: string): unknown {
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

/** `10.0.0.0/8`, or one address. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (isIP(address) === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  if (!/^\d{1,3}$/.test(bits)) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
    return true;
  } catch {
    return false;
  }
}
