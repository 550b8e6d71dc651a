import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { limits } from "../protocol/routes.ts";

type Unreadable = Failure<"bad_json" | "body_too_large">;

/** The body as JSON; no body counts as an empty object. What is sent with GET and DELETE is not looked at. */
export async function readBody(request: Request): Promise<Result<unknown, Unreadable>> {
  if (request.method !== "POST" && request.method !== "PATCH") return ok({});
  const bytes = await readBytes(request);
  if (!bytes.ok) return bytes;
  if (bytes.value.length === 0) return ok({});
  // Only JSON is taken, also because a page of another site cannot send it without asking first.
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) return failure("bad_json", {});
  try {
    return ok(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.value)));
  } catch {
    return failure("bad_json", {});
  }
}

/** Counted while it comes in: a header may lie, and a chunked body has none. */
async function readBytes(request: Request): Promise<Result<Uint8Array, Unreadable>> {
  const tooLarge = failure("body_too_large", { limitBytes: limits.bodyBytesMax });
  if (Number(request.headers.get("content-length")) > limits.bodyBytesMax) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > limits.bodyBytesMax) return tooLarge;
      chunks.push(chunk);
    }
  } catch {
    // The caller broke off in the middle; nobody will read the answer.
    return failure("bad_json", {});
  }
  return ok(Buffer.concat(chunks));
}
