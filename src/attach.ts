import { mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { type Clock, systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { systemRandom } from "./base/random.ts";
import { failed, ok, type Result } from "./base/result.ts";
import { createClient, type Fetch } from "./client/client.ts";
import { socketFetch } from "./client/socket-fetch.ts";
import { socketPathFor } from "./client/socket-path.ts";
import type { Config } from "./config/config.ts";
import { listen } from "./http/http.ts";
import type { Engine } from "./loop/loop.ts";
import type { Logger } from "./observe/observe.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { protocolVersion } from "./protocol/routes.ts";
import { type OwnerInfo, takeOwnership } from "./storage/sqlite/owner-lock.ts";
import { openSqlite } from "./storage/sqlite/sqlite.ts";
import { openYard } from "./yard.ts";

/** A way to the yard of a data directory: this process is its owner, or a client of the process that is. */
export type Attached = {
  readonly fetch: Fetch;
  readonly recovery: Recovery | undefined;
  /** What the user should know about the models, in words. */
  readonly notes: readonly string[];
  close(): Promise<void>;
};

export type AttachOptions = {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly reload: () => Promise<Config | undefined>;
  /** `XDG_RUNTIME_DIR`. */
  readonly runtimeDirectory: string | undefined;
  /** Interrupted turns older than this are named, not resumed; undefined leaves all of them alone. */
  readonly recoverAgeMsMax: number | undefined;
};

type Recovery = Awaited<ReturnType<Engine["recover"]>>;

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
    const next = await become(options);
    if (next.ok) current = next.value;
    moving = undefined;
    return next.ok;
  };

  return ok({
    recovery: current.recovery,
    notes: current.notes,
    async fetch(url, init) {
      for (let moves = 0; ; moves += 1) {
        const used = current;
        try {
          return await used.fetch(url, init);
        } catch (error) {
          if (used.isOwner || isClosed || init.signal?.aborted || moves === movesMax) throw error;
          if (init.body instanceof ReadableStream) throw error; // It is used up; the next request moves.
          // The owner has ended: take its place, or find who has. Others that noticed wait for the same move.
          if (used === current) moving ??= move();
          if (moving !== undefined && !(await moving)) throw error;
        }
      }
    },
    async close() {
      isClosed = true;
      await moving;
      await current.close();
    },
  });
}

type Attachment = Attached & { readonly isOwner: boolean };

async function become(options: AttachOptions): Promise<Result<Attachment, Failure>> {
  const { dataDir } = options.config.paths;
  const startedAt = systemClock.monotonic();
  for (;;) {
    const place = placeOf(dataDir, options.runtimeDirectory);
    if (!place.ok) return place;
    const info = { pid: process.pid, startedAt: systemClock.now(), socket: place.value, protocol: protocolVersion };
    const taken = takeOwnership(dataDir, info);
    if (taken.ok) return own(options, taken.value);
    if (taken.failure.kind === "failed") return failed(taken.failure.failure);
    const { owner } = taken.failure;
    const joined = owner === undefined ? undefined : await join(owner, systemClock);
    if (joined?.ok || joined?.failure.code === "owner_other_version") return joined;
    if (systemClock.monotonic() - startedAt > attachLimitMs)
      return failure("owner_unreachable", { pid: owner?.pid ?? 0 });
    await systemClock.wait(attachPauseMs);
  }
}

function placeOf(dataDir: string, runtimeDirectory: string | undefined): Result<string, Failure> {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch {
    return failure("storage_read_only", {}); // Whatever stands in the way, the user has to choose or permit a directory.
  }
  const { uid } = userInfo();
  return socketPathFor({ dataDirectory: dataDir, runtimeDirectory, temporaryDirectory: tmpdir(), uid });
}

/** The owner of the directory as a client sees it, once it answers and speaks our version. */
async function join(owner: OwnerInfo, clock: Clock): Promise<Result<Attachment, Failure>> {
  if (owner.protocol !== protocolVersion) {
    return failure("owner_other_version", { theirs: owner.protocol, ours: protocolVersion });
  }
  const fetch = socketFetch(owner.socket);
  const health = await createClient({ fetch, clock }).call("health", {});
  if (!health.ok) return failure("owner_unreachable", { pid: owner.pid });
  return ok({ fetch, isOwner: false, recovery: undefined, notes: [], close: async () => {} });
}

async function own(
  options: AttachOptions,
  lock: { readonly info: OwnerInfo; release(): void },
): Promise<Result<Attachment, Failure>> {
  const { config, logger, version, reload } = options;
  const opened = openSqlite({
    path: config.paths.sessionDbPath,
    clock: systemClock,
    synchronous: config.storage.synchronous,
  });
  if (!opened.ok) {
    lock.release();
    return opened;
  }
  const storage = opened.value;
  await storage.expireLeases();
  logger.info("Session persistence enabled (SQLite)");
  const parts = { clock: systemClock, ids: systemIds, random: systemRandom };
  const { recoverAgeMsMax: ageMsMax } = options;
  const isLooking = ageMsMax === undefined;
  const yard = await openYard({ config, storage, logger, version, reload, isLooking, ...parts });
  const door = await listen(yard.app, { socketPath: lock.info.socket }, { clock: systemClock });
  if (!door.ok) logger.warn(`other processes cannot join this one: ${door.failure.said}`);
  const recovery = ageMsMax === undefined ? undefined : await yard.engine.recover({ ageMsMax });
  return ok({
    fetch: yard.fetch,
    isOwner: true,
    recovery,
    notes: yard.notes,
    async close() {
      if (door.ok) await door.value.close();
      await yard.close();
      lock.release();
    },
  });
}
