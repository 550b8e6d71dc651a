import type { HttpCall } from "./door.ts";

const preflightSeconds = 600;
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** What a page may read of an answer besides its body. */
const readable = [
  "x-request-id",
  "retry-after",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "idempotency-replayed",
  "location",
  "mcp-session-id",
  "content-disposition",
  "content-range",
  "etag",
  "upload-offset",
  "upload-length",
  "tus-resumable",
].join(", ");

/**
 * Lets the pages of named sites read our answers, with the user's cookie where the browser sends it; a site that is not
 * named is not told anything. Answers a preflight; undefined: the request goes on.
 */
export function shareWith(c: HttpCall, allowedOrigins: readonly string[]): Response | undefined {
  if (allowedOrigins.length === 0) return undefined;
  c.header("vary", "Origin");
  const origin = c.req.header("origin");
  if (origin === undefined || !allowedOrigins.includes(origin)) return undefined;
  c.header("access-control-allow-origin", origin);
  c.header("access-control-allow-credentials", "true");
  c.header("access-control-expose-headers", readable);
  if (c.req.method !== "OPTIONS" || c.req.header("access-control-request-method") === undefined) return undefined;
  const wanted = c.req.header("access-control-request-headers") ?? "";
  c.header("access-control-allow-methods", methods);
  if (/^[A-Za-z0-9!#$&'*+.^_|~, -]{1,2000}$/.test(wanted)) c.header("access-control-allow-headers", wanted);
  c.header("access-control-max-age", String(preflightSeconds));
  return c.body(null, 204);
}
