import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Clock } from "../base/clock.ts";
import { type Metrics, noMetrics, noTracer, placeFrom, type Span, type Tracer } from "../observe/observe.ts";
import type { Env } from "./door.ts";

type Watched = {
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
};

/** Counts and traces each request, by the route of the table that it found: what a caller made up is nobody's label. */
export function watchRequests(parts: Watched): MiddlewareHandler<Env> {
  const { clock, metrics = noMetrics, tracer = noTracer } = parts;
  if (!metrics.isOn && !tracer.isOn) return (_, next) => next();
  return async (c, next) => {
    const began = clock.monotonic();
    const method = knownMethods.has(c.req.method) ? c.req.method : "OTHER";
    const parent = placeFrom(c.req.header("traceparent"), c.req.header("tracestate"));
    const span = tracer.start(method, { "http.request.method": method }, { kind: "server", parent: parent ?? null });
    await tracer.within(span.place, next);
    const { status } = c.res;
    const route = routeOf(routePath(c, -1), status);
    endSpan(span, { route, method, status });
    // What another server handed on is counted there, where its caller is.
    if (c.env?.passed !== undefined) return;
    metrics.answered({ route, method, status, ms: clock.monotonic() - began });
    if (c.res.headers.get("content-type")?.startsWith("text/event-stream") === true)
      c.env?.onEnd?.(metrics.streaming());
  };
}

const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** As in the route table, with braces in place of hono's own signs. */
function routeOf(path: string, status: number): string {
  if (path === "*" || path === "/*" || path === "") return status === 404 ? "none" : "other";
  return path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}");
}

function endSpan(span: Span, { route, method, status }: { route: string; method: string; status: number }): void {
  span.rename(`${method} ${route}`);
  span.set({ "http.route": route, "http.response.status_code": status });
  if (status >= 500) span.fail(String(status));
  span.end();
}
