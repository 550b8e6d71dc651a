import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

type Unreadable = Failure<"bad_json" | "body_too_large" | "bad_request" | "request_unreadable">;

/** Deeper than anybody writes. Whoever walks through what has no bottom falls, and each part of a body has its walkers. */
const depthMax = 200;
/** To read so many takes part of a second, in which nobody else is served. A MiB of numbers is fewer. */
const valuesMax = 600_000;
/** So many members may all objects have: they take far longer than elements of lists. */
const namesMax = 150_000;

/** A body that was read: what it says, and as it came. */
export type ReadBody = { readonly json: unknown; readonly raw: Buffer };

/** The body as JSON; no body counts as an empty object. What is sent with GET and DELETE is not looked at. */
export async function readBody(request: Request, bytesMax: number): Promise<Result<ReadBody, Unreadable>> {
  if (!["POST", "PATCH", "PUT"].includes(request.method)) return ok({ json: {}, raw: Buffer.alloc(0) });
  const bytes = await readBytes(request, bytesMax);
  if (!bytes.ok) return bytes;
  const json = readJson(request, bytes.value);
  return json.ok ? ok({ json: json.value, raw: bytes.value }) : json;
}

function readJson(request: Request, bytes: Buffer): Result<unknown, Unreadable> {
  if (bytes.length === 0) return ok({});
  // Only JSON is taken, also because a page of another site cannot send it without asking first.
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) return failure("bad_json", {});
  const rule = ruleBroken(bytes);
  if (rule !== undefined) return failure("bad_request", { what: "body", rule });
  try {
    return ok(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return failure("bad_json", {});
  }
}

/** Counted while it comes in: a header may lie, and a chunked body has none. */
export async function readBytes(request: Request, bytesMax: number): Promise<Result<Buffer, Unreadable>> {
  const tooLarge = failure("body_too_large", { limitBytes: bytesMax });
  if (Number(request.headers.get("content-length")) > bytesMax) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > bytesMax) return tooLarge;
      chunks.push(chunk);
    }
  } catch {
    // Nobody will read the answer, but what is counted should say what it was.
    return failure("request_unreadable", { why: "broken_off" });
  }
  return ok(Buffer.concat(chunks));
}

/** Looked at before it is read: by then it would have cost what it costs. What stands in quotes counts as one value. */
function ruleBroken(json: Buffer): "depth" | "values" | undefined {
  let depth = 0;
  let values = 1;
  let names = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at);
    else if (byte === comma) values += 1;
    else if (byte === colon) names += 1;
    else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      values += 1;
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    if (depth > depthMax) return "depth";
    if (values > valuesMax || names > namesMax) return "values";
  }
  return undefined;
}

/** Where the closing quote stands. */
function endOfText(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}

const [quote, backslash, comma, colon, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\,:[]{}');
