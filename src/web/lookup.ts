import { lookup } from "node:dns/promises";

/** The addresses of a name, as this machine knows them; none when it has none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** The system's own takes a thread for each name, and there are four for all that this process does with files. */
const atOnceMax = 2;
const addressesMax = 8;

/** By the system, so that names of `/etc/hosts` and of the local network count. */
export function createLookup(): Lookup {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (host) => {
    if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      const found = await lookup(host, { all: true, order: "ipv4first" });
      return found.slice(0, addressesMax).map(({ address }) => address);
    } catch {
      return []; // No such name, or nobody who could say.
    } finally {
      // Whoever waits takes over the place.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
