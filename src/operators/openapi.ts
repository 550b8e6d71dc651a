import { ok, type Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import { follow, isJson, type Json, shown, textOf } from "./document.ts";
import { cleanName, freeName } from "./names.ts";
import { readArguments, unfit } from "./operation-arguments.ts";
import type { Operation } from "./records.ts";
import { isSameServer } from "./server-address.ts";

/** What a document offers, and what of it cannot be used: one that does not fit leaves the others as they are. */
export type OperationsRead = {
  readonly operations: readonly Operation[];
  readonly failures: readonly { readonly name: string; readonly failure: Failure<"operation_unfit"> }[];
  /** Operations that got another name than they have, because there was one already. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
};

export const operationsMax = 500;
const summaryMax = 200;
const descriptionMax = 1_000;
const methods = ["get", "put", "post", "delete", "options", "head", "patch"] as const;

/** Every operation of a document. `taken`: the names that tools of this box have already; those of these are added. */
export async function readOperations(document: Json, server: string, taken: Set<string>): Promise<OperationsRead> {
  const operations: Operation[] = [];
  const failures: { name: string; failure: Failure<"operation_unfit"> }[] = [];
  const renamed: { from: string; to: string }[] = [];
  let count = 0;
  for (const found of operationsIn(document)) {
    count += 1;
    if (count % sliceOperations === 0) await othersTurn();
    const written = nameOf(found);
    const isFull = operations.length >= operationsMax;
    const read = isFull ? unfit("too_many", { limit: operationsMax }) : readOperation(document, server, found);
    if (!read.ok) {
      failures.push({ name: written, failure: read.failure });
      continue;
    }
    const name = freeName(written, taken);
    if (name !== written) renamed.push({ from: written, to: name });
    operations.push({ ...read.value, name });
  }
  return { operations, failures, renamed };
}

/** Each takes a few milliseconds where everything refers to everything; then others have their turn. */
export const sliceOperations = 4;

export function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

type Found = { readonly method: Operation["method"]; readonly path: string; readonly item: Json; readonly own: Json };

function* operationsIn(document: Json): Generator<Found> {
  const paths = isJson(document.paths) ? document.paths : {};
  for (const [path, written] of Object.entries(paths)) {
    const item = follow(document, written);
    if (item === undefined) continue;
    for (const method of methods) {
      const own = Object.hasOwn(item, method) ? item[method] : undefined;
      if (own !== undefined) yield { method, path, item, own: isJson(own) ? own : {} };
    }
  }
}

function nameOf({ method, path, own }: Found): string {
  return cleanName(textOf(own.operationId)) || cleanName(`${method}_${path}`) || method;
}

function readOperation(
  document: Json,
  server: string,
  { method, path, item, own }: Found,
): Result<Omit<Operation, "name">, Failure<"operation_unfit">> {
  if (!path.startsWith("/") || /[?#\\]|\/\.{1,2}(\/|$)/.test(path)) return unfit("path", { said: shown(path) });
  if (!isSameServer(server, own.servers ?? item.servers)) return unfit("other_server");
  const read = readArguments(document, { path, shared: item.parameters, own });
  if (!read.ok) return read;
  const summary = textOf(own.summary ?? item.summary).slice(0, summaryMax);
  const description = textOf(own.description ?? item.description).slice(0, descriptionMax);
  return ok({ method, path, summary, description, ...read.value });
}
