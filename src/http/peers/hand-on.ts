import type { Clock } from "../../base/clock.ts";
import type { Home, HomeKey, Homes } from "../../homes/homes.ts";
import type { Tracer } from "../../observe/observe.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { waysIn } from "../cookie.ts";
import {
  breakOff,
  closingSignal,
  doorOf,
  goneSignal,
  type HandedBody,
  type HandOn,
  type HttpCall,
  type Passed,
  type Passes,
} from "../door.ts";
import { refuse } from "../problem.ts";
import type { Rate } from "../rate.ts";
import { passHeader } from "./pass.ts";
import { pathOf } from "./peer-door.ts";
import { peerHeader, peerWordIn } from "./peer-words.ts";
import { openSending, type Sending, type Sent } from "./send.ts";

export type HandingOn = {
  readonly homes: Homes;
  readonly passes: Passes;
  readonly rate: Rate;
  readonly clock: Clock;
  readonly tracer?: Pick<Tracer, "current"> | undefined;
  readonly logger?: ((line: string) => void) | undefined;
};

type Parts = HandingOn & { readonly sending: Sending };
type There = Extract<Home, { readonly isHere: false }>;
type Handed = { readonly key: HomeKey; readonly body: HandedBody; readonly home: There };

/** So often it is asked anew about a server that says it is not the home. */
const movesMax = 2;
/** A little longer than it takes until a server that died is known to have: by then another one has what it had. */
const awayMsMax = 5_000;
/** One that says "not now" lives: it opens in a moment, or ends once its turns are where others can take them. */
const notNowMsMax = 20_000;
/** The second time, and longer each time after that: many wait for one that ends, and it has to end besides. */
const lookAgainMs = 200;
const lookAgainMsMax = 2_000;
const retryAfterSeconds = 3;
/** Whoever takes away what let them in, by signing out or with their last key, is told that it is done. */
const lastWordMs = 2_000;

/** Has a request served where it belongs: here, or by the server in which its conversation or its user is at home. */
export function openHandOn(options: HandingOn): HandOn {
  const { homes } = options;
  const sending = openSending(options.clock);
  const parts = { ...options, sending };
  homes.onGone(sending.giveUp);
  return async (c, key, body) => {
    const home = await homes.homeOf(key);
    if (home.isHere) return undefined;
    // Whoever sent it asks anew: two that take each other for the home would never come to an end.
    if (doorOf(c).passed !== undefined)
      return new Response(null, { status: 421, headers: { [peerHeader]: "elsewhere" } });
    return handOn(parts, c, { key, body, home });
  };
}

/** Undefined: it is at home here by now. */
async function handOn(parts: Parts, c: HttpCall, { key, body, home: first }: Handed): Promise<Response | undefined> {
  const { homes, clock, logger } = parts;
  const startedAt = clock.monotonic();
  const gone = goneSoon(c, clock);
  let home: Home = first;
  let pauseMs = lookAgainMs;
  for (let moves = 0; !home.isHere; home = await homes.homeOf(key)) {
    const sent = await sendTo(parts, c, { key, body, home, gone });
    const word = "answer" in sent ? peerWordIn(sent.answer.headers) : undefined;
    if ("answer" in sent && word === undefined) return answered(parts, c, sent.answer);
    // What nobody reads would hold its connection.
    if ("answer" in sent) await sent.answer.body?.cancel();
    if (word === "refused") logger?.(refusedLine(home));
    homes.doubt(home.server);
    if (word === "elsewhere") moves += 1;
    else await clock.wait(pauseMs, gone);
    if (word === "not now") pauseMs = Math.min(2 * pauseMs, lookAgainMsMax);
    const waitedMs = clock.monotonic() - startedAt;
    const isOver = gone.aborted || moves > movesMax || waitedMs > (word === "not now" ? notNowMsMax : awayMsMax);
    if (isOver || word === "refused" || !isRepeatable(c, body, sent))
      return refuse(c, makeFailure("home_away", { retryAfterSeconds }));
  }
  return undefined;
}

