import { createConnection, isIP, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { kindOf } from "./address.ts";
import type { Lookup } from "./lookup.ts";

/** Opens a connection to an address; undefined when nobody answers there in time. */
export type Connect = (address: string, port: number, limits: ConnectLimits) => Promise<Socket | undefined>;
export type ConnectLimits = {
  readonly clock: Clock;
  readonly connectMsMax: number;
  /** Hears the system's own word for why nobody answers. */
  readonly onFailed?: ((code: string) => void) | undefined;
  /** Nobody waits any longer. */
  readonly signal?: AbortSignal | undefined;
};

type Wanted = ConnectLimits & {
  readonly host: string;
  readonly port: number;
  readonly isPrivateAllowed: boolean;
  readonly lookup: Lookup;
  /** Addresses that are left out whatever else is allowed. */
  readonly isShut?: ((address: string) => boolean) | undefined;
};

/** Looks a name up once and connects to what was found: a name that means something else a moment later changes nothing. */
export async function connectTo({ isShut, ...wanted }: Wanted): Promise<Socket | Unfound | "shut" | "unreachable"> {
  const found = await findAddresses(wanted);
  if (typeof found === "string") return found;
  const open = isShut === undefined ? found : found.filter((address) => !isShut(address));
  if (open.length === 0) return "shut";
  return (await connectToAny(open, wanted.port, wanted)) ?? "unreachable";
}

/** Why a host has no address that may be reached. */
export type Unfound = "private" | "never" | "unknown";

/** The addresses of a host that may be reached, of all that it has. */
export async function findAddresses(wanted: Omit<Wanted, "port" | "isShut">): Promise<readonly string[] | Unfound> {
  const { isPrivateAllowed } = wanted;
  const addresses = await lookUp(wanted);
  if (addresses.length === 0) return "unknown";
  const found = addresses.map((address) => ({ address, kind: kindOf(address) }));
  const fit = found.filter(({ kind }) => kind === "public" || (kind === "private" && isPrivateAllowed));
  if (fit.length === 0) return found.some(({ kind }) => kind === "private") ? "private" : "never";
  return fit.map(({ address }) => address);
}

/** What a name stands for; nothing where nobody says it in time. */
export async function lookUp(wanted: ConnectLimits & Pick<Wanted, "host" | "lookup">): Promise<readonly string[]> {
  const { host, lookup, clock, connectMsMax, signal } = wanted;
  if (isIP(host) !== 0) return [host];
  const done = new AbortController();
  const over = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  const addresses = await Promise.race([lookup(host), clock.wait(connectMsMax, over).then(() => [])]);
  done.abort();
  return addresses;
}

const triesMax = 3;

/** To the first of them that answers. */
export async function connectToAny(
  addresses: readonly string[],
  port: number,
  { connect = connectByTcp, ...limits }: ConnectLimits & { readonly connect?: Connect | undefined },
): Promise<Socket | undefined> {
  const { signal } = limits;
  for (const address of addresses.slice(0, triesMax)) {
    if (signal?.aborted) return undefined;
    const socket = await connect(address, port, limits);
    if (socket !== undefined) return socket;
  }
  return undefined;
}

const connectByTcp: Connect = (address, port, { clock, connectMsMax, onFailed, signal }) =>
  new Promise((resolve) => {
    const socket = createConnection({ host: address, port, allowHalfOpen: true, noDelay: true });
    const fail = ({ code = "" }: NodeJS.ErrnoException) => {
      onFailed?.(code);
      stopTimer();
      signal?.removeEventListener("abort", stop);
      socket.destroy();
      resolve(undefined);
    };
    const stop = () => fail({ name: "", message: "", code: "ABORT_ERR" });
    const stopTimer = clock.after(connectMsMax, () => fail({ name: "", message: "", code: "ETIMEDOUT" }));
    signal?.addEventListener("abort", stop, { once: true });
    socket.once("error", fail);
    socket.once("connect", () => {
      stopTimer();
      signal?.removeEventListener("abort", stop);
      socket.off("error", fail);
      // From here on its end tells it.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
