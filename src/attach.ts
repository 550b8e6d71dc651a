import { tmpdir } from "node:os";
import { type Clock, systemClock } from "./base/clock.ts";
import { throwUnlessNetwork } from "./base/fault.ts";
import { failed, ok, type Result } from "./base/result.ts";
import { createClient } from "./client/client.ts";
import { socketFetch } from "./client/socket-fetch.ts";
import { socketPathFor } from "./client/socket-path.ts";
import { makeFolder } from "./data-place.ts";
import type { Attached, AttachOptions, Joined } from "./own-yard.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { protocolVersion } from "./protocol/routes.ts";
import { type OwnerInfo, takeOwnership } from "./storage/sqlite/owner-lock.ts";

export type { Attached, ListenAt } from "./own-yard.ts";

/** The one that owns the directory may just be starting or ending: that long we look again before we give up. */
const attachLimitMs = 5_000;
const attachPauseMs = 50;
/** Owners that may end one after another while a single request is on its way. */
const movesMax = 20;

/** One engine owns a data directory; whoever comes second becomes its client, and its successor when it ends. */
export async function attach(options: AttachOptions): Promise<Result<Attached, Failure>> {
  const first = await become(options);
  if (!first.ok) return first;
  let current = first.value;
  let moving: Promise<boolean> | undefined;
  let isClosed = false;

  const move = async (): Promise<boolean> => {
    try {
      const next = await become(options);
      if (next.ok) current = next.value;
      return next.ok;
    } finally {
      moving = undefined; // Also after a mistake of ours: the next request tries anew.
    }
  };

  return ok({
    recovery: current.recovery,
    notes: current.notes,
    address: current.address,
    isEverywhere: current.isEverywhere,
    servedAt: current.servedAt,
    async fetch(url, init) {
      for (let moves = 0; ; moves += 1) {
        const used = current;
        try {
          return await used.fetch(url, init);
        } catch (error) {
          throwUnlessNetwork(error, init.signal);
          if (used.isOwner || isClosed || init.signal?.aborted || moves === movesMax) throw error;
          if (init.body instanceof ReadableStream) throw error; // It is used up; the next request moves.
          // The owner has ended: take its place, or find who has. Others that noticed wait for the same move.
          if (used === current) moving ??= move();
          if (moving !== undefined && !(await moving)) throw error;
        }
      }
    },
    quiet: () => current.quiet(),
    async close() {
      isClosed = true;
      await moving;
      await current.close();
    },
  });
}

async function become(options: AttachOptions): Promise<Result<Joined, Failure>> {
  const { dataDir } = options.config.paths;
  const startedAt = systemClock.monotonic();
  for (;;) {
    const place = placeOf(dataDir, options.runtimeDirectory);
    if (!place.ok) return place;
    const info = { pid: process.pid, startedAt: systemClock.now(), socket: place.value, protocol: protocolVersion };
    const taken = takeOwnership(dataDir, info);
    if (taken.ok) {
      // Read by the owner alone: a client of another process needs a fifth of it.
      const { ownYard } = await import("./own-yard.ts");
      return ownYard(options, taken.value);
    }
    if (taken.failure.kind === "failed") return failed(taken.failure.failure);
    const { owner } = taken.failure;
    if (owner !== undefined && options.listenAt !== undefined) return inUse(owner);
    const joined = owner === undefined ? undefined : await join(owner, systemClock);
    if (joined?.ok || joined?.failure.code === "owner_other_version") return joined;
    if (systemClock.monotonic() - startedAt > attachLimitMs)
      return failure("owner_unreachable", { pid: owner?.pid ?? 0 });
    await systemClock.wait(attachPauseMs);
  }
}

/** Two servers cannot share a directory, and a server cannot be a client of a terminal. `serve` does what `sandbox` does, too. */
function inUse({ pid, address }: OwnerInfo) {
  return address === undefined ? failure("data_in_use", { pid }) : failure("already_served", { pid, address });
}

function placeOf(dataDir: string, runtimeDirectory: string | undefined): Result<string, Failure> {
  // Whatever stands in the way, the user has to choose or permit a directory.
  if (!makeFolder(dataDir)) return failure("data_unusable", { path: dataDir });
  // By its number alone: in a container nobody need have a name for it.
  const uid = process.getuid?.() ?? -1;
  return socketPathFor({ dataDirectory: dataDir, runtimeDirectory, temporaryDirectory: tmpdir(), uid });
}

/** The owner of the directory as a client sees it, once it answers and speaks our version. */
async function join(owner: OwnerInfo, clock: Clock): Promise<Result<Joined, Failure>> {
  if (owner.protocol !== protocolVersion) {
    return failure("owner_other_version", { theirs: owner.protocol, ours: protocolVersion });
  }
  const fetch = socketFetch(owner.socket, clock);
  const health = await createClient({ fetch, clock }).call("health", {});
  if (!health.ok) return failure("owner_unreachable", { pid: owner.pid });
  return ok({
    fetch,
    isOwner: false,
    recovery: undefined,
    notes: [],
    address: undefined,
    isEverywhere: false,
    servedAt: owner.address,
    ...nobodys,
  });
}

/** What runs is the owner's business. */
const nobodys = { quiet: async () => {}, close: async () => {} };
