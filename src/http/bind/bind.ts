import type { z } from "zod";
import { type Gate, openGate, untilOver } from "../../base/gate.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, failure, makeFailure } from "../../protocol/failure.ts";
import { bodyBytesMaxOf, type Route } from "../../protocol/route.ts";
import { type RouteName, routes } from "../../protocol/routes.ts";
import { readBody } from "../body.ts";
import { type IncomingBytes, leaveBytes, noBytes, openBytes } from "../bytes.ts";
import { actsAsNamed, ownerOf } from "../caller.ts";
import {
  type App,
  type Caller,
  closingSignal,
  endSignal,
  goneSignal,
  type HttpCall,
  isLocal,
  leavingSignal,
} from "../door.ts";
import { sendDownload } from "../download.ts";
import type { Answer, Answered, Call, Handlers, Parts } from "../handler.ts";
import { descriptionPaths } from "../openapi.ts";
import { parsePart } from "../parse.ts";
import { refuse, thrownLine } from "../problem.ts";
import type { Tries } from "../tries.ts";
import { openDoOnce } from "./do-once.ts";
import { keyOf, type Responded, replayed, underKey } from "./under-key.ts";

/**
 * Answers of one user that are written as things happen; each holds a connection, of which there are 10,000 for all. A caller
 * that serves many people has one key. Where nobody signs in there are no others to leave room for.
 */
const streamsPerOwnerMax = 1_000;

/** Every row of the route table, bound to the handler of its name. */
export function bindRoutes(app: App, handlers: Handlers, parts: Behind): void {
  const { logger, tries, elsewhere } = parts;
  const binder = { app, handlers, tries, elsewhere, doOnce: openDoOnce(parts), gate: openGate(streamsPerOwnerMax) };
  for (const name of routeNames) {
    if (givesBytes(name))
      bind(binder, name, (c, file) =>
        sendDownload(c, file, (error) => logger?.(thrownLine(c.get("requestId"), "a download", error))),
      );
    else bind(binder, name, (c, answer, status = routes[name].status) => accept(c, status, answer));
  }
}

type Behind = Pick<Parts, "logger" | "storage" | "clock"> & {
  readonly tries: Tries;
  readonly elsewhere: Elsewhere | undefined;
};

/** Has a call served by the server where it belongs; else what is left of its body is taken from `bytes` here. */
export type Elsewhere = <N extends RouteName>(
  c: HttpCall,
  name: N,
  asked: Asked<N>,
) => Promise<Result<{ readonly response: Response } | Left, Failure>>;
type Left = {
  readonly bytes: IncomingBytes;
  readonly close: () => void;
  /** Fires when another server may have had what the call is about: who waits here might wait for ever, and comes again. */
  readonly doubted: AbortSignal | undefined;
};

const routeNames = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));

type DownloadName = { [N in RouteName]: (typeof routes)[N] extends { givesBytes: true } ? N : never }[RouteName];

function givesBytes(name: RouteName): name is DownloadName {
  return "givesBytes" in routes[name];
}

type Binder = {
  readonly app: App;
  readonly handlers: Handlers;
  readonly tries: Tries;
  readonly elsewhere: Elsewhere | undefined;
  readonly doOnce: ReturnType<typeof openDoOnce>;
  readonly gate: Gate;
};

function bind<N extends RouteName>(
  { app, handlers, tries, elsewhere, doOnce, gate }: Binder,
  name: N,
  send: (c: HttpCall, answer: Answer<N>, status?: Route["status"]) => Response | Promise<Response>,
): void {
  const route: Route = routes[name];
  const answerTo = async (c: HttpCall, call: Result<Call<N>, Failure>): Promise<Responded> => {
    const answer: Answered<N> = call.ok ? await handlers[name](call.value) : call;
    for (const [header, value] of Object.entries(answer.headers ?? {})) c.header(header, value);
    if (answer.ok) return { response: await send(c, answer.value, answer.status), answer };
    return { response: refuse(c, answer.failure, answer.beside), answer };
  };
  const respond = async (c: HttpCall, call: Result<Call<N>, Failure>): Promise<Responded> => {
    const isHeld = route.streams === true || route.mayStream === true;
    if (!call.ok || !isHeld || isLocal(c) || c.get("caller").signedIn === undefined) return answerTo(c, call);
    const leave = gate(call.value.owner);
    if (leave === undefined) return answerTo(c, failure("streams_full", { limit: streamsPerOwnerMax }));
    return inside(answerTo(c, call), leave);
  };
  const serve = async (c: HttpCall, asked: Result<Asked<N>, Failure>): Promise<Response> => {
    const key = route.creates === true && asked.ok ? keyOf(c.req.raw) : ok(undefined);
    if (!asked.ok || !key.ok || key.value === undefined) {
      const call = !asked.ok ? asked : key.ok ? ok(asked.value.call) : key;
      const { response } = await respond(c, call);
      if (takesBytes(route)) await leaveBytes(c.req.raw);
      return response;
    }
    const { call, json } = asked.value;
    const keyed = { key: key.value, request: c.req.raw, owner: call.owner, signal: call.signal, bytes: call.bytes };
    const done = await underKey(doOnce, { ...keyed, json: route.hasSecret === true ? null : json }, ({ once, bytes }) =>
      respond(c, ok({ ...call, once, bytes })),
    );
    if (takesBytes(route)) await leaveBytes(c.req.raw);
    if (!done.ok) return refuse(c, done.failure);
    return "response" in done.value ? done.value.response : replayed(c, done.value.before);
  };
  app.on(route.method, honoPath(route), async (c) => {
    const isCounted = route.isTry === true && !isLocal(c);
    const arrival = c.get("arrival");
    const tooMany = isCounted ? tries.from(arrival) : undefined;
    const asked = tooMany === undefined ? await readCall(c, name) : failed(tooMany);
    if (!asked.ok || elsewhere === undefined) return serve(c, asked);
    const place = await elsewhere(c, name, asked.value);
    if (!place.ok) return serve(c, place);
    if ("bytes" in place.value) {
      const { bytes, close, doubted } = place.value;
      const call = doubted === undefined ? asked.value.call : endingWith(doubted, asked.value.call);
      return serve(c, ok({ ...asked.value, call: { ...call, bytes } })).finally(close);
    }
    // It counts where it is served.
    if (isCounted) tries.worked(arrival);
    if (takesBytes(route)) await leaveBytes(c.req.raw);
    return place.value.response;
  });
}

