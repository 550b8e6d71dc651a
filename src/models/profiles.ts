import { BlockList, isIP } from "node:net";
import { bareHost } from "../base/host.ts";
import { type Family, families } from "./families.ts";
import { type Api, defaultProfile, type Profile } from "./profile.ts";

const unknownCloudTokens = 128_000;
const unknownLocalTokens = 8_192;
const smallWindowTokens = 24_000;
const smallLocalWindowTokens = 32_000;
const smallLocalBillions = 27;
const outputTokensMax = 32_000;

const privateRanges: readonly [address: string, bits: number, version: "ipv4" | "ipv6"][] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
];

export type ModelNaming = {
  readonly baseUrl: string;
  readonly model: string;
  /** As the user said; else the address tells. */
  readonly api?: Api | undefined;
  /** As the user or the server said. */
  readonly contextWindow?: number | undefined;
  /** The user's own corrections; they win. */
  readonly profile?: Partial<Profile> | undefined;
};

export type ModelDescription = {
  readonly windowTokens: number;
  /** Neither the user nor our table nor the server knows the window: the figure is a careful guess. */
  readonly windowGuessed: boolean;
  readonly outputTokens: number | undefined;
  readonly promptSize: "full" | "small";
  readonly profile: Profile;
};

/** What we take for granted of a model by its id and its server, until the server proves otherwise. */
export function describeModel(naming: ModelNaming): ModelDescription {
  const id = naming.model.toLowerCase().split("/").at(-1) ?? "";
  const host = URL.parse(naming.baseUrl)?.hostname ?? "";
  const family = families.find((row) => row.id.test(id));
  // A private address in front of a closed model is a gateway, and the vendor's figures hold.
  const local = isLocalHost(host) && (family === undefined || family.isOpen);
  const known = naming.contextWindow ?? (local ? undefined : family?.windowTokens);
  const windowTokens = known ?? (local ? unknownLocalTokens : unknownCloudTokens);
  const promptSize = local ? localPromptSize(id, windowTokens) : windowTokens < smallWindowTokens ? "small" : "full";
  return {
    windowTokens,
    windowGuessed: known === undefined,
    outputTokens: local ? undefined : family?.outputTokens,
    promptSize,
    profile: {
      ...defaultProfile,
      ...family?.profile,
      ...serverProfile(host, family),
      ...(local ? localProfile(family, promptSize) : {}),
      api: naming.api ?? apiOf(naming.baseUrl, family),
      ...naming.profile,
    },
  };
}

/**
 * The output limit of a request: the user's; else the model's, but not so much that it crowds out the conversation;
 * else none, and the server decides.
 */
export function outputLimit(known: ModelDescription, maxTokens: number | undefined): number | undefined {
  if (maxTokens !== undefined || known.outputTokens === undefined) return maxTokens;
  return Math.min(known.outputTokens, outputTokensMax, Math.floor(known.windowTokens / 4));
}

/** Loopback, private ranges, and names that only a local network resolves. */
export function isLocalHost(host: string): boolean {
  const address = bareHost(host);
  const version = isIP(address);
  if (version !== 0) return isPrivate(address, version === 4 ? "ipv4" : "ipv6");
  return /^[a-z0-9_-]+$|\.(local|localhost|internal|lan)$/i.test(address);
}

function isPrivate(address: string, version: "ipv4" | "ipv6"): boolean {
  const ranges = new BlockList();
  for (const range of privateRanges) ranges.addSubnet(...range);
  return ranges.check(address, version);
}

/** The format in which a server is asked when nobody says which: its vendor's own, else chat completions. */
function apiOf(baseUrl: string, family: Family | undefined): Api {
  const { hostname, pathname } = URL.parse(baseUrl) ?? { hostname: "", pathname: "" };
  // Others that speak it beside chat completions say so in the address: https://api.deepseek.com/anthropic
  if (/(^|\.)anthropic\.com$/.test(hostname) || /\/anthropic(\/v\d+)?\/*$/.test(pathname)) return "anthropic";
  if (/(^|\.)generativelanguage\.googleapis\.com$/.test(hostname))
    return /\/openai\b/.test(pathname) ? "chat" : "google";
  // Models that reason keep what they thought between calls only there.
  return hostname === "api.openai.com" && family?.profile.systemRole === "developer" ? "responses" : "chat";
}

function serverProfile(host: string, family: Family | undefined): Partial<Profile> {
  if (/(^|\.)mistral\.ai$/.test(host)) return { streamUsage: false };
  // Gateways in front of the same models often know only the old name of the role.
  const isVendor = /(^|\.)openai\.(com|azure\.com)$/.test(host);
  return family?.profile.systemRole === "developer" && !isVendor ? { systemRole: "system" } : {};
}

function localPromptSize(id: string, windowTokens: number): "full" | "small" {
  const billions = Number(/(?:^|[-:_x])(\d+(?:\.\d+)?)b(?![a-z0-9])/.exec(id)?.[1] ?? Number.POSITIVE_INFINITY);
  return billions < smallLocalBillions || windowTokens < smallLocalWindowTokens ? "small" : "full";
}

/** Small models print calls as text, and have no room for what they thought before. */
function localProfile(family: Family | undefined, promptSize: "full" | "small"): Partial<Profile> {
  const thinkTags = family?.profile.thinkTags ?? "leading";
  return promptSize === "full" ? { thinkTags } : { thinkTags, toolCallsInText: true, reasoningReplay: "never" };
}
