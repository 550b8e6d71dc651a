import { readFileSync } from "node:fs";
import { type ClientRequest, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Clock } from "../../base/clock.ts";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { hostInAddress } from "../../base/host.ts";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type CallFault, callFault, callJson, callUpgrade, settleCall, type Upgraded } from "../guest/http-call.ts";

/** Where the API server of a cluster is, and who we are there. Files are read again for each request: tokens are exchanged. */
export type ClusterAddress = {
  /** `https://kubernetes.default.svc`. */
  readonly server: string;
  readonly tokenFile: string;
  /** Whom to believe, PEM; undefined: whom Node believes. */
  readonly caFile: string | undefined;
};

/** The REST API of Kubernetes. Each call has a connection of its own. */
export type ClusterApi = {
  /** The value is what it answered, as JSON has it. */
  ask(method: Method, path: string, options?: AskOptions): Promise<Result<unknown, CallFault>>;
  /** Lines of JSON for as long as it sends some; resolves when there are no more, for whatever reason. */
  watch(path: string, take: (line: unknown) => void, signal: AbortSignal): Promise<void>;
  /** A connection that changed its protocol. */
  upgrade(path: string, headers: Readonly<Record<string, string>>): Promise<Result<Upgraded, CallFault>>;
  /** Address and port of who answered last. */
  peer(): string | undefined;
};

type Method = "GET" | "POST" | "DELETE";
type AskOptions = { readonly body?: unknown; readonly signal?: AbortSignal | undefined };

const limits = { timeoutMs: 30_000, bytesMax: 16 * 1024 * 1024 };
const lineCharactersMax = 4 * 1024 * 1024;

export function openApi({ address, clock }: { readonly address: ClusterAddress; readonly clock: Clock }): ClusterApi {
  let peer: string | undefined;
  const begin = (method: Method, path: string, headers: Headers = {}) => {
    const started = start(address, method, path, headers);
    if (started.ok)
      started.value.once("response", ({ socket: { remoteAddress = "", remotePort } }) => {
        peer = `${hostInAddress(remoteAddress.replace(/^::ffff:/, ""))}:${remotePort}`;
      });
    return started;
  };
  return {
    async ask(method, path, { body, signal } = {}) {
      const started = begin(method, path);
      if (!started.ok) return started;
      const answered = await callJson(started.value, body, { ...limits, clock, signal });
      return answered.ok ? ok(parsedJson(answered.value.text)) : answered;
    },
    async watch(path, take, signal) {
      const started = begin("GET", path);
      if (started.ok) await readLines(started.value, take, { clock, signal });
    },
    async upgrade(path, headers) {
      const started = begin("GET", path, headers);
      return started.ok ? callUpgrade(started.value, { ...limits, clock }) : started;
    },
    peer: () => peer,
  };
}

type Headers = Readonly<Record<string, string>>;

/** A failure where there is nothing to show to the server. */
function start(
  { server, tokenFile, caFile }: ClusterAddress,
  method: Method,
  path: string,
  headers: Headers,
): Result<ClientRequest, CallFault> {
  const shown = readShown(tokenFile, caFile);
  if (!shown.ok) return shown;
  const { token, ca } = shown.value;
  const options: RequestOptions = {
    ...{ method, agent: false },
    headers: { Accept: "application/json", Authorization: `Bearer ${token}`, ...headers },
  };
  const url = new URL(server.replace(/\/+$/, "") + path);
  if (url.protocol === "http:") return ok(requestPlain(url, options));
  return ok(requestSecure(url, { ...options, ...(ca !== undefined && { ca }) }));
}

function readShown(tokenFile: string, caFile: string | undefined): Result<{ token: string; ca?: Buffer }, CallFault> {
  const read = (path: string): Result<Buffer, CallFault> => {
    try {
      return ok(readFileSync(path));
    } catch (error) {
      return failed(callFault("unreachable", `${path}: ${systemCodeOrThrow(error)}`));
    }
  };
  const token = read(tokenFile);
  if (!token.ok) return token;
  const text = token.value.toString("utf8").trim();
  // Anything else is no token, and no header either.
  if (!/^[\x21-\x7e]+$/.test(text)) return failed(callFault("unreachable", `${tokenFile}: no token`));
  if (caFile === undefined) return ok({ token: text });
  const ca = read(caFile);
  return ca.ok ? ok({ token: text, ca: ca.value }) : ca;
}

async function readLines(
  request: ClientRequest,
  take: (line: unknown) => void,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { promise, finish, stopTimer } = settleCall(request, { ...limits, clock, signal });
  const stop = () => finish(failed(callFault("broken_off")));
  request.once("response", (response) => {
    stopTimer();
    if (response.statusCode !== 200) return stop();
    let rest = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") take(parsedJson(line));
      if (rest.length > lineCharactersMax) stop();
    });
    for (const event of ["error", "close"]) response.once(event, stop);
  });
  request.end();
  await promise;
}
