import { createConnection, isIP, type Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { kindOf } from "./address.ts";
import type { Lookup } from "./lookup.ts";

type Wanted = {
  readonly host: string;
  readonly port: number;
  readonly isPrivateAllowed: boolean;
  readonly lookup: Lookup;
  readonly connectMsMax: number;
  readonly clock: Clock;
};

/** Looks a name up once and connects to what was found: a name that means something else a moment later changes nothing. */
export async function connectTo(wanted: Wanted): Promise<Socket | "private" | "never" | "unknown" | "unreachable"> {
  const { host, port, isPrivateAllowed, clock, connectMsMax } = wanted;
  const isLate = new AbortController();
  const addresses = isIP(host) === 0 ? await inTime(wanted, isLate.signal) : [host];
  isLate.abort();
  if (addresses.length === 0) return "unknown";
  const found = addresses.map((address) => ({ address, kind: kindOf(address) }));
  const fit = found.filter(({ kind }) => kind === "public" || (kind === "private" && isPrivateAllowed));
  if (fit.length === 0) return found.some(({ kind }) => kind === "private") ? "private" : "never";
  for (const { address } of fit.slice(0, triesMax)) {
    const socket = await connected(address, port, { clock, connectMsMax });
    if (socket !== undefined) return socket;
  }
  return "unreachable";
}

const triesMax = 3;

async function inTime({ host, lookup, clock, connectMsMax }: Wanted, done: AbortSignal): Promise<readonly string[]> {
  return Promise.race([lookup(host), clock.wait(connectMsMax, done).then(() => [])]);
}

function connected(
  address: string,
  port: number,
  { clock, connectMsMax }: Pick<Wanted, "clock" | "connectMsMax">,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port, allowHalfOpen: true, noDelay: true });
    const fail = () => {
      stopTimer();
      socket.destroy();
      resolve(undefined);
    };
    const stopTimer = clock.after(connectMsMax, fail);
    socket.once("error", fail);
    socket.once("connect", () => {
      stopTimer();
      socket.off("error", fail);
      // From here on its end tells it.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}
