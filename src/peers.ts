import { buryPredecessor } from "./agreement.ts";
import type { Clock } from "./base/clock.ts";
import { bareHost, hostInAddress } from "./base/host.ts";
import type { Ids } from "./base/ids.ts";
import { ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { type Homes, homesHere, openHomes } from "./homes/homes.ts";
import { type App, openPeerDoor } from "./http/http.ts";
import type { Logger } from "./observe/observe.ts";
import { isEverywhere } from "./openable-address.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import type { Storage } from "./storage/storage.ts";
import type { Yard } from "./yard.ts";

/** The other servers on the same data: where they reach this one, and which of them has what. */
export type Peers = {
  /** Closed by the yard that gets it. */
  readonly homes: Homes;
  /** At which others reach this one. */
  readonly ports: readonly number[];
  /** From now on what others hand on is served. */
  serve(yard: Pick<Yard, "passes"> & { readonly app: Pick<App, "fetch"> }): void;
  /** Takes nothing more from others, and says so to whoever asks. */
  leave(): Promise<void>;
  /** Once the homes are let go of: until then others may come. */
  close(): Promise<void>;
};

type Parts = {
  readonly config: Pick<Config, "paths" | "storage">;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

const alone: Peers = { homes: homesHere, ports: [], serve() {}, leave: async () => {}, close: async () => {} };

/** Where each server has its data to itself there are none. */
export async function openPeers({ config, storage, clock, ids, logger }: Parts): Promise<Result<Peers, Failure>> {
  const { database } = config.storage;
  if (database === undefined) return ok(alone);
  const seenAt = (await storage.addressSeen()) ?? loopback;
  const { host, port } = placeOf(database.peerAddress ?? `${hostInAddress(seenAt)}:0`);
  const door = await openPeerDoor({ host, port }, clock);
  if (!door.ok) {
    const { reason: why, said } = door.failure;
    return failure("address_unusable", { host, port, why, said });
  }
  const { address } = door.value;
  const known = isEverywhere(`http://${address}`) ? `${hostInAddress(seenAt)}:${placeOf(address).port}` : address;
  const log = { error: logger.error, warn: (what: string, facts: object) => logger.warn(what, { ...facts }) };
  // What it had is this one's to take, or anybody's: nobody waits until it is missed.
  const noteServer = await buryPredecessor(storage, config.paths.dataDir);
  const homes = await openHomes({ storage, server: { id: ids.hex(16), address: known }, clock, log });
  noteServer(homes.server);
  return ok({
    homes,
    ports: [placeOf(address).port],
    serve: ({ app, passes }) => door.value.serve(app, { server: homes.server, passes }),
    leave: door.value.leave,
    close: door.value.close,
  });
}

const loopback = "127.0.0.1";

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: bareHost(address.slice(0, at)), port: Number(address.slice(at + 1)) };
}
