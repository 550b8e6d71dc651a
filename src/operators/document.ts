import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

export type Json = Readonly<Record<string, unknown>>;
/** Reads YAML elsewhere than in this thread; the failure is what the reader says of it. */
export type ReadYaml = (text: string) => Promise<Result<unknown, string>>;
type Unfit = Failure<"openapi_unfit">;

export const documentLimits = {
  bytesMax: 4 * 1024 * 1024,
  depthMax: 100,
  valuesMax: 400_000,
} as const;

/** An OpenAPI document of version 3.0 or 3.1, as JSON or YAML, or as a value that was read before. */
export async function readDocument(data: unknown, readYaml: ReadYaml): Promise<Result<Json, Unfit>> {
  const read = typeof data === "string" ? await readText(data, readYaml) : ok(data);
  if (!read.ok) return read;
  if (!isJson(read.value)) return failure("openapi_unfit", { why: "no_object" });
  const document = read.value;
  if (!isWithin(document)) return failure("openapi_unfit", { why: "too_large", limit: "values" });
  const { openapi, swagger } = document;
  if (swagger !== undefined) return failure("openapi_unfit", { why: "version", said: `Swagger ${shown(swagger)}` });
  if (typeof openapi !== "string") return failure("openapi_unfit", { why: "no_openapi" });
  return /^3\.[01](\.|$)/.test(openapi)
    ? ok(document)
    : failure("openapi_unfit", { why: "version", said: shown(openapi) });
}

async function readText(text: string, readYaml: ReadYaml): Promise<Result<unknown, Unfit>> {
  if (Buffer.byteLength(text) > documentLimits.bytesMax)
    return failure("openapi_unfit", { why: "too_large", limit: String(documentLimits.bytesMax) });
  const json = /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
  if (json !== undefined) return ok(json);
  const yaml = await readYaml(text);
  return yaml.ok ? yaml : failure("openapi_unfit", { why: "syntax", said: yaml.failure });
}

/** Without recursion: a document that is too deep for us must not be walked by what would break at it. */
function isWithin(document: unknown): boolean {
  const { depthMax, valuesMax } = documentLimits;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: document, depth: 0 }];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    count += 1;
    if (count > valuesMax || depth > depthMax) return false;
    if (typeof value !== "object" || value === null) continue;
    for (const inner of Object.values(value)) open.push({ value: inner, depth: depth + 1 });
  }
  return true;
}

/** A reference to a reference, and so on; whatever goes on after it is taken for a circle. */
const referencesMax = 16;

/** What stands at the end of a chain of local references; undefined where it leads nowhere, or elsewhere. */
export function follow(document: Json, value: unknown): Json | undefined {
  let found = value;
  for (let hops = 0; hops <= referencesMax; hops += 1) {
    if (!isJson(found)) return undefined;
    if (typeof found.$ref !== "string") return found;
    found = at(document, found.$ref);
  }
  return undefined;
}

/** `#/components/schemas/Pet` → what stands there. */
export function at(document: Json, reference: string): unknown {
  const steps = stepsOf(reference);
  if (steps === undefined) return undefined;
  return steps.reduce(
    (inside: unknown, step) => (isJson(inside) && Object.hasOwn(inside, step) ? inside[step] : undefined),
    document,
  );
}

export function stepsOf(reference: string): string[] | undefined {
  if (!reference.startsWith("#/")) return undefined;
  return reference
    .slice(2)
    .split("/")
    .map((step) => unescaped(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Lists are walked as objects, too. */
export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : "";
}

const shownMax = 60;

export function shown(value: unknown): string {
  return textOf(typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, shownMax);
}
