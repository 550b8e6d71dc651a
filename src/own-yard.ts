import { join } from "node:path";
import { agreeWithOthers } from "./agreement.ts";
import { loadCheckers } from "./approvals/approvals.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { systemRandom } from "./base/random.ts";
import { failed, ok, type Result } from "./base/result.ts";
import type { Fetch } from "./client/client.ts";
import { type Closing, closeInOrder } from "./close-in-order.ts";
import { type Config, toolFiles } from "./config/config.ts";
import { findDraft, findUnfinished, mountedDirOf } from "./data-place.ts";
import type { Homes } from "./homes/homes.ts";
import { type App, freePortAfter, isLoopbackHost, listen } from "./http/http.ts";
import type { Engine } from "./loop/loop.ts";
import { type Logger, type Metrics, noMetrics, openMetrics, openTracer, type Tracer } from "./observe/observe.ts";
import { openStorage } from "./open-storage.ts";
import { isEverywhere, openableAddress } from "./openable-address.ts";
import { openPeers } from "./peers.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { openSandbox } from "./sandbox/sandbox.ts";
import { openSandboxProvider, shortNameOf } from "./sandbox-provider.ts";
import { findSegmenter } from "./search/search.ts";
import type { OwnerLock } from "./storage/sqlite/owner-lock.ts";
import type { Storage } from "./storage/storage.ts";
import { type CustomTools, openCustomTools } from "./tools/tools.ts";
import { wordsFor } from "./words/words.ts";
import { probeImages } from "./workspace/workspace.ts";
import { openYard } from "./yard.ts";

/** A way to the yard of a data directory: this process is its owner, or a client of the process that is. */
export type Attached = {
  readonly fetch: Fetch;
  readonly recovery: Recovery | undefined;
  /** What the user should know about the models, in words. */
  readonly notes: readonly string[];
  /** Where it listens for others, if it was asked to. */
  readonly address: string | undefined;
  /** And at every other address of this machine. */
  readonly isEverywhere: boolean;
  /** Where the server of this data is reached, whichever process it is. */
  readonly servedAt: string | undefined;
  /** Resolves when no program that anybody asked this process for waits or runs. */
  quiet(): Promise<void>;
  close(): Promise<void>;
};

export type AttachOptions = {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly reload: () => Promise<Config | undefined>;
  /** Another process has the data by now: nothing may be written any more. */
  readonly onLost: (failure: Failure) => void;
  /** `XDG_RUNTIME_DIR`. */
  readonly runtimeDirectory: string | undefined;
  /** Interrupted turns older than this are named, not resumed; undefined leaves all of them alone. */
  readonly recoverAgeMsMax: number | undefined;
  /** Listen here too. Then only the owner will do: `data_in_use` where another process is. */
  readonly listenAt?: ListenAt | undefined;
};

/** `serve` also for other machines, where there are users; `sandbox` for this one. */
export type ListenAt = {
  readonly as: "serve" | "sandbox";
  readonly host: string;
  readonly port: number;
  readonly basePath?: string;
};

type Recovery = Awaited<ReturnType<Engine["recover"]>>;

export type Joined = Attached & { readonly isOwner: boolean };

/** Opens everything that lies in the data directory, with a door for the processes that come later. */
export async function ownYard(options: AttachOptions, lock: OwnerLock): Promise<Result<Joined, Failure>> {
  const { config, logger, version } = options;
  const observers = await openObservers(options);
  const opened = await openForOwner(options, observers.metrics);
  if (!opened.ok) {
    await observers.close();
    lock.release();
    return opened;
  }
  const { storage, checkers, peers } = opened.value;
  const custom = await openOwnTools(options);
  await storage.expireLeases();
  logger.info(`Session persistence enabled (${config.storage.database === undefined ? "SQLite" : "PostgreSQL"})`);
  // They run unsandboxed, so it is said which ones they are.
  const names = checkers.map(({ name }) => name);
  if (names.length > 0) logger.info("checkers: {names}", { names: names.join(", ") });
  const parts = { clock: systemClock, ids: systemIds, random: systemRandom };
  const { recoverAgeMsMax: ageMsMax } = options;
  const isLooking = ageMsMax === undefined;
  const ownPorts = new Set(peers.ports);
  const { sandbox, reload, closeProvider } = openPrograms(options, {
    ...{ storage, homes: peers.homes, ownPorts },
    tracer: observers.tracer,
  });
  const yard = await openYard({
    ...{ config, storage, sandbox, logger, version, reload, isLooking, checkers, custom },
    homes: peers.homes,
    metrics: observers.metrics,
    tracer: observers.tracer,
    webDir: join(import.meta.dirname, "..", "dist-web"),
    ...parts,
  });
  peers.serve(yard);
  const door = await listen(yard.app, { socketPath: lock.info.socket }, { clock: systemClock });
  if (!door.ok) logger.warn(`other processes cannot join this one: ${door.failure.said}`);
  const close = async (doors: Closing = {}) => {
    const rest = { yard, peers, provider: { close: closeProvider }, observers };
    const own = { ...(door.ok && { socket: door.value }), leave: { close: peers.leave } };
    await closeInOrder({ ...doors, ...own, ...rest }, { clock: systemClock, logger });
    lock.release();
  };
  const others = await openToOthers(yard.app, options, ownPorts);
  if (!others.ok) {
    await close();
    return others;
  }
  const address = others.value && openableAddress(others.value.address) + (options.listenAt?.basePath ?? "");
  const servedAt = options.listenAt?.as === "serve" ? address : undefined;
  if (servedAt !== undefined) lock.tellAddress(servedAt);
  const recovery = ageMsMax === undefined ? undefined : await yard.engine.recover({ ageMsMax });
  return ok({
    fetch: yard.fetch,
    isOwner: true,
    recovery,
    notes: yard.notes,
    address,
    isEverywhere: isEverywhere(others.value?.address ?? ""),
    servedAt,
    quiet: () => sandbox.executions.quiet(),
    close: () => close(others.value && { http: others.value }),
  });
}

