import type { Context, Hono } from "hono";
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
  /** Whoever calls is known: their body may take its time. */
  readonly giveTime?: (() => void) | undefined;
  /** Ends the connection in the middle of an answer. */
  readonly breakOff?: () => void;
  /** Calls back when all of the answer was sent, or the caller is gone. */
  readonly onEnd?: (listener: () => void) => void;
  /** This request is part of another one, whose caller was let in. */
  readonly admitted?: { readonly caller: Caller; readonly arrival: Arrival } | undefined;
};

/** Who calls, as far as the door can tell. */
export type Caller = {
  /** Who is signed in, by key or cookie; undefined where nobody has to be: then the request names its user [S7]. */
  readonly signedIn: OwnerId | undefined;
  /** What this caller may do. */
  readonly scopes: readonly Scope[];
  /** How they showed who they are; undefined where nobody has to. */
  readonly by?: "key" | "cookie" | undefined;
  /** Fires when their key or sign-in was taken away. */
  readonly taken?: AbortSignal | undefined;
};

export type Env = {
  Bindings: Door;
  Variables: { requestId: string; language: Language; dialect: Dialect; caller: Caller; arrival: Arrival };
};
export type App = Hono<Env>;
export type HttpCall = Context<Env>;

/** Came from this process or over the local socket: the same user on the same machine. */
export function isLocal(c: HttpCall): boolean {
  const { door } = doorOf(c);
  return door === "process" || door === "socket";
}

/** Fires when the caller is gone, or what let them in was taken away. */
export function goneSignal(c: HttpCall): AbortSignal {
  const { taken } = c.get("caller");
  return taken === undefined ? c.req.raw.signal : AbortSignal.any([c.req.raw.signal, taken]);
}

/** Fires when the caller is gone or the server closes. */
export function endSignal(c: HttpCall, gone: AbortSignal): AbortSignal {
  const { closing } = doorOf(c);
  return closing === undefined ? gone : AbortSignal.any([gone, closing]);
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