/** Until the answer is there, or all of it where it comes as things happen. */
async function inside(answering: Promise<Responded>, leave: () => void): Promise<Responded> {
  const { response, answer } = await answering.catch((error: unknown) => {
    leave();
    throw error;
  });
  const isStream = answer.ok && answer.value instanceof ReadableStream;
  if (isStream && response.body !== null)
    return { response: new Response(untilOver(response.body, leave), response), answer };
  leave();
  return { response, answer };
}

/** As if the server closed. */
function endingWith<N extends RouteName>(end: AbortSignal, call: Call<N>): Call<N> {
  const { signal, closing } = call;
  return { ...call, signal: AbortSignal.any([signal, end]), closing: AbortSignal.any([closing, end]) };
}

function takesBytes(route: Route): boolean {
  return route.takesBytes === true || route.takesForm === true;
}

/** The table as a map from a route's name to what its schemas give, so that a handler's types follow from the name. */
const schemas: { readonly [N in RouteName]: { readonly [P in PartName]: z.ZodType<Call<N>[P]> } } = routes;
type PartName = "params" | "query" | "body";

/** `json`: the body before it was checked; `raw`: its bytes, unless they are still to come. */
export type Asked<N extends RouteName> = {
  readonly call: Call<N>;
  readonly json: unknown;
  readonly raw: Buffer | undefined;
};

async function readCall<N extends RouteName>(c: HttpCall, name: N): Promise<Result<Asked<N>, Failure>> {
  const { params: Params, query: Query, body: Body } = schemas[name];
  const route: Route = routes[name];
  const language = c.get("language");
  const caller = c.get("caller");
  const refused = refusalFor(route, caller);
  if (refused !== undefined) return refused;
  const actsAs = actsAsNamed(c.req.header("x-account-id"));
  if (!actsAs.ok) return actsAs;
  const owner = ownerOf(caller, actsAs.value);
  if (!owner.ok) return owner;
  const params = parsePart("path", Params, c.req.param(), language);
  if (!params.ok) return params;
  const query = parsePart("query", Query, c.req.query(), language);
  if (!query.ok) return query;
  const bytes = takesBytes(route) ? openBytes(c.req.raw, { isForm: route.takesForm === true }) : ok(noBytes);
  if (!bytes.ok) return bytes;
  const read = takesBytes(route) ? ok(unread) : await readBody(c.req.raw, bodyBytesMaxOf(route));
  if (!read.ok) return read;
  const { json, raw } = read.value;
  const body = parsePart("body", Body, json, language);
  if (!body.ok) return body;
  const gone = goneSignal(c);
  const call: Call<N> = {
    params: params.value,
    query: query.value,
    body: body.value,
    bytes: bytes.value,
    language,
    owner: owner.value,
    actsAs: actsAs.value,
    caller,
    arrival: c.get("arrival"),
    once: undefined,
    header: (header) => c.req.header(header),
    isLocal: isLocal(c),
    requestId: c.get("requestId"),
    lastEventId: c.req.header("last-event-id"),
    signal: endSignal(c, gone),
    gone,
    closing: closingSignal(c),
    leaving: leavingSignal(c),
  };
  return ok({ call, json, raw });
}

const unread = { json: {}, raw: undefined };

/** Nobody who has to be known is let in unknown, and a key opens only what it was made for. */
function refusalFor({ scope }: Route, { signedIn, scopes }: Caller) {
  if (scope === "open") return undefined;
  if (signedIn === undefined && scopes.length === 0) return failure("sign_in_required", {});
  return scope === "any" || scopes.includes(scope) ? undefined : failure("scope_missing", { scope });
}

function accept(c: HttpCall, status: Route["status"], answer: unknown): Response {
  if (answer instanceof ReadableStream) {
    // A proxy that gathers an answer before it sends it on would keep all of this one.
    const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no" };
    if (c.req.method !== "HEAD") return c.body(answer, 200, headers);
    void answer.cancel();
    return c.body(null, 200, headers);
  }
  if (status === 204) return c.body(null, 204);
  if (typeof answer === "string") return c.body(answer, status, { "content-type": plainText });
  return c.body(JSON.stringify(answer), status, { "content-type": "application/json" });
}

/** As Prometheus wants it; for everybody else it is plain text. */
const plainText = "text/plain; version=0.0.4; charset=utf-8";

/** A path that exists under other methods says which. Bound after all routes. */
export function refuseOtherMethods(app: App): void {
  const methodsOf = new Map<string, Set<string>>(descriptionPaths.map((path) => [path, new Set(["GET", "HEAD"])]));
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