/** The operator's own tools. They run unsandboxed, so it is said which ones they are. */
async function openOwnTools({ config, logger }: AttachOptions): Promise<CustomTools> {
  const custom = openCustomTools({
    list: () => toolFiles(config),
    clock: systemClock,
    onBroken: ({ file, line, why }) =>
      logger.warn("a tool is left out: {place} cannot be used: {why}", {
        ...{ place: line === undefined ? file : `${file}:${line}`, why },
      }),
  });
  await custom.refresh();
  const names = custom.files().map(({ file, tool }) => `${tool} (${file})`);
  if (names.length > 0) logger.info("custom tools: {names}", { names: names.join(", ") });
  return custom;
}

/** Who counts and traces. Counts are for those who can ask for them. */
async function openObservers({ config, listenAt, logger, version }: AttachOptions) {
  const tracer = await openTracer({ settings: config.traces, version, clock: systemClock, logger });
  const metrics = listenAt === undefined ? noMetrics : await openMetrics({ version, logger });
  return {
    tracer,
    metrics,
    async close() {
      metrics.close();
      await tracer.close();
    },
  };
}

/** What the owner needs before anything runs; the database last, for it is not to be made where something else is missing. */
async function openForOwner({ config, logger, listenAt, onLost }: AttachOptions, { committed: onCommitted }: Metrics) {
  const { checkers: files, workspace, paths } = config;
  const checkers = await loadCheckers(files);
  if (!checkers.ok) return checkers;
  const segmenter = findSegmenter(config.documents.segmentation);
  if (!segmenter.ok) return segmenter;
  const images = workspace.disk === "image" ? await probeImages(paths.filesDir) : ok(undefined);
  if (!images.ok) return images;
  const whole = await lookForUnfinished(config);
  if (!whole.ok) return whole;
  const opened = await openStorage(config, { logger, onCommitted, onLost });
  if (!opened.ok) return opened;
  const agree = () => agreeWithOthers({ config, storage: opened.value, ids: systemIds });
  const agreed = await agree();
  if (!agreed.ok) {
    await opened.value.close();
    return agreed;
  }
  // On this machine's own address nobody has to sign in; elsewhere everybody would be let in.
  if (listenAt !== undefined && !isLoopbackHost(listenAt.host) && (await opened.value.listUsers(1)).length === 0) {
    await opened.value.close();
    return failure("users_needed", { host: listenAt.host });
  }
  const parts = { clock: systemClock, ids: systemIds, logger };
  const peers = await openPeers({ config, storage: opened.value, ...parts });
  if (!peers.ok) {
    await opened.value.close();
    return peers;
  }
  const still = await agree();
  if (!still.ok) {
    await peers.value.close();
    await peers.value.homes.close();
    await opened.value.close();
    return still;
  }
  return ok({ storage: opened.value, checkers: checkers.value, peers: peers.value });
}

/** A database server that has data was filled after all: its commit was the last step. */
async function lookForUnfinished({ paths, storage: { database } }: Config): Promise<Result<void, Failure>> {
  const unfinished = database === undefined ? findUnfinished(paths) : findDraft(paths.filesDir);
  if (unfinished === undefined) return ok(undefined);
  if (database === undefined) return failed(unfinished);
  const { isDatabaseEmpty } = await import("./onto-database.ts");
  const empty = await isDatabaseEmpty(database);
  if (!empty.ok) return empty;
  return empty.value ? failed(unfinished) : ok(undefined);
}

type ProgramParts = {
  readonly storage: Storage;
  readonly homes: Homes;
  readonly tracer: Tracer;
  readonly ownPorts: ReadonlySet<number>;
};

/** Where code runs. What the settings say about it may change while it does. */
function openPrograms({ config, logger, reload, version }: AttachOptions, own: ProgramParts) {
  const { dataDir } = config.paths;
  const parts = { clock: systemClock, ids: systemIds };
  const words = wordsFor(config.language);
  const settings = { ...config.sandbox };
  const network = { ...config.network };
  const provider = openSandboxProvider({
    ...{ config, installation: shortNameOf(dataDir), folder: dataDir, words: words.sandbox, release: version },
    logger,
  });
  return {
    sandbox: openSandbox({
      ...{ ...parts, ...own, provider, logger, settings, words, network },
      packagesDir: join(mountedDirOf(config), "packages"),
    }),
    closeProvider: provider.close,
    async reload() {
      const changed = await reload();
      if (changed !== undefined) {
        Object.assign(settings, changed.sandbox);
        Object.assign(network, changed.network);
      }
      return changed;
    },
  };
}

/** The door for callers on this machine, where one is wanted. */
async function openToOthers(app: App, { listenAt, config }: AttachOptions, ownPorts: Set<number>) {
  if (listenAt === undefined) return ok(undefined);
  const { as, host, port, basePath = "" } = listenAt;
  const drainMs = as === "serve" ? config.server.drainMs : 0;
  const opened = await listen(app, { host, port }, { clock: systemClock, basePath, drainMs });
  if (opened.ok) {
    ownPorts.add(Number(/\d+$/.exec(opened.value.address)?.[0]));
    return opened;
  }
  const { reason: why, said } = opened.failure;
  const next = as === "serve" && why === "taken" ? await freePortAfter({ host, port }) : 0;
  return failure("address_unusable", { host, port, why, said, ...(next !== 0 && { free: next }) });
}
