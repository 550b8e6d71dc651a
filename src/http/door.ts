import type { Context, Hono } from "hono";
import type { HomeKey } from "../homes/homes.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Dialect, Scope } from "../protocol/route.ts";
import type { Language } from "../words/words.ts";
import type { Arrival } from "./arrival.ts";

/** How a request came in; `app.fetch` takes it as its second argument. Without one the strict rules of TCP hold. */
export type Door = {
  readonly door?: "tcp" | "socket" | "process";
  /** The path below which a proxy serves us, as the settings say. */
  readonly basePath?: string | undefined;
  /** The address at the other end of the connection. */
  readonly address?: string | undefined;
  /** Fires when the server closes: streams end. */
  readonly closing?: AbortSignal;
  /** Fires some time before that: whoever sends requests here should send them elsewhere. */
  readonly leaving?: AbortSignal;
  /** Whoever calls is known: their body may take its time. */
  readonly giveTime?: (() => void) | undefined;
  /** Ends the connection in the middle of an answer. */
  readonly breakOff?: () => void;
  /** Calls back when all of the answer was sent, or the caller is gone. */
  readonly onEnd?: (listener: () => void) => void;
  /** This request is part of another one, whose caller was let in. */
  readonly admitted?: { readonly caller: Caller; readonly arrival: Arrival } | undefined;
  /** Another server handed it on: it goes no further. */
  readonly passed?: Passed | undefined;
};

/** What the server that a request came to tells of it to the one that it is handed on to. */
export type Passed = {
  /** What was taken to be at home there. */
  readonly key: HomeKey;
  readonly door?: Door["door"] | undefined;
  readonly caller: Omit<Caller, "taken">;
  readonly arrival: Arrival;
  /** Under what it counts, and how much of that is taken in a minute; absent where nothing is counted. */
  readonly counted?: Counted | undefined;
};

/** Whose calls are counted together, and how many of them are taken in a minute. */
export type Counted = { readonly who: string; readonly max: number };

/** A request as both sides see it: what the pass is good for. */
export type Passing = { readonly method: string; readonly path: string; readonly server: string };

/** Signs what one server tells another of a request that it hands on, and believes only what was signed. */
export type Passes = {
  /** Undefined where this installation has no key: then nobody could believe it. */
  sign(passed: Passed, to: Passing): string | undefined;
  /** Each is good once, for this request and this server, for a minute. */
  read(pass: string | null, at: Passing): Passed | undefined;
};

/** Who calls, as far as the door can tell. */
export type Caller = {
  /** Who is signed in, by key or cookie; undefined where nobody has to be: then the request names its user [S7]. */
  readonly signedIn: OwnerId | undefined;
  /** What this caller may do. */
  readonly scopes: readonly Scope[];
  /** How they showed who they are; undefined where nobody has to. */
  readonly by?: "key" | "cookie" | undefined;
  /** The hash of the cookie that they showed: the cookie itself goes no further than the server that lets them in. */
  readonly signIn?: string | undefined;
  /** Fires when their key or sign-in was taken away. */
  readonly taken?: AbortSignal | undefined;
};

export type Env = {
  Bindings: Door;
  Variables: {
    requestId: string;
    language: Language;
    dialect: Dialect;
    caller: Caller;
    arrival: Arrival;
    counted: Counted | undefined;
  };
};
export type App = Hono<Env>;
export type HttpCall = Context<Env>;

/** Has a request served by another server, where `key` is at home; undefined: that is this one. */
export type HandOn = (c: HttpCall, key: HomeKey, body: HandedBody) => Promise<Response | undefined>;

/** The body of a request: as it was read, or as it comes. */
export type HandedBody =
  | { readonly bytes: Uint8Array | undefined }
  | { readonly stream: AsyncIterable<Uint8Array>; readonly announced: number | undefined };

/** Came from this process or over the local socket: the same user on the same machine. */
export function isLocal(c: HttpCall): boolean {
  const { door } = doorOf(c);
  return door === "process" || door === "socket";
}

/** Fires when the caller is gone, or what let them in was taken away. */
export function goneSignal(c: HttpCall): AbortSignal {
  const { taken } = c.get("caller");
  const { signal } = c.req.raw;
  return taken === undefined ? signal : AbortSignal.any([signal, untilEnd(c, taken)]);
}

/** For as long as the answer takes: the signal is that of a key, and may keep for weeks what is made of it. */
function untilEnd(c: HttpCall, taken: AbortSignal): AbortSignal {
  const { onEnd } = doorOf(c);
  if (onEnd === undefined || taken.aborted) return taken;
  const own = new AbortController();
  const end = () => own.abort();
  taken.addEventListener("abort", end, { once: true });
  onEnd(() => taken.removeEventListener("abort", end));
  return own.signal;
}

/** Fires when the caller is gone or the server closes. */
export function endSignal(c: HttpCall, gone: AbortSignal): AbortSignal {
  const { closing } = doorOf(c);
  return closing === undefined ? gone : AbortSignal.any([gone, closing]);
}

/** Fires when the server is about to close, and still serves. */
export function leavingSignal(c: HttpCall): AbortSignal {
  return doorOf(c).leaving ?? closingSignal(c);
}

/** Fires when the server closes. */
export function closingSignal(c: HttpCall): AbortSignal {
  return doorOf(c).closing ?? never;
}

const never = new AbortController().signal;

/** Ends the connection at once, so that half an answer is not taken for a whole one. False: there is none. */
export function breakOff(c: HttpCall): boolean {
  const { breakOff: end } = doorOf(c);
  end?.();
  return end !== undefined;
}

/** hono's type does not say so, but without a second argument to `fetch` there is none. */
export function doorOf(c: HttpCall): Door {
  const door: Door | undefined = c.env;
  return door ?? {};
}
