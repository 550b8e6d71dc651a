import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { ModelAnswer } from "../provider.ts";
import type { BodyReader } from "./body.ts";
import { type BodyListener, type Cut, type Receiving, receiveBody } from "./receive.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

/** How long the orderly end of a body may take once the answer is complete; after that the connection is given up. */
const endGraceMs = 50;

/** `Answer`: what comes of a body, of most calls the answer of a model. */
export type Exchange<Answer = ModelAnswer> =
  | { readonly type: "answered"; readonly answer: Answer }
  | {
      readonly type: "refused";
      /** Any but a success. */
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
    }
  | { readonly type: "broken"; readonly why: string; readonly code: string; readonly isReused: boolean }
  | { readonly type: "aborted" };

export type ExchangeOptions<Answer = ModelAnswer> = {
  readonly start: () => ClientRequest;
  readonly openBody: (headers: IncomingHttpHeaders, watchdog: Watchdog) => BodyReader<Answer>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly firstDataTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly errorBytesMax: number;
};

/**
 * One request and what came back. When this settles nothing of it is left: no timer, no listener on the signal, and the
 * connection is either back in the pool or gone.
 */
export function exchange<Answer extends Fallible = ModelAnswer>(
  options: ExchangeOptions<Answer>,
): Promise<Exchange<Answer>> {
  if (options.signal.aborted) return Promise.resolve({ type: "aborted" });
  try {
    return converse(options.start(), options);
  } catch (error) {
    // A key or an address with characters that HTTP cannot carry is refused before anything is sent.
    if (!(error instanceof Error && "code" in error && /^ERR_(INVALID|UNESCAPED)_/.test(String(error.code))))
      throw error;
    const why = error.message;
    return Promise.resolve({ type: "broken", why, code: "unsendable", isReused: false });
  }
}

type Fallible = Pick<ModelAnswer, "error">;

function converse<Answer extends Fallible>(
  request: ClientRequest,
  options: ExchangeOptions<Answer>,
): Promise<Exchange<Answer>> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const watchdog = startWatchdog(options.clock, options, onStall);
    let receiving: Receiving | undefined;
    signal.addEventListener("abort", onAbort, { once: true });

    function cleanUp(keep: "connection" | "nothing"): void {
      watchdog.stop();
      receiving?.stop();
      signal.removeEventListener("abort", onAbort);
      if (keep === "nothing") request.destroy();
    }

    function settle(outcome: Exchange<Answer>, keep: "connection" | "nothing"): void {
      cleanUp(keep);
      resolve(outcome);
    }

    function onAbort(): void {
      settle({ type: "aborted" }, "nothing");
    }

    function onStall(): void {
      if (receiving !== undefined) receiving.cut({ because: "silent" });
      else settle({ type: "broken", why: "", code: "timeout", isReused: false }, "nothing");
    }

    /** What the listener throws is a bug of ours: the caller hears of it, and no connection stays behind. */
    function attempt(action: () => void): void {
      try {
        action();
      } catch (error) {
        cleanUp("nothing");
        reject(error);
      }
    }

    request.once("response", (response) => {
      const listener = listenerFor(response, options, watchdog, settle);
      receiving = receiveBody(response, {
        data: (bytes) => attempt(() => listener.data(bytes)),
        end: (cut) => attempt(() => listener.end(cut)),
      });
    });
    request.on("error", ({ message: why, code = "" }: NodeJS.ErrnoException) => {
      // Once there is a response, its own end tells the story.
      if (receiving === undefined) settle({ type: "broken", why, code, isReused: request.reusedSocket }, "nothing");
    });
  });
}

type Settle<Answer> = (outcome: Exchange<Answer>, keep: "connection" | "nothing") => void;

function listenerFor<Answer extends Fallible>(
  response: IncomingMessage,
  { openBody, errorBytesMax }: ExchangeOptions<Answer>,
  watchdog: Watchdog,
  settle: Settle<Answer>,
): BodyListener {
  const { statusCode: status = 0, headers } = response;
  if (status >= 200 && status < 300) return answerListener(openBody(headers, watchdog), watchdog, settle);
  watchdog.reset();
  return refusalListener(errorBytesMax, (body, keep) => settle({ type: "refused", status, headers, body }, keep));
}

function answerListener<Answer extends Fallible>(
  reader: BodyReader<Answer>,
  watchdog: Watchdog,
  settle: Settle<Answer>,
): BodyListener {
  let answer: Answer | undefined;
  return {
    data(bytes) {
      if (answer !== undefined) return;
      answer = reader.read(bytes);
      if (answer?.error !== undefined) settle({ type: "answered", answer }, "nothing");
      // Mostly the end is already on its way, and with it the connection can be used again.
      else if (answer !== undefined) watchdog.shorten(endGraceMs);
    },
    end(cut) {
      settle({ type: "answered", answer: answer ?? reader.end(cut) }, cut === undefined ? "connection" : "nothing");
    },
  };
}

function refusalListener(
  errorBytesMax: number,
  settle: (body: string, keep: "connection" | "nothing") => void,
): BodyListener {
  const pieces: Uint8Array[] = [];
  let bytesRead = 0;
  function end(cut?: Cut): void {
    const body = Buffer.concat(pieces).toString("utf8", 0, Math.min(bytesRead, errorBytesMax));
    settle(body, cut === undefined ? "connection" : "nothing");
  }
  return {
    data(bytes) {
      pieces.push(bytes);
      bytesRead += bytes.length;
      if (bytesRead >= errorBytesMax) end({ because: "too_long" });
    },
    end,
  };
}
