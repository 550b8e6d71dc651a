import { type ClientRequest, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type CallFault, callFault, callJson, callUpgrade, type Waiting } from "../guest/http-call.ts";
import { readPem } from "../guest/pem.ts";

/** Where a Docker engine listens. `tlsDir`: the folder of what both ends show each other, as Docker names the files. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tlsDir?: string | undefined };

/** A Docker engine over its HTTP API. Each call has a connection of its own. */
export type DockerEngine = {
  /** The value is what it answered, as JSON has it; undefined where it answered nothing. */
  ask(method: Method, path: string, options?: AskOptions): Promise<Result<unknown, CallFault>>;
  /** Standard input and output of a container that is not started yet, as the engine frames it. */
  attach(container: string): Promise<Result<Duplex, CallFault>>;
};

type Method = "GET" | "POST" | "DELETE";
type AskOptions = { readonly body?: unknown } & Partial<Pick<Waiting, "timeoutMs" | "signal">>;

const limits = { timeoutMs: 30_000, bytesMax: 4 * 1024 * 1024 };

export function openDockerEngine({
  address,
  clock,
}: {
  readonly address: EngineAddress;
  readonly clock: Clock;
}): DockerEngine {
  let version: string | undefined;
  const send = async (method: Method, path: string, { body, ...waiting }: AskOptions) => {
    const started = start(address, method, path);
    return started.ok ? callJson(started.value, body, { ...limits, ...waiting, clock }) : started;
  };
  /** Every engine knows its own version; older ones than ours, and those that have forgotten ours, are spoken to as well. */
  const prefix = async (signal?: AbortSignal): Promise<Result<string, CallFault>> => {
    if (version !== undefined) return ok(version);
    const greeted = await send("GET", "/_ping", { signal });
    if (!greeted.ok) return greeted;
    const told = greeted.value.headers["api-version"];
    if (typeof told !== "string" || !/^\d+\.\d+$/.test(told))
      return failed(callFault("broken_off", "no Docker engine"));
    version = `/v${told}`;
    return ok(version);
  };
  /** After an engine was away it may be another one. */
  const forgetIfGone = (told: CallFault) => {
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
      const started = start(address, "POST", path, { Connection: "Upgrade", Upgrade: "tcp", "Content-Length": "0" });
      if (!started.ok) return started;
      const attached = await callUpgrade(started.value, { ...limits, clock });
      return attached.ok ? ok(attached.value.socket) : forgetIfGone(attached.failure);
    },
  };
}

/** A failure where there is nothing to show to the engine. */
function start(
  address: EngineAddress,
  method: Method,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Result<ClientRequest, CallFault> {
  const options: RequestOptions = { method, path, headers, agent: false };
  if ("socketPath" in address)
    return ok(requestPlain({ ...options, headers: { Host: "docker", ...headers }, socketPath: address.socketPath }));
  // Without a Host of ours: its certificate is compared with that name.
  const { host, port, tlsDir } = address;
  if (tlsDir === undefined) return ok(requestPlain({ ...options, host, port }));
  const shown = readPem(tlsDir, { hasAuthority: true });
  if (shown.ok) return ok(requestSecure({ ...options, host, port, ...shown.value }));
  return failed(callFault("unreachable", `ca.pem, cert.pem, key.pem in ${tlsDir}: ${shown.failure}`));
}
