import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import { parsedJson } from "../../base/json.ts";
import type { Words } from "../../words/words.ts";
import type { GuestLimits, Lack, LackAbout, LackName } from "../provider.ts";

const mebibyte = 1024 * 1024;
const canaryCharactersMax = 64 * 1024;

export const canaryLimits: GuestLimits = {
  memoryBytes: 256 * mebibyte,
  processesMax: 32,
  cpus: 1,
  fileBytesMax: mebibyte,
  tmpBytesMax: mebibyte,
  outputBytesMax: mebibyte,
};

/** The program that looks around from inside a guest, as its first process. */
export function canaryProgram(): Buffer {
  return readFileSync(join(import.meta.dirname, "canary.py"));
}

const facts = z.object({
  capabilities: z.number(),
  noNewPrivs: z.string(),
  seccomp: z.string(),
  user: z.array(z.number()),
  descriptors: z.array(z.number()),
  canNestUsers: z.boolean(),
  writable: z.array(z.string()),
  interfaces: z.array(z.string()),
  routes: z.number(),
  /** Those of the places it was given that answered. */
  reached: z.array(z.string()).default([]),
  canSeeFirst: z.boolean(),
  libraries: z.array(z.string()),
  hasChinese: z.boolean(),
  hasNode: z.boolean(),
});
export type GuestFacts = z.infer<typeof facts>;

/** What it said, or that it was nothing we know. */
export function factsIn(line: string): GuestFacts | string {
  return facts.safeParse(parsedJson(line)).data ?? `the canary said: ${line.slice(0, 200)}`;
}

/** Its one line; what is longer than any of them comes to nothing. */
export function readCanary(control: Readable): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    control.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes("\n") || text.length > canaryCharactersMax) resolve(text);
    });
  });
}

/** What a guest must find. Anything else, and no code runs here. */
const walls = {
  capabilities: 0,
  noNewPrivs: "1",
  canNestUsers: false,
  writable: [],
  interfaces: ["lo"],
  routes: 0,
  canSeeFirst: false,
} satisfies Partial<GuestFacts>;

/** What only the provider knows: who its programs are, the first of which has this number, and what they start with. */
type Own = { readonly user: readonly number[]; readonly descriptors: readonly number[] };

/**
 * By the name of what is lacking; `name` stands for all walls but the filter of calls. `besides`: walls that stand
 * elsewhere, and are looked at by who says so.
 */
export function brokenWalls(
  found: GuestFacts,
  own: Own,
  name: LackName,
  besides: readonly (keyof typeof walls)[] = [],
): [LackName, string][] {
  const text = (value: unknown) => JSON.stringify(value);
  const elsewhere: readonly string[] = besides;
  const broken = Object.entries({ ...own, ...walls }).flatMap(([fact, wanted]) => {
    if (elsewhere.includes(fact)) return [];
    const seen = Object.entries(found).find(([key]) => key === fact)?.[1];
    return text(seen) === text(wanted) ? [] : [`${fact} ${text(seen)}`];
  });
  return [
    ...(found.seccomp === "2" ? [] : [["no_seccomp", `seccomp ${found.seccomp}`] satisfies [LackName, string]]),
    ...(broken.length === 0 ? [] : [[name, broken.join(", ")] satisfies [LackName, string]]),
  ];
}

export function sayLack({ lacks }: Words["sandbox"], name: LackName, about: LackAbout): Lack {
  const [reason, fix] = lacks[name](about);
  return { name, reason, fix, about };
}
