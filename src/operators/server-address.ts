import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { isJson, type Json, shown, textOf } from "./document.ts";

type Unfit = Failure<"openapi_unfit">;

/** Where the calls of a box go: what its maker says, else the first server of the document with its defaults filled in. */
export function serverOf(given: string | undefined, document: Json | undefined): Result<string, Unfit> {
  const written = given ?? firstServer(document);
  if (written === undefined) return failure("openapi_unfit", { why: "no_server" });
  return usable(written);
}

/** An operation that names another host does not get the credential, nor the permission, of this box. */
export function isSameServer(server: string, own: unknown): boolean {
  if (!Array.isArray(own) || own.length === 0) return true;
  const written = firstServer({ servers: own });
  // A relative one is below the box's own.
  return (
    written === undefined ||
    (URL.canParse(written, server) && new URL(written, server).origin === new URL(server).origin)
  );
}

function firstServer(document: Json | undefined): string | undefined {
  const [first] = Array.isArray(document?.servers) ? document.servers : [];
  if (!isJson(first) || typeof first.url !== "string") return undefined;
  const variables = isJson(first.variables) ? first.variables : {};
  return first.url.replaceAll(/\{([^{}]+)\}/g, (all, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isJson(variable) ? variable.default : undefined;
    return typeof value === "string" || typeof value === "number" ? String(value) : all;
  });
}

function usable(written: string): Result<string, Unfit> {
  const text = written.trim();
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url === null || !isWeb || !isPlain || /[{}\s]/.test(text))
    return failure("openapi_unfit", { why: "server", said: withoutPassword(shown(textOf(written))) });
  return ok(url.href.replace(/\/+$/, ""));
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@]*@/, "//…@");
}
