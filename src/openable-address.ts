import { networkInterfaces } from "node:os";
import { hostInAddress } from "./base/host.ts";

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * An address that a browser can open, where the server listens on all of them: `http://0.0.0.0:7420` is nobody's. In
 * numbers, for a name would have to be one of `server.trusted_hosts`.
 */
export function openableAddress(address: string, interfaces: Interfaces = networkInterfaces()): string {
  if (!isEverywhere(address)) return address;
  const all = Object.values(interfaces).flatMap((one) => one ?? []);
  const outside = all.filter(({ internal, address: own }) => !internal && !isLinkLocal.test(own));
  const found = outside.find(({ family }) => family === "IPv4") ?? (address.includes("[::]") ? outside[0] : undefined);
  const host = hostInAddress(found?.address ?? "127.0.0.1");
  return address.replace(everywhere, `//${host}`);
}

/** Whether a server listens on every address of this machine. */
export function isEverywhere(address: string): boolean {
  return everywhere.test(address);
}

const everywhere = /\/\/(?:0\.0\.0\.0|\[::\])(?=:|\/|$)/;
const isLinkLocal = /^(?:169\.254\.|fe[89ab])/i;
