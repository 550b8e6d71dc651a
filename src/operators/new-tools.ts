import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { foreignSchema } from "../tools/tools.ts";
import { isJson, type Json, type ReadYaml, readDocument, textOf } from "./document.ts";
import { type OperationsRead, othersTurn, readOperations, sliceOperations } from "./openapi.ts";
import type { Box, BoxTool, Fixed, ToolBody } from "./records.ts";
import { serverOf } from "./server-address.ts";

/** Tools that somebody brings: all of a document, or one that is described by hand. */
export type NewTools = {
  readonly from: { readonly document: unknown } | { readonly hand: HandTool };
  /** What a model is told besides. */
  readonly useRule?: string | undefined;
  readonly fixed?: readonly Fixed[] | undefined;
  readonly extendInfo?: unknown;
};

/** One operation without a document around it; parameters and body are as OpenAPI has them. */
export type HandTool = {
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly unknown[];
  /** A JSON schema. */
  readonly body?: unknown;
};

export type AddedTools = Pick<OperationsRead, "failures" | "renamed"> & { readonly tools: readonly BoxTool[] };

export type ReadTools = {
  readonly server: string;
  readonly document: Json | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly given: NewTools | undefined;
};

/** Reads what was brought, and where its calls go: what was said counts before what the document says. */
export async function readNewTools(
  { readYaml }: { readonly readYaml: ReadYaml },
  given: NewTools | undefined,
  server: string | undefined,
): Promise<Result<ReadTools, Failure<"openapi_unfit">>> {
  const read = given === undefined ? ok(undefined) : await documentOf(given.from, readYaml);
  if (!read.ok) return read;
  const address = serverOf(server, read.value);
  if (!address.ok) return address;
  const info = isJson(read.value?.info) ? read.value.info : {};
  const [title, description] = [textOf(info.title).trim() || undefined, textOf(info.description).trim() || undefined];
  return ok({ server: address.value, document: read.value, title, description, given });
}

function documentOf(from: NewTools["from"], readYaml: ReadYaml): Promise<Result<Json, Failure<"openapi_unfit">>> {
  return readDocument("document" in from ? from.document : aroundHand(from.hand), readYaml);
}

/** The same reader for both: what is said by hand is a document with one operation. */
function aroundHand({ name, description, method, path, parameters, body }: HandTool): Json {
  const requestBody =
    body === undefined ? {} : { requestBody: { required: true, content: { "application/json": { schema: body } } } };
  const operation = { operationId: name, description, parameters, ...requestBody };
  return { openapi: "3.1.0", paths: { [path]: { [method]: operation } } };
}

/** All boxes are in memory, and so is what agents are shown of them; one document may say much with few words. */
export const toolLimits = {
  perBoxMax: 500,
  bytesPerBoxMax: 2 * 1024 * 1024,
  bytesPerUserMax: 8 * 1024 * 1024,
} as const;

type Into = {
  readonly box: Box;
  readonly tools: readonly BoxTool[];
  /** What all tools of the user take already. */
  readonly userBytes: number;
};

/** The tools that come of it, until there is no more room; those that do not fit are named with the reason. */
export async function addTools(
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  { box, tools, userBytes }: Into,
  { document = {}, given }: ReadTools,
): Promise<AddedTools> {
  const names = new Set(tools.map(({ operation }) => operation.name));
  const { operations, failures, renamed } = await readOperations(document, box.server, names);
  const now = clock.now();
  const made: BoxTool[] = [];
  let taken: Taken = { count: tools.length, boxBytes: bytesIn(tools), userBytes };
  let full: Failure<"operation_unfit"> | undefined;
  for (const operation of operations) {
    if (made.length % sliceOperations === 0) await othersTurn();
    const body: ToolBody = {
      ...{ operation, status: "enabled", useRule: given?.useRule ?? "", fixed: [...(given?.fixed ?? [])] },
      extendInfo: given?.extendInfo,
    };
    const sizeBytes = sizeOf(body);
    const { count, boxBytes } = taken;
    taken = { count: count + 1, boxBytes: boxBytes + sizeBytes, userBytes: taken.userBytes + sizeBytes };
    full = tooMuch(taken);
    if (full !== undefined) break;
    const stored = { id: ids.uuid(), box: box.id, owner: box.owner, createdAt: now, updatedAt: now };
    made.push({ ...stored, ...body, sizeBytes });
  }
  const left = operations
    .slice(made.length)
    .flatMap(({ name }) => (full === undefined ? [] : [{ name, failure: full }]));
  return { tools: made, failures: [...failures, ...left], renamed };
}

type Taken = { readonly count: number; readonly boxBytes: number; readonly userBytes: number };

function tooMuch({ count, boxBytes, userBytes }: Taken): Failure<"operation_unfit"> | undefined {
  const { perBoxMax, bytesPerBoxMax, bytesPerUserMax } = toolLimits;
  if (count > perBoxMax) return makeFailure("operation_unfit", { why: "too_many", limit: perBoxMax });
  if (boxBytes > bytesPerBoxMax)
    return makeFailure("operation_unfit", { why: "too_large", limit: bytesPerBoxMax, of: "toolbox" });
  if (userBytes > bytesPerUserMax)
    return makeFailure("operation_unfit", { why: "too_large", limit: bytesPerUserMax, of: "user" });
  return undefined;
}

/** As it is stored, or as agents are shown its arguments: what is referred to often is written once, and shown often. */
function sizeOf(body: ToolBody): number {
  const shown = foreignSchema(body.operation.schema).schema;
  return Math.max(Buffer.byteLength(JSON.stringify(body)), Buffer.byteLength(JSON.stringify(shown)));
}

export function bytesIn(tools: Iterable<BoxTool>): number {
  let sum = 0;
  for (const { sizeBytes } of tools) sum += sizeBytes;
  return sum;
}
