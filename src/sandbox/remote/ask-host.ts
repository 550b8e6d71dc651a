import { type ClientRequest, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { bareHost } from "../../base/host.ts";
import type { Ids } from "../../base/ids.ts";
import { parsedObject } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Answer, type CallFault, changeProtocol, exchange } from "../guest/http-call.ts";
import { signRequest } from "./signed.ts";
import { signedOver } from "./signed-stream.ts";
import { bodyBytesMax, paths, upgradeName } from "./wire.ts";

/** `refused`: nobody listens there. `secret`, `clock`: it does not believe us, or we do not believe it. */
export type HostFault = { readonly why: "refused" | "away" | "secret" | "clock" | "not_a_host"; readonly said: string };

export type HostDoor = {
  /** `https://host:9200`, perhaps with a path before ours. */
  readonly address: string;
  readonly secret: string;
  /** Whom to believe besides those whom Node believes, PEM. */
  readonly authorities: Buffer | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
};

type Signed = ReturnType<typeof signRequest>;

/** One question, one answer. */
export async function askHost(
  door: HostDoor,
  path: string,
  question: unknown,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Result<unknown, HostFault>> {
  const body = JSON.stringify(question);
  const { request, signed } = start(door, path, body);
  const answered = await exchange(request, body, { clock: door.clock, timeoutMs, signal, bytesMax: bodyBytesMax });
  return answered.ok ? read(answered.value, signed) : failed(faultOf(answered.failure));
}

/** The stream of a guest that nobody has asked for yet. */
export async function openStream(
  door: HostDoor,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<Result<Duplex, HostFault>> {
  const { request, signed } = start(door, paths.guest, "", { Connection: "Upgrade", Upgrade: upgradeName });
  const changed = await changeProtocol(request, { clock: door.clock, timeoutMs, bytesMax: bodyBytesMax });
  if (!changed.ok) return failed(faultOf(changed.failure));
  if (!("socket" in changed.value)) {
    const told = read(changed.value, signed);
    return failed(told.ok ? { why: "not_a_host", said: `${changed.value.status}` } : told.failure);
  }
  const { socket, headers } = changed.value;
  socket.on("error", () => {});
  if (signed.isProven(headers["x-agentyard-proof"], "")) return ok(signedOver(socket, signed.keys, "server"));
  socket.destroy();
  return failed({ why: "secret", said: "" });
}

function start(
  { address, secret, authorities, clock, ids }: HostDoor,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): { readonly request: ClientRequest; readonly signed: Signed } {
  const url = new URL(address);
  // What stands before our path is a proxy's own business: the host never sees it.
  const signed = signRequest(secret, { method: "POST", path, body }, { clock, ids });
  const options = {
    ...{ method: "POST", hostname: bareHost(url.hostname), port: url.port, agent: false },
    path: `${url.pathname.replace(/\/+$/, "")}${path}`,
    headers: { ...headers, Authorization: signed.authorization },
  };
  if (url.protocol === "http:") return { request: requestPlain(options), signed };
  return { request: requestSecure({ ...options, ...(authorities !== undefined && { ca: authorities }) }), signed };
}

function read({ status, headers, text }: Answer, signed: Signed): Result<unknown, HostFault> {
  const told = text.ok ? parsedObject(text.value) : undefined;
  if (status === 401 && told?.code === "wrong_clock") return failed({ why: "clock", said: "" });
  if (status === 401 && typeof told?.code === "string") return failed({ why: "secret", said: "" });
  const said = `HTTP ${status}`;
  if (!text.ok || !signed.isProven(headers["x-agentyard-proof"], text.value))
    return failed(status === 200 ? { why: "not_a_host", said: "" } : { why: "away", said });
  return told === undefined ? failed({ why: "away", said }) : ok(told);
}

function faultOf({ why, said }: CallFault): HostFault {
  if (why === "late") return { why: "away", said: "no answer in time" };
  return { why: said === "ECONNREFUSED" ? "refused" : "away", said };
}
