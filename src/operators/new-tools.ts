import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { isJson, type Json, type ReadYaml, readDocument, textOf } from "./document.ts";
import { type OperationsRead, readOperations } from "./openapi.ts";
import type { Box, BoxTool, Fixed } from "./records.ts";
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

const toolsPerBoxMax = 500;

/** The tools that come of it; those that do not fit are named with the reason. */
export async function addTools(
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  { box, tools }: { readonly box: Box; readonly tools: readonly BoxTool[] },
  { document = {}, given }: ReadTools,
): Promise<AddedTools> {
  const taken = new Set(tools.map(({ operation }) => operation.name));
  const { operations, failures, renamed } = await readOperations(document, box.server, taken);
  const room = Math.max(0, toolsPerBoxMax - tools.length);
  const now = clock.now();
  const made = operations.slice(0, room).map(
    (operation): BoxTool => ({
      ...{ id: ids.uuid(), box: box.id, owner: box.owner, createdAt: now, updatedAt: now, operation },
      ...{ status: "enabled", useRule: given?.useRule ?? "", fixed: [...(given?.fixed ?? [])] },
      extendInfo: given?.extendInfo,
    }),
  );
  const tooMany = makeFailure("operation_unfit", { why: "too_many", limit: toolsPerBoxMax });
  const left = operations.slice(room).map(({ name }) => ({ name, failure: tooMany }));
  return { tools: made, failures: [...failures, ...left], renamed };
}
