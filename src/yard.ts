import type { Clock } from "./base/clock.ts";
import type { Ids } from "./base/ids.ts";
import type { Random } from "./base/random.ts";
import { type Fetch, inProcessFetch } from "./client/client.ts";
import type { Config } from "./config/config.ts";
import { type App, createApp } from "./http/http.ts";
import { type Log, openLog } from "./log/log.ts";
import { defaultLimits, type Engine, type LoopLimits, openEngine } from "./loop/loop.ts";
import { startDemoServer } from "./models/demo/demo.ts";
import {
  describeServer,
  detectServers,
  type FoundServer,
  type Models,
  openModels,
  type Resolver,
} from "./models/models.ts";
import { openAiCompatible } from "./models/openai/openai.ts";
import type { Logger } from "./observe/observe.ts";
import { makeFailure } from "./protocol/failure.ts";
import type { Storage } from "./storage/storage.ts";
import { builtins, openToolbox, type Tool } from "./tools/tools.ts";
import { failureWords, type Words, wordsFor } from "./words/words.ts";

/** A whole AgentYard around one storage: everything but the process it runs in. */
export type Yard = {
  readonly app: App;
  readonly engine: Engine;
  readonly log: Log;
  readonly models: Models;
  /** What the user should know about the models, in words. */
  readonly notes: readonly string[];
  /** The door without a socket. */
  readonly fetch: Fetch;
  close(): Promise<void>;
};

export type YardOptions = {
  readonly config: Config;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  /** The settings as they are now; undefined when they have not changed, or cannot be used. */
  readonly reload?: (() => Promise<Config | undefined>) | undefined;
  /** Chooses the model slot of each step in place of our own rules. */
  readonly resolver?: Resolver | undefined;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[] | undefined;
  /** Tests check every event they read back. */
  readonly checksReads?: boolean | undefined;
};

/** Builds the parts in order; `close` takes them down in reverse, storage included. */
export async function openYard(options: YardOptions): Promise<Yard> {
  const { config, storage, clock, ids, random, logger, version } = options;
  const words = wordsFor(config.language);
  const notes: string[] = [];
  const log = openLog({
    storage,
    clock,
    ids,
    checksReads: options.checksReads ?? false,
    onBrokenRecord: ({ number, seq, why }) =>
      logger.error(failureWords(words, makeFailure("log_record_broken", { seq, why })).join(" "), { number }),
  });
  const models = await openModels({
    slots: config.models.slots,
    clock,
    makeProvider: (endpoint) => openAiCompatible({ endpoint, clock, ids, proxyEnv: config.models.proxyEnv }),
    resolver: options.resolver,
    startDemo: () =>
      startDemoServer({ clock, ids, timezone: localTimezone(), findServers: () => detectServers({ clock }) }),
    describeServer: (baseUrl) => describeServer(baseUrl, { clock }),
    onNote(note) {
      const text = words.models.notes[note.code](note);
      notes.push(text);
      logger.warn(text);
    },
    idleTimeoutMs: config.models.idleTimeoutMs,
    firstDataTimeoutMs: config.models.firstDataTimeoutMs,
  });
  const found = async () => (await detectServers({ clock })).map((server) => localServer(server, words));
  const limits = { ...defaultLimits, ...limitsOf(config) };
  const engine = openEngine({
    ...{ log, storage, models, clock, ids, random, logger, limits },
    toolbox: openToolbox([...builtins, ...(options.tools ?? [])]),
    async beforeTurn() {
      const changed = await options.reload?.();
      if (changed === undefined) return;
      Object.assign(limits, limitsOf(changed));
      for (const slot of Object.values(changed.models.slots)) models.register(slot);
      logger.info("settings were changed and are in effect");
    },
  });
  const app = createApp({
    engine,
    log,
    models,
    detectServers: found,
    clock,
    ids,
    version,
    logFile: logger.path,
    logger: (line) => logger.error(line),
  });
  return {
    app,
    engine,
    log,
    models,
    notes,
    fetch: inProcessFetch(app),
    async close() {
      await engine.close();
      await models.close();
      await storage.close();
    },
  };
}

function limitsOf({ loop, context }: Config): Partial<LoopLimits> {
  return { ...loop, messagesKeptMax: context.isManaged ? context.messagesMax : 0 };
}

function localTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A server of this machine as surfaces show it, with what to do about its best model, if anything. */
function localServer({ kind, baseUrl, models }: FoundServer, words: Words) {
  const advice = models[0]?.advice;
  const served = models.map(({ id, windowTokens, tools }) => ({ id, windowTokens, tools }));
  return {
    kind,
    baseUrl,
    models: served,
    ...(advice === undefined ? {} : { advice: words.models.notes[advice.code](advice) }),
  };
}
