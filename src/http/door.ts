import type { Context, Hono } from "hono";
import type { Language } from "../words/words.ts";

/** How a request came in; `app.fetch` takes it as its second argument. Without one the strict rules of TCP hold. */
export type Door = {
  readonly door?: "tcp" | "socket" | "process";
  /** Fires when the server closes: streams end. */
  readonly closing?: AbortSignal;
  /** Ends the connection in the middle of an answer. */
  readonly breakOff?: () => void;
};

type Env = { Bindings: Door; Variables: { requestId: string; language: Language } };
export type App = Hono<Env>;
export type HttpCall = Context<Env>;

/** Came from this process or over the local socket: the same user on the same machine. */
export function isLocal(c: HttpCall): boolean {
  const { door } = doorOf(c);
  return door === "process" || door === "socket";
}

/** Fires when the caller is gone or the server closes. */
export function goneSignal(c: HttpCall): AbortSignal {
  const { closing } = doorOf(c);
  return closing === undefined ? c.req.raw.signal : AbortSignal.any([c.req.raw.signal, closing]);
}

/** Ends the connection at once, so that half an answer is not taken for a whole one. False: there is none. */
export function breakOff(c: HttpCall): boolean {
  const { breakOff: end } = doorOf(c);
  end?.();
  return end !== undefined;
}

/** hono's type does not say so, but without a second argument to `fetch` there is none. */
function doorOf(c: HttpCall): Door {
  const door: Door | undefined = c.env;
  return door ?? {};
}
