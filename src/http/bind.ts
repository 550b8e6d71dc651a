import type { z } from "zod";
import { ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Route } from "../protocol/route.ts";
import { type RouteName, routes } from "../protocol/routes.ts";
import { readBody } from "./body.ts";
import { leaveBytes, noBytes, openBytes } from "./bytes.ts";
import { accountNamed } from "./caller.ts";
import { type App, goneSignal, type HttpCall, isLocal } from "./door.ts";
import { sendDownload } from "./download.ts";
import type { Answer, Answered, Call, Handlers, Parts } from "./handler.ts";
import { descriptionPath } from "./openapi.ts";
import { parsePart } from "./parse.ts";
import { faultLine, refuse } from "./problem.ts";

/** Every row of the route table, bound to the handler of its name. */
export function bindRoutes(app: App, handlers: Handlers, logger: Parts["logger"]): void {
  for (const name of routeNames) {
    if (givesBytes(name))
      bind(app, name, handlers, (c, file) =>
        sendDownload(c, file, (error) => logger?.(faultLine(c.get("requestId"), "a download", error))),
      );
    else bind(app, name, handlers, (c, answer, status = routes[name].status) => accept(c, status, answer));
  }
}

const routeNames = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));

type DownloadName = { [N in RouteName]: (typeof routes)[N] extends { givesBytes: true } ? N : never }[RouteName];

function givesBytes(name: RouteName): name is DownloadName {
  return "givesBytes" in routes[name];
}

function bind<N extends RouteName>(
  app: App,
  name: N,
  handlers: Handlers,
  send: (c: HttpCall, answer: Answer<N>, status?: Route["status"]) => Response | Promise<Response>,
): void {
  const route: Route = routes[name];
  app.on(route.method, honoPath(route), async (c) => {
    const call = await readCall(c, name);
    const answer: Answered<N> = call.ok ? await handlers[name](call.value) : call;
    if (takesBytes(route)) await leaveBytes(c.req.raw);
    for (const [header, value] of Object.entries(answer.headers ?? {})) c.header(header, value);
    if (!answer.ok) return refuse(c, answer.failure, answer.beside);
    return send(c, answer.value, answer.status);
  });
}

function takesBytes(route: Route): boolean {
  return route.takesBytes === true || route.takesForm === true;
}

/** The table as a map from a route's name to what its schemas give, so that a handler's types follow from the name. */
const schemas: { readonly [N in RouteName]: { readonly [P in PartName]: z.ZodType<Call<N>[P]> } } = routes;
type PartName = "params" | "query" | "body";

async function readCall<N extends RouteName>(c: HttpCall, name: N): Promise<Result<Call<N>, Failure>> {
  const { params: Params, query: Query, body: Body } = schemas[name];
  const route: Route = routes[name];
  const language = c.get("language");
  const account = accountNamed(c.req.header("x-account-id"));
  if (!account.ok) return account;
  const params = parsePart("path", Params, c.req.param(), language);
  if (!params.ok) return params;
  const query = parsePart("query", Query, c.req.query(), language);
  if (!query.ok) return query;
  const bytes = takesBytes(route) ? openBytes(c.req.raw, { isForm: route.takesForm === true }) : ok(noBytes);
  if (!bytes.ok) return bytes;
  const json = takesBytes(route) ? ok({}) : await readBody(c.req.raw);
  if (!json.ok) return json;
  const body = parsePart("body", Body, json.value, language);
  if (!body.ok) return body;
  return ok({
    params: params.value,
    query: query.value,
    body: body.value,
    bytes: bytes.value,
    language,
    owner: account.value ?? localOwner,
    account: account.value,
    header: (name) => c.req.header(name),
    isLocal: isLocal(c),
    requestId: c.get("requestId"),
    lastEventId: c.req.header("last-event-id"),
    signal: goneSignal(c),
  });
}

function accept(c: HttpCall, status: Route["status"], answer: unknown): Response {
  if (answer instanceof ReadableStream) {
    const headers = { "content-type": "text/event-stream" };
    if (c.req.method !== "HEAD") return c.body(answer, 200, headers);
    void answer.cancel();
    return c.body(null, 200, headers);
  }
  if (status === 204) return c.body(null, 204);
  return c.body(JSON.stringify(answer), status, { "content-type": "application/json" });
}

/** A path that exists under other methods says which. Bound after all routes. */
export function refuseOtherMethods(app: App): void {
  const methodsOf = new Map<string, Set<string>>([[descriptionPath, new Set(["GET", "HEAD"])]]);
  for (const route of Object.values(routes)) {
    const { method } = route;
    const path = honoPath(route);
    const methods = methodsOf.get(path) ?? new Set();
    methodsOf.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  for (const [path, methods] of methodsOf)
    app.all(path, (c) => {
      const allowed = [...methods].join(", ");
      c.header("allow", allowed);
      return refuse(c, makeFailure("method_not_allowed", { method: c.req.method.slice(0, 20), allowed }));
    });
}

function honoPath({ path, patterns = {} }: Pick<Route, "path" | "patterns">): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const pattern = patterns[name];
    return pattern === undefined ? `:${name}` : `:${name}{${pattern}}`;
  });
}
