import { join } from "node:path";
import { loadCheckers } from "./approvals/approvals.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { systemRandom } from "./base/random.ts";
import { failed, ok, type Result } from "./base/result.ts";
import type { Fetch } from "./client/client.ts";
import { type Config, toolFiles } from "./config/config.ts";
import { findUnfinished } from "./data-place.ts";
import { type App, freePortAfter, isLoopbackHost, listen } from "./http/http.ts";
import type { Engine } from "./loop/loop.ts";
import { type Logger, type Metrics, noMetrics, openMetrics, openTracer, type Tracer } from "./observe/observe.ts";
import { openStorage } from "./open-storage.ts";
import { isEverywhere, openableAddress } from "./openable-address.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { openSandbox } from "./sandbox/sandbox.ts";
import { markOf, openSandboxProvider } from "./sandbox-provider.ts";
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

export type Attachment = Attached & { readonly isOwner: boolean };

/** Opens everything that lies in the data directory, with a door for the processes that come later. */
export async function ownYard(options: AttachOptions, lock: OwnerLock): Promise<Result<Attachment, Failure>> {
  const { config, logger, version } = options;
  const observers = await openObservers(options);
  const opened = await openForOwner(options, observers.metrics);
  if (!opened.ok) {
    await observers.close();
    lock.release();
    return opened;
  }
  const { storage, checkers } = opened.value;
  const custom = await openOwnTools(options);
  await storage.expireLeases();
  logger.info(`Session persistence enabled (${config.storage.database === undefined ? "SQLite" : "PostgreSQL"})`);
  // They run unsandboxed, so it is said which ones they are.
  const names = checkers.map(({ name }) => name);
  if (names.length > 0) logger.info("checkers: {names}", { names: names.join(", ") });
  const parts = { clock: systemClock, ids: systemIds, random: systemRandom };
  const { recoverAgeMsMax: ageMsMax } = options;
  const isLooking = ageMsMax === undefined;
  const { sandbox, reload, closeProvider } = openPrograms(options, storage, observers.tracer);
  const yard = await openYard({
    config,
    storage,
    sandbox,
    logger,
    version,
    reload,
    isLooking,
    checkers,
    custom,
    metrics: observers.metrics,
    tracer: observers.tracer,
    webDir: join(import.meta.dirname, "..", "dist-web"),
    ...parts,
  });
  const door = await listen(yard.app, { socketPath: lock.info.socket }, { clock: systemClock });
  if (!door.ok) logger.warn(`other processes cannot join this one: ${door.failure.said}`);
  const close = async () => {
    if (door.ok) await door.value.close();
    await yard.close();
    await closeProvider();
    await observers.close();
    lock.release();
  };
  const others = await openToOthers(yard.app, options);
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
    async close() {
      await others.value?.close();
      await close();
    },
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
  const images = workspace.disk === "image" ? await probeImages(paths.dataDir) : ok(undefined);
  if (!images.ok) return images;
  const unfinished = config.storage.database === undefined ? findUnfinished(paths) : undefined;
  if (unfinished !== undefined) return failed(unfinished);
  const opened = await openStorage(config, { logger, onCommitted, onLost });
  if (!opened.ok) return opened;
  // On this machine's own address nobody has to sign in; elsewhere everybody would be let in.
  if (listenAt !== undefined && !isLoopbackHost(listenAt.host) && (await opened.value.listUsers(1)).length === 0) {
    await opened.value.close();
    return failure("users_needed", { host: listenAt.host });
  }
  return ok({ storage: opened.value, checkers: checkers.value });
}

/** Where code runs. What the settings say about it may change while it does. */
function openPrograms({ config, logger, reload }: AttachOptions, storage: Storage, tracer: Tracer) {
  const { dataDir } = config.paths;
  const parts = { clock: systemClock, ids: systemIds };
  const words = wordsFor(config.language);
  const settings = { ...config.sandbox };
  const network = { ...config.network };
  const provider = openSandboxProvider({
    ...{ settings: config.provider, mark: markOf(dataDir), folder: dataDir, words: words.sandbox },
  });
  return {
    sandbox: openSandbox({
      ...{ ...parts, provider, storage, logger, settings, words, network, tracer },
      packagesDir: join(dataDir, "packages"),
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
async function openToOthers(app: App, { listenAt }: AttachOptions) {
  if (listenAt === undefined) return ok(undefined);
  const { as, host, port, basePath = "" } = listenAt;
  const opened = await listen(app, { host, port }, { clock: systemClock, basePath });
  if (opened.ok) return opened;
  const { reason: why, said } = opened.failure;
  const next = as === "serve" && why === "taken" ? await freePortAfter({ host, port }) : 0;
  return failure("address_unusable", { host, port, why, said, ...(next !== 0 && { free: next }) });
}