/** When the caller is gone, or a moment after what let them in was taken away: that may be what this request does. */
function goneSoon(c: HttpCall, clock: Clock): AbortSignal {
  const { taken } = c.get("caller");
  const { signal, method } = c.req.raw;
  if (taken === undefined || method === "GET" || method === "HEAD") return goneSignal(c);
  const late = new AbortController();
  const soon = () => void clock.after(lastWordMs, () => late.abort());
  // It may have been taken while the body came.
  if (taken.aborted) soon();
  else taken.addEventListener("abort", soon, { once: true });
  // The signal is that of a key, and lives longer than this request.
  doorOf(c).onEnd?.(() => taken.removeEventListener("abort", soon));
  return AbortSignal.any([signal, late.signal]);
}

function refusedLine({ server, address }: There): string {
  return `server ${server} at ${address} does not take what this one hands on: AGENTYARD_KEY or the clocks differ`;
}

/** Whether it does no harm to send it again: it was not served, or doing it twice is as good as once. */
function isRepeatable(c: HttpCall, body: HandedBody, sent: Sent): boolean {
  if ("stream" in body) return false;
  if ("answer" in sent || !sent.unreached.wasSent) return true;
  const { method, headers } = c.req.raw;
  return ["GET", "HEAD", "OPTIONS", "PUT"].includes(method) || headers.has("idempotency-key");
}

async function sendTo(
  { passes, sending, tracer }: Parts,
  c: HttpCall,
  handed: Handed & { readonly gone: AbortSignal },
): Promise<Sent> {
  const { key, body, home, gone } = handed;
  const { method } = c.req.raw;
  const path = pathOf(c.req.raw);
  const pass = passes.sign(passedOf(c, key), { method, path, server: home.server });
  if (pass === undefined) return { unreached: { wasSent: false } };
  return sending.send({
    ...{ to: home, method, path, body: "bytes" in body ? body.bytes : body.stream },
    headers: { ...headersOf(c, body), ...traceHeader(tracer), [passHeader]: pass },
    ...{ gone, closing: closingSignal(c), breakOff: () => breakOff(c) },
  });
}

function passedOf(c: HttpCall, key: HomeKey): Passed {
  const { door } = doorOf(c);
  return { key, door, caller: c.get("caller"), arrival: c.get("arrival"), counted: c.get("counted") };
}

/** What is about the connection to the caller; and the key or cookie by which it was seen who they are, which the pass says. */
const ownHeaders = new Set([
  ...["connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect", "content-length"],
  ...["proxy-authorization", "proxy-connection", "authorization", "x-api-key", "cookie", passHeader],
]);

function headersOf(c: HttpCall, body: HandedBody): Record<string, string> {
  const kept = [...c.req.raw.headers].filter(([name]) => !ownHeaders.has(name));
  const way = waysIn(c.req.header("cookie"));
  const length = "bytes" in body ? body.bytes?.length : body.announced;
  return {
    ...Object.fromEntries(kept),
    ...(way !== "" && { cookie: way }),
    "x-request-id": c.get("requestId"),
    ...(length !== undefined && { "content-length": String(length) }),
  };
}

/** What the other server does for it stands below our own span. */
function traceHeader(tracer: Parts["tracer"]): Record<string, string> {
  const place = tracer?.current();
  if (place === undefined) return {};
  const flags = place.flags.toString(16).padStart(2, "0");
  return { traceparent: `00-${place.traceId}-${place.spanId}-${flags}` };
}

/** As it came, with what this door says of every answer. */
function answered({ rate }: Parts, c: HttpCall, answer: Response): Response {
  const counted = c.get("counted");
  if (counted !== undefined) rate.giveBack(counted);
  const headers = c.newResponse(null).headers;
  const cookies = answer.headers.getSetCookie();
  for (const [name, value] of answer.headers) if (name !== "set-cookie") headers.set(name, value);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(answer.body, { status: answer.status, headers });
}
