import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** The replay data of `provider-quirks/`, as its README describes it; a field we do not know is a mistake in the data. */
const Condition = z.strictObject({
  exists: z.boolean().optional(),
  equals: z.unknown().optional(),
  type: z.enum(["null", "array", "object", "string", "number", "boolean"]).optional(),
  matches: z.string().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  oneOf: z.array(z.unknown()).optional(),
});
export type Condition = z.infer<typeof Condition>;

const Conditions = z.record(z.string(), z.union([Condition, z.array(z.string())])).default({});
export type Conditions = z.infer<typeof Conditions>;

const Piece = z.union([
  z.strictObject({ bytes: z.number() }),
  z.strictObject({ rest: z.literal(true) }),
  z.strictObject({ ms: z.number() }),
]);

const Part = z.union([
  z.strictObject({ utf8: z.string() }),
  z.strictObject({ base64: z.string() }),
  z.strictObject({ repeat: z.string(), times: z.number() }),
]);

const Mode = z.enum(["1", "7", "4096", "whole", "pieces"]);
export type Mode = z.infer<typeof Mode>;

export const QuirkResponse = z.strictObject({
  status: z.number(),
  headers: z.record(z.string(), z.string()).default({}),
  encoding: z.enum(["utf8", "base64", "parts"]).default("utf8"),
  body: z.union([z.string(), z.array(Part)]).default(""),
  end: z.enum(["close", "reset", "short", "hang", "reset-before-headers"]).default("close"),
  pieces: z.array(Piece).optional(),
  modes: z.array(Mode).optional(),
});
export type QuirkResponse = z.infer<typeof QuirkResponse>;

const ExpectedCall = z.strictObject({
  id: z.string().optional(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  invalid: z.literal(true).optional(),
  raw: z.string().optional(),
});

const Expect = z.strictObject({
  text: z.string().nullable(),
  textDigest: z.strictObject({ sha256: z.string(), utf16Length: z.number() }).optional(),
  reasoning: z.string(),
  toolCalls: z.array(ExpectedCall),
  finish: z.enum(["stop", "tool_calls", "length", "content_filter", "error"]),
  usage: z.record(z.string(), z.number()).optional(),
  usageEstimated: z.literal(true).optional(),
  error: z
    .strictObject({
      kind: z.string(),
      alsoKind: z.array(z.string()).optional(),
      retryable: z.boolean(),
      retryAfterMs: z.number().optional(),
      toleranceMs: z.number().default(0),
      adapt: z.unknown().optional(),
    })
    .optional(),
  withinMs: z.number().optional(),
  keepForReplay: z.array(z.string()).optional(),
  mayFailLocally: z.unknown().optional(),
  requestMust: Conditions,
  requestMustNot: Conditions,
});
export type Expect = z.infer<typeof Expect>;

const Quirk = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  category: z.enum(["sse", "tools", "reasoning", "usage", "finish", "errors", "connection", "response", "request"]),
  kind: z.enum(["stream", "nonstream", "status", "request"]),
  title: z.string(),
  provider: z.string(),
  source: z.array(z.string()),
  /** In the neutral form, which the client under test reads itself. */
  request: z.looseObject({ stream: z.boolean() }),
  response: QuirkResponse,
  expect: Expect,
  followUp: z
    .strictObject({ requestMust: Conditions, requestMustNot: Conditions, response: QuirkResponse, expect: Expect })
    .optional(),
});
export type Quirk = z.infer<typeof Quirk>;

const QuirkFile = z.strictObject({ schema: z.literal("agentyard.provider-quirks/1"), entries: z.array(Quirk) });

/** All entries of a file in `test/data/`. */
export function readQuirks(name: string): Quirk[] {
  const text = readFileSync(join(import.meta.dirname, "../data", name), "utf8");
  return QuirkFile.parse(JSON.parse(text)).entries;
}

export function modesOf({ pieces, modes }: QuirkResponse): readonly Mode[] {
  return modes ?? (pieces ? ["pieces"] : ["1", "7", "whole"]);
}

export function bodyBytes({ body, encoding }: QuirkResponse): Buffer {
  if (typeof body === "string") return Buffer.from(body, encoding === "base64" ? "base64" : "utf8");
  return Buffer.concat(body.map(partBytes));
}

function partBytes(part: z.infer<typeof Part>): Buffer {
  if ("utf8" in part) return Buffer.from(part.utf8);
  if ("base64" in part) return Buffer.from(part.base64, "base64");
  return Buffer.from(part.repeat.repeat(part.times));
}
