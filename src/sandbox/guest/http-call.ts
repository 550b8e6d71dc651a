import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { parsedObject } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";

// How those are asked who start guests elsewhere: a Docker engine, a cluster, a sandbox host.

/**
 * `unreachable`: nobody is there, or not for us. `refused`: it answered that it will not. `broken_off`: it is gone, or says
 * what nobody understands. `late`: it did not answer in time.
 */
export type CallFault = {
  readonly why: "unreachable" | "refused" | "broken_off" | "late";
  /** Of its answer, where there was one; else 0. */
  readonly status: number;
  readonly said: string;
  /** How long it wants to be left alone. */
  readonly retryAfterMs?: number | undefined;
};

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Half of one, or a long one, is none; then with what is known of it. */
  readonly text: Result<string, string>;
};
/** A connection that changed its protocol. */
export type Upgraded = { readonly socket: Duplex; readonly headers: IncomingHttpHeaders };

export type Waiting = {
  readonly clock: Clock;
  /** Without an end, where it is null: what is waited for may take as long as it likes. */
  readonly timeoutMs: number | null;
  readonly bytesMax: number;
  /** Gives up, as if it were late. */
  readonly signal?: AbortSignal | undefined;
};

const saidCharactersMax = 1000;

export function callFault(why: CallFault["why"], said = "", status = 0): CallFault {
  return { why, status, said: said.slice(0, saidCharactersMax) };
}

/** One question as JSON, one answer. */
export function exchange(
  request: ClientRequest,
  question: string,
  waiting: Waiting,
): Promise<Result<Answer, CallFault>> {
  const { promise, finish } = settleCall<Answer>(request, waiting);
  request.once("response", (response) => {
    void readAnswer(response, waiting.bytesMax).then((answer) => finish(ok(answer)));
  });
  if (!request.destroyed) {
    request.setHeader("Content-Type", "application/json");
    request.setHeader("Content-Length", Buffer.byteLength(question));
    request.end(question);
  }
  return promise.finally(() => request.destroy());
}

/** An answer, where it was not done. */
export function changeProtocol(
  request: ClientRequest,
  waiting: Waiting,
): Promise<Result<Upgraded | Answer, CallFault>> {
  const { promise, finish } = settleCall<Upgraded | Answer>(request, waiting);
  request.once("upgrade", ({ headers }, socket, head) => {
    if (head.length > 0) socket.unshift(head);
    finish(ok({ socket, headers }));
  });
  request.once("response", (response) => {
    void readAnswer(response, waiting.bytesMax).then((answer) => {
      finish(ok(answer));
      request.destroy();
    });
  });
  request.end();
  return promise;
}

/** `finish` counts once; what is no success ends the request. */
export function settleCall<T>(request: ClientRequest, { clock, timeoutMs, signal }: Omit<Waiting, "bytesMax">) {
  const { promise, resolve } = Promise.withResolvers<Result<T, CallFault>>();
  let isOver = false;
  const finish = (result: Result<T, CallFault>) => {
    if (isOver) return; // A request is closed when its connection is handed over, too.
    isOver = true;
    stopTimer();
    signal?.removeEventListener("abort", giveUp);
    resolve(result);
    if (!result.ok) request.destroy();
  };
  const giveUp = () => finish(failed(callFault("late")));
  const stopTimer = timeoutMs === null ? () => {} : clock.after(timeoutMs, giveUp);
  signal?.addEventListener("abort", giveUp);
  let isAnswered = false;
  request.once("response", () => {
    isAnswered = true;
  });
  request.on("error", (error) => finish(failed(faultOf(error))));
  // The other end can also go without an error. Once it has begun to answer, whoever reads that notices.
  request.once("close", () => {
    if (!isAnswered) finish(failed(callFault("broken_off")));
  });
  if (signal?.aborted) giveUp();
  return { promise, finish, stopTimer };
}

function faultOf(error: Error): CallFault {
  const code = "code" in error ? String(error.code) : error.message;
  const isAway =
    ["ENOENT", "ECONNREFUSED", "EACCES", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code) ||
    // Of certificates: whoever answers is not believed.
    /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO|ERR_SSL/.test(code);
  return callFault(isAway ? "unreachable" : "broken_off", code);
}

function readAnswer(response: IncomingMessage, bytesMax: number): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Result<string, string>>();
  const pieces: Buffer[] = [];
  let bytes = 0;
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) resolve(failed("the answer is too long"));
  });
  for (const event of ["error", "close"]) response.once(event, () => resolve(failed("")));
  response.once("end", () => resolve(ok(Buffer.concat(pieces).toString("utf8"))));
  const { statusCode: status = 0, headers } = response;
  return promise.then((text) => ({ status, headers, text }));
}

// Of engines and clusters only a good answer counts; of another one both give the reason under the same name.

type GoodAnswer = { readonly headers: IncomingHttpHeaders; readonly text: string };

export async function callJson(
  request: ClientRequest,
  body: unknown,
  waiting: Waiting,
): Promise<Result<GoodAnswer, CallFault>> {
  const answered = await exchange(request, body === undefined ? "" : JSON.stringify(body), waiting);
  return answered.ok ? goodAnswer(answered.value) : answered;
}

export async function callUpgrade(request: ClientRequest, waiting: Waiting): Promise<Result<Upgraded, CallFault>> {
  const changed = await changeProtocol(request, waiting);
  if (!changed.ok) return changed;
  if ("socket" in changed.value) return ok(changed.value);
  const read = goodAnswer(changed.value);
  return read.ok ? failed(callFault("broken_off", "not attached")) : read;
}

function goodAnswer({ status, headers, text }: Answer): Result<GoodAnswer, CallFault> {
  if (!text.ok) return failed(callFault("broken_off", text.failure));
  if (status >= 200 && status < 300) return ok({ headers, text: text.value });
  const message = parsedObject(text.value)?.message;
  const seconds = Number(headers["retry-after"]);
  return failed({
    ...callFault("refused", typeof message === "string" ? message : text.value, status),
    ...(seconds >= 0 && { retryAfterMs: 1000 * seconds }),
  });
}
