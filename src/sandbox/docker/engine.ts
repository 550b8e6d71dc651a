import { readFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { systemCode, systemCodeOrThrow, thrownText } from "../../base/fault.ts";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";

/** Where a Docker engine listens. `tlsDir`: the folder of what both ends show each other, as Docker names the files. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tlsDir?: string | undefined };

/**
 * `unreachable`: nobody is there, or not for us. `refused`: it answered that it will not. `broken_off`: it is gone, or says
 * what nobody understands. `late`: it did not answer in time.
 */
export type EngineFault = {
  readonly why: "unreachable" | "refused" | "broken_off" | "late";
  /** Of its answer, where there was one; else 0. */
  readonly status: number;
  readonly said: string;
};

/** A Docker engine over its HTTP API. Each call has a connection of its own. */
export type Engine = {
  /** The value is what it answered, as JSON has it; undefined where it answered nothing. */
  ask(method: Method, path: string, options?: AskOptions): Promise<Result<unknown, EngineFault>>;
  /** Standard input and output of a container that is not started yet, as the engine frames it. */
  attach(container: string): Promise<Result<Duplex, EngineFault>>;
};

type Method = "GET" | "POST" | "DELETE";
type AskOptions = {
  readonly body?: unknown;
  /** Without an end, where it is null: what is waited for may take as long as it likes. */
  readonly timeoutMs?: number | null;
  /** Gives up, as if it were late. */
  readonly signal?: AbortSignal | undefined;
};

const answerTimeoutMs = 30_000;
const answerBytesMax = 4 * 1024 * 1024;
const saidCharactersMax = 1000;

export function openEngine({ address, clock }: { readonly address: EngineAddress; readonly clock: Clock }): Engine {
  let version: string | undefined;
  const send = (method: Method, path: string, options: AskOptions) =>
    exchange({ address, clock, method, path }, options);
  /** Every engine knows its own version; older ones than ours, and those that have forgotten ours, are spoken to as well. */
  const prefix = async (signal?: AbortSignal): Promise<Result<string, EngineFault>> => {
    if (version !== undefined) return ok(version);
    const greeted = await send("GET", "/_ping", { signal });
    if (!greeted.ok) return greeted;
    const told = greeted.value.headers["api-version"];
    if (typeof told !== "string" || !/^\d+\.\d+$/.test(told)) return failed(fault("broken_off", "no Docker engine"));
    version = `/v${told}`;
    return ok(version);
  };
  /** After an engine was away it may be another one. */
  const forgetIfGone = (told: EngineFault) => {
    if (told.why !== "refused") version = undefined;
    return failed(told);
  };
  return {
    async ask(method, path, options = {}) {
      const known = await prefix(options.signal);
      if (!known.ok) return known;
      const answered = await send(method, known.value + path, options);
      return answered.ok ? ok(parsedJson(answered.value.text)) : forgetIfGone(answered.failure);
    },
    async attach(container) {
      const known = await prefix();
      if (!known.ok) return known;
      const path = `${known.value}/containers/${container}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
      const attached = await upgrade({ address, clock, method: "POST", path });
      return attached.ok ? attached : forgetIfGone(attached.failure);
    },
  };
}

function fault(why: EngineFault["why"], said: string, status = 0): EngineFault {
  return { why, status, said: said.slice(0, saidCharactersMax) };
}

type Call = { readonly address: EngineAddress; readonly clock: Clock; readonly method: Method; readonly path: string };
type Answer = { readonly headers: IncomingMessage["headers"]; readonly text: string };

/** A failure where there is nothing to show to the engine. */
function start(
  { address, method, path }: Call,
  headers: Record<string, string | number>,
): Result<ClientRequest, EngineFault> {
  const options: RequestOptions = { method, path, headers, agent: false };
  if ("socketPath" in address)
    return ok(requestPlain({ ...options, headers: { Host: "docker", ...headers }, socketPath: address.socketPath }));
  // Without a Host of ours: its certificate is compared with that name.
  const { host, port, tlsDir } = address;
  if (tlsDir === undefined) return ok(requestPlain({ ...options, host, port }));
  const shown = readShown(tlsDir);
  return shown.ok ? ok(requestSecure({ ...options, host, port, ...shown.value })) : shown;
}

function readShown(folder: string): Result<SecureContextOptions, EngineFault> {
  const names = ["ca.pem", "cert.pem", "key.pem"];
  const unusable = (why: string) => failed(fault("unreachable", `${names.join(", ")} in ${folder}: ${why}`));
  let files: Buffer[];
  try {
    files = names.map((name) => readFileSync(join(folder, name)));
  } catch (error) {
    return unusable(systemCodeOrThrow(error));
  }
  const [ca, cert, key] = files;
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    return unusable(thrownText(error));
  }
  return ok({ ca, cert, key });
}

function exchange(
  call: Call,
  { body, timeoutMs = answerTimeoutMs, signal }: AskOptions,
): Promise<Result<Answer, EngineFault>> {
  if (signal?.aborted) return Promise.resolve(failed(fault("late", "")));
  const sent = body === undefined ? "" : JSON.stringify(body);
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(sent) };
  const started = start(call, headers);
  if (!started.ok) return Promise.resolve(started);
  const request = started.value;
  const { promise, resolve } = Promise.withResolvers<Result<Answer, EngineFault>>();
  const giveUp = () => finish(failed(fault("late", "")));
  const stopTimer = timeoutMs === null ? () => {} : call.clock.after(timeoutMs, giveUp);
  signal?.addEventListener("abort", giveUp);
  const finish = (result: Result<Answer, EngineFault>) => {
    stopTimer();
    signal?.removeEventListener("abort", giveUp);
    resolve(result);
    request.destroy();
  };
  request.once("response", (response) => void readAnswer(response).then(finish));
  onBroken(request, (told) => finish(failed(told)));
  request.end(sent);
  return promise;
}

/** The other end can also go without an error. Once it has begun to answer, whoever reads that notices. */
function onBroken(request: ClientRequest, tell: (told: EngineFault) => void): void {
  let isAnswered = false;
  request.once("response", () => {
    isAnswered = true;
  });
  request.once("error", (error) => tell(faultOf(error)));
  request.once("close", () => {
    if (!isAnswered) tell(fault("broken_off", ""));
  });
}

/** Half an answer is none. */
function readAnswer(response: IncomingMessage): Promise<Result<Answer, EngineFault>> {
  const { promise, resolve } = Promise.withResolvers<Result<Answer, EngineFault>>();
  const pieces: Buffer[] = [];
  let bytes = 0;
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > answerBytesMax) resolve(failed(fault("broken_off", "the answer is too long")));
  });
  response.once("error", () => resolve(failed(fault("broken_off", ""))));
  response.once("close", () => resolve(failed(fault("broken_off", ""))));
  response.once("end", () => {
    const text = Buffer.concat(pieces).toString("utf8");
    const { statusCode = 0, headers } = response;
    const isGood = statusCode >= 200 && statusCode < 300;
    resolve(isGood ? ok({ headers, text }) : failed(fault("refused", reasonIn(text), statusCode)));
  });
  return promise;
}

function reasonIn(text: string): string {
  const told = parsedJson(text);
  const reason = typeof told === "object" && told !== null && "message" in told ? told.message : undefined;
  return typeof reason === "string" ? reason : text;
}

function faultOf(error: Error): EngineFault {
  const code = systemCode(error) ?? error.message;
  const isAway = ["ENOENT", "ECONNREFUSED", "EACCES", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
  return fault(isAway ? "unreachable" : "broken_off", code);
}

function upgrade(call: Call): Promise<Result<Duplex, EngineFault>> {
  const started = start(call, { Connection: "Upgrade", Upgrade: "tcp", "Content-Length": 0 });
  if (!started.ok) return Promise.resolve(started);
  const request = started.value;
  const { promise, resolve } = Promise.withResolvers<Result<Duplex, EngineFault>>();
  let isOver = false;
  const finish = (result: Result<Duplex, EngineFault>) => {
    if (isOver) return; // A request is closed when its connection is handed over, too.
    isOver = true;
    stopTimer();
    resolve(result);
    if (!result.ok) request.destroy();
  };
  const stopTimer = call.clock.after(answerTimeoutMs, () => finish(failed(fault("late", ""))));
  request.once("upgrade", (_, socket, head) => {
    if (head.length > 0) socket.unshift(head);
    finish(ok(socket));
  });
  request.once("response", (response) => {
    void readAnswer(response).then((read) => finish(read.ok ? failed(fault("broken_off", "not attached")) : read));
  });
  onBroken(request, (told) => finish(failed(told)));
  request.end();
  return promise;
}
