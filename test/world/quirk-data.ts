import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The replay data of `provider-quirks/`, as its README describes it. */
export type Condition = {
  readonly exists?: boolean;
  readonly equals?: unknown;
  readonly type?: string;
  readonly matches?: string;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly oneOf?: readonly unknown[];
};
export type Conditions = Readonly<Record<string, Condition | readonly string[]>>;
type Piece = { readonly bytes: number } | { readonly rest: true } | { readonly ms: number };
type Part =
  | { readonly utf8: string }
  | { readonly base64: string }
  | { readonly repeat: string; readonly times: number };
export type Mode = "1" | "7" | "4096" | "whole" | "pieces";
export type QuirkResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding?: "utf8" | "base64" | "parts";
  readonly body: string | readonly Part[];
  readonly end: "close" | "reset" | "short" | "hang" | "reset-before-headers";
  readonly pieces?: readonly Piece[];
  readonly modes?: readonly Mode[];
};
export type Expect = {
  readonly text: string | null;
  readonly textDigest?: { readonly sha256: string; readonly utf16Length: number };
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id?: string; readonly [field: string]: unknown }[];
  readonly finish: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly usageEstimated?: true;
  readonly error?: {
    kind: string;
    alsoKind?: string[];
    retryable: boolean;
    retryAfterMs?: number;
    toleranceMs?: number;
  };
  readonly withinMs?: number;
  readonly keepForReplay?: readonly string[];
  readonly mayFailLocally?: unknown;
  readonly requestMust: Conditions;
  readonly requestMustNot: Conditions;
};
type FollowUp = Pick<Expect, "requestMust" | "requestMustNot"> & {
  readonly response: QuirkResponse;
  readonly expect: Expect;
};
export type Quirk = {
  readonly id: string;
  readonly kind: "stream" | "nonstream" | "status" | "request";
  /** In the neutral form, which the client under test reads itself. */
  readonly request: unknown;
  readonly response: QuirkResponse;
  readonly expect: Expect;
  readonly followUp?: FollowUp;
};

/** All entries of a file in `test/data/`, with what goes without saying. */
export function readQuirks(name: string): readonly Quirk[] {
  const { entries } = JSON.parse(readFileSync(join(import.meta.dirname, "../data", name), "utf8"));
  const must = { requestMust: {}, requestMustNot: {} };
  const whole = <V extends Pick<Quirk, "response" | "expect">>(given: V): V => ({
    ...{ ...must, ...given, expect: { ...must, ...given.expect } },
    response: { ...{ headers: {}, body: "", end: "close" }, ...given.response },
  });
  return entries.map((entry: Quirk) => ({
    ...whole(entry),
    ...(entry.followUp && { followUp: whole(entry.followUp) }),
  }));
}

export function modesOf({ pieces, modes }: QuirkResponse): readonly Mode[] {
  return modes ?? (pieces ? ["pieces"] : ["1", "7", "whole"]);
}

export function bodyBytes({ body, encoding }: QuirkResponse): Buffer {
  if (typeof body === "string") return Buffer.from(body, encoding === "base64" ? "base64" : "utf8");
  return Buffer.concat(body.map(partBytes));
}

function partBytes(part: Part): Buffer {
  if ("utf8" in part) return Buffer.from(part.utf8);
  if ("base64" in part) return Buffer.from(part.base64, "base64");
  return Buffer.from(part.repeat.repeat(part.times));
}
