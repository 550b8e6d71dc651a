import { type Failure, makeFailure } from "../protocol/failure.ts";
import { scopes } from "../protocol/route.ts";
import type { Users } from "../users/users.ts";
import { type Arrival, networkOf, openArrivals } from "./arrival.ts";
import { readCookies, signedInCookie, signInCookie } from "./cookie.ts";
import { shareWith } from "./cors.ts";
import { type Caller, type Counted, doorOf, type HttpCall, isLocal } from "./door.ts";
import { openPaths } from "./open-paths.ts";
import { isNavigation, isOurHost, pageOf, wantsPage } from "./origin.ts";
import { refuse } from "./problem.ts";
import type { Rate } from "./rate.ts";
import type { ServerSettings } from "./settings.ts";

/** On a machine of one user a limit only stops a program that runs wild. */
const timesOnLoopback = 100;

type Keeper = { readonly users: Users; readonly server: () => ServerSettings; readonly rate: Rate };

/** Who somebody is, and under what their calls are counted. */
type Known = { readonly caller: Caller; readonly counted: string; readonly cookie?: string | undefined };

/** Decides for each request, before any route, who calls and whether they come in; an answer is a refusal. */
export function openAdmission({ users, server, rate }: Keeper): (c: HttpCall) => Promise<Response | undefined> {
  const arrivalOf = arrivals(server);
  return async (c) => {
    const { admitted, passed } = doorOf(c);
    const before = admitted ?? passed;
    if (before !== undefined) {
      c.set("arrival", before.arrival);
      c.set("caller", before.caller);
      // The request that this one is a part of may have begun long ago.
      if (admitted?.caller.taken?.aborted) return refuse(c, makeFailure("sign_in_required", { key: "unknown" }));
      return passed?.counted && count(c, rate, passed.counted);
    }
    const arrival = arrivalOf(c);
    c.set("arrival", arrival);
    c.set("caller", everybody);
    if (isLocal(c)) return undefined;
    const settings = server();
    const preflight = shareWith(c, settings.allowedOrigins);
    if (preflight !== undefined) return preflight;
    const usersExist = await users.exist();
    const known = usersExist ? await identify(c, users, settings) : undefined;
    const isAlone = !usersExist && arrival.isFromHere;
    const isVeiled = !usersExist && arrival.isVeiled;
    const counted = known?.counted ?? `address ${networkOf(arrival.address)}`;
    const tooMany = count(c, rate, {
      ...{ who: counted, max: settings.requestsPerMinuteMax * (isAlone ? timesOnLoopback : 1) },
    });
    if (tooMany !== undefined) return tooMany;
    const caller = known?.caller ?? (isAlone ? everybody : nobody);
    c.set("caller", caller);
    if (caller !== nobody) doorOf(c).giveTime?.();
    const forged = forgery(c.req.raw, arrival, { settings, usersExist, by: caller.by });
    if (forged !== undefined) return refuse(c, forged);
    if (known?.cookie !== undefined) c.header("set-cookie", known.cookie);
    if (caller !== nobody || openPaths.has(c.req.path)) return undefined;
    return isVeiled ? refuse(c, makeFailure("proxy_unnamed", {})) : askToSignIn(c, arrival);
  };
}

/** One more of theirs; an answer is a refusal. Whoever hands the request on takes it back: it counts where it is served. */
function count(c: HttpCall, rate: Rate, counted: Counted): Response | undefined {
  const { headers, refusal } = rate.count(counted.who, counted.max, counted);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  c.set("counted", counted);
  return refusal && refuse(c, refusal);
}

/** The settings may change while we run; the lists made of them are kept as long as they do not. */
function arrivals(server: () => ServerSettings): (c: HttpCall) => Arrival {
  let proxies: readonly string[] | undefined;
  let read = openArrivals([]);
  return (c) => {
    const { trustedProxies } = server();
    if (proxies !== trustedProxies) read = openArrivals(trustedProxies);
    proxies = trustedProxies;
    return read(c.req.raw, doorOf(c));
  };
}

/** Where nobody has to sign in. */
const everybody: Caller = { signedIn: undefined, scopes };
const nobody: Caller = { signedIn: undefined, scopes: [] };

/** By key where one is sent, and only then: a key that is wrong is not made good by a cookie. */
async function identify(c: HttpCall, users: Users, { signInLastsMs }: ServerSettings): Promise<Known | undefined> {
  const key = keySent(c.req.raw);
  if (key !== undefined) {
    const known = await users.byKey(key);
    if (known === undefined) return undefined;
    return {
      caller: { signedIn: known.id, scopes: known.scopes, by: "key", taken: known.taken },
      counted: `user ${known.id}`,
    };
  }
  const arrival = c.get("arrival");
  for (const token of readCookies(c.req.header("cookie"), signInCookie(arrival))) {
    const known = await users.byCookie(token);
    if (known === undefined) continue;
    return {
      caller: { signedIn: known.id, scopes: known.scopes, by: "cookie", signIn: known.hash, taken: known.taken },
      counted: `user ${known.id}`,
      cookie: known.renewed ? signedInCookie(arrival, { token, lastsMs: signInLastsMs }) : undefined,
    };
  }
  return undefined;
}

function keySent({ headers }: Request): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return bearer ?? headers.get("x-api-key") ?? undefined;
}

type Rules = { readonly settings: ServerSettings; readonly usersExist: boolean; readonly by: Caller["by"] };

/** Whether another site stands behind a request. Who sends a key is no browser that was talked into it. */
function forgery(request: Request, arrival: Arrival, { settings, usersExist, by }: Rules): Failure | undefined {
  if (by === "key") return undefined;
  if (!isOurHost(arrival, settings, usersExist)) return makeFailure("forbidden_origin", { host: nameIn(arrival) });
  const page = pageOf(request, arrival, settings.allowedOrigins);
  const isLink = isNavigation(request) && (usersExist || isComingBack(request));
  const isForeign = page === "other" && !isLink;
  if (by !== "cookie") return isForeign ? makeFailure("forbidden_origin", {}) : undefined;
  const changes = !["GET", "HEAD", "OPTIONS"].includes(request.method);
  // Every browser names its page with what changes something; who has the cookie and does not is none.
  return isForeign || (changes && page === "none") ? makeFailure("page_forged", {}) : undefined;
}

/**
 * The sign-in service sends the first person of all to us as well, before there is any user; and so does that of an MCP
 * server, with a state that nobody else knows.
 */
function isComingBack({ url }: Request): boolean {
  return /^(\/sign-in(\/|$)|\/api\/v1\/mcp\/callback$)/.test(new URL(url).pathname);
}

const hostCharactersShown = 100;

/** Without the port, as the settings want it. */
function nameIn({ host }: Arrival): string {
  return host.replace(/:\d*$/, "").slice(0, hostCharactersShown);
}

/** A person is shown where; other software is told how. */
function askToSignIn(c: HttpCall, { prefix }: Arrival): Response {
  const { pathname, search } = new URL(c.req.url);
  if (wantsPage(c.req.raw))
    return c.redirect(`${prefix}/sign-in?next=${encodeURIComponent(`${prefix}${pathname}${search}`)}`, 303);
  const wasSent = keySent(c.req.raw) !== undefined;
  c.header("www-authenticate", `Bearer realm="AgentYard"${wasSent ? ', error="invalid_token"' : ""}`);
  const page = `${prefix}/sign-in`;
  return refuse(c, makeFailure("sign_in_required", wasSent ? { key: "unknown", page } : { page }));
}
