import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { openLogs } from "../../src/observe/observe.ts";
import { openPeers } from "../../src/peers.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner, type OwnerId } from "../../src/protocol/ids.ts";
import type { Decision } from "../../src/protocol/resources.ts";
import { openLocalSandbox } from "../../src/sandbox/local/local.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import type { Tool } from "../../src/tools/tools.ts";
import { wordsFor } from "../../src/words/words.ts";
import { openYard, type Yard, type YardOptions } from "../../src/yard.ts";
import { databaseEnv } from "./database-env.ts";
import type { ModelServer } from "./model-server.ts";
import { watchPaths } from "./path-watch.ts";
import { asOne, inPlaceOf, noPeers, type Replica, replicaEnv, replicaFolders } from "./replicas.ts";
import { noSandbox } from "./sandbox.ts";

/** A whole yard on a data directory of its own, with the scripted model in its base slot. */
export type TestYard = Yard & {
  readonly client: Client;
  readonly data: string;
  readonly config: Config;
  /** An empty conversation. */
  start(id: string, owner?: OwnerId): Promise<ConversationRow>;
  /** What the log files of all its servers say. */
  logged(): Promise<LogLine[]>;
  /** Of that our own mistakes. */
  faults(): Promise<string[]>;
  /** Starts a conversation with a message and waits until it rests. */
  ask(text: string, options?: AskOptions): Promise<Rested>;
  /** Waits until the conversation has nothing to do, or a person is asked. */
  whenAtRest(conversation: string): Promise<Rested>;
  events(conversation: string): Promise<LogEvent[]>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type LogLine = { readonly level: string; readonly message: string };
export type AskOptions = { readonly conversation?: string; readonly slot?: string; readonly mode?: "queue" | "steer" };
export type Rested = {
  readonly conversation: string;
  readonly status: "idle" | "waiting";
  readonly answer: string;
  readonly outcome: string | undefined;
  readonly events: readonly LogEvent[];
};

export type TestYardOptions = {
  readonly model?: ModelServer | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** How it is reached, where the environment has no name for it. */
  readonly server?: Partial<Config["server"]>;
  readonly tools?: readonly Tool[];
  readonly sources?: YardOptions["sources"];
  readonly reload?: YardOptions["reload"];
  readonly custom?: YardOptions["custom"];
  /** Besides those that are always there. */
  readonly agents?: Config["agents"];
  readonly network?: YardOptions["network"];
  readonly localPorts?: YardOptions["localPorts"];
  readonly clock?: Clock;
  readonly data?: string;
  /** With a real sandbox on this machine; otherwise no code can be run. */
  readonly runsCode?: boolean;
  /** What its programs reach, and where packages come from and lie. */
  readonly packages?: Pick<SandboxOptions, "network" | "packagesDir" | "lookup">;
  /** Another one in its place. */
  readonly openSandbox?: (parts: SandboxPlace) => Sandbox;
  /** Who counts and traces. */
  readonly observers?: Pick<YardOptions, "metrics" | "tracer">;
  readonly wrapStorage?: (storage: Storage) => Storage;
  /** What it knows of other servers. */
  readonly homes?: YardOptions["homes"];
  /** Where the browser app was built. */
  readonly webDir?: string;
  /** Whoever waits for a turn to rest says yes to everything: for tests that are about something else. */
  readonly approves?: true;
  /** The test itself does what the process of the yard does: writes into its logs, speaks for its engine. */
  readonly isOneProcess?: true;
};

export async function startYard(options: TestYardOptions = {}): Promise<TestYard> {
  const { clock = systemClock } = options;
  const data = options.data ?? (await mkdtemp(join(tmpdir(), "agentyard-test-")));
  const replicas: Replica[] = [];
  const shared = { ...databaseEnv(data), ...replicaEnv(data) };
  const folders = replicaFolders(data, options);
  for (const own of folders) replicas.push(await openReplica(options, { own, cwd: data, shared, clock }));
  const { yard, config } = asOne(replicas);
  const watch = watchPaths({ data });
  yard.app.fetch = watch.fetch(yard.app.fetch);
  for (const { yard: one } of replicas) await one.engine.recover({ ageMsMax: Number.MAX_SAFE_INTEGER });
  const client = createClient({ fetch: yard.fetch, clock });
  return {
    ...yard,
    ...{ client, data, config },
    start: (id, owner = localOwner) => must(yard.engine.create(owner, { id })),
    logged: () => loggedBy(replicas),
    faults: async () =>
      (await loggedBy(replicas)).flatMap(({ level, message }) => (level === "error" ? [message] : [])),
    events: (conversation) => eventsOf(yard, conversation),
    async ask(text, { conversation, ...message } = {}) {
      const id = conversation ?? (await must(client.call("createConversation", { body: {} }))).id;
      await must(client.call("sendMessage", { params: { id }, body: { text, mode: "queue", ...message } }));
      return whenAtRest(yard, client, { id, approves: options.approves });
    },
    whenAtRest: (id) => whenAtRest(yard, client, { id, approves: options.approves }),
    async [Symbol.asyncDispose]() {
      await yard.close();
      for (const { logger } of replicas) await logger.close();
      try {
        watch.check({ config });
      } finally {
        if (options.data === undefined) await rm(data, { recursive: true, force: true });
      }
    },
  };
}

type ReplicaPlace = {
  /** Its own data directory. */
  readonly own: string;
  /** Where its settings are looked for; there, where nothing else is said. */
  readonly cwd?: string;
  /** What it has in common with others. */
  readonly shared: Readonly<Record<string, string>>;
  readonly clock: Clock;
};

/** As usual it takes a quarter of a second, which hundreds of tests would wait for. */
export const passwordCost = { N: 2, r: 1, p: 1 } as const;

/** One process of a yard, as far as it is one. */
export async function openReplica(options: TestYardOptions, place: ReplicaPlace): Promise<Replica> {
  const { own, cwd = own, shared, clock } = place;
  const loaded = await testConfig(cwd, { AGENTYARD_DATA: own, ...shared, ...modelEnv(options.model), ...options.env });
  const agents = [...loaded.agents, ...(options.agents ?? [])];
  const config = { ...loaded, agents, server: { ...loaded.server, ...options.server } };
  const logger = openLogs({
    ...{ dir: config.paths.logsDir, level: "debug", clock, startId: "test", pid: process.pid },
    ...{ secrets: [], onOff: () => {} },
  });
  const opened = await openTestStorage(config, clock);
  if (!opened.ok) throw new Error(opened.failure.code);
  const inPlace = inPlaceOf(own, opened.value);
  const storage = options.wrapStorage?.(inPlace) ?? inPlace;
  await storage.expireLeases();
  const open = options.openSandbox ?? (options.runsCode === true ? realSandbox(options) : noSandbox);
  const parties = { config, storage, clock, ids: systemIds, logger };
  const peers = options.isOneProcess ? noPeers : await must(openPeers(parties));
  const sandbox = open({ config, storage, clock, logger, homes: peers.homes });
  const parts = { config, storage, sandbox, clock, ids: systemIds, random: () => 0.5, logger, version: "0.0.0-test" };
  const yard = await openYard({
    ...{ ...parts, ...options.observers, ...toolParts(options), homes: options.homes ?? peers.homes },
    ...{
      network: options.network,
      localPorts: options.localPorts,
      webDir: options.webDir,
      checksReads: true,
      passwordCost,
    },
  });
  return { yard, config, logger, peers };
}

/** Where the environment names a server, there; leases go by the clock of the test. */
async function openTestStorage({ paths, storage: { synchronous, database } }: Config, clock: Clock) {
  if (database === undefined) return openSqlite({ path: paths.sessionDbPath, clock, synchronous });
  const { openPostgres } = await import("../../src/storage/postgres/postgres.ts");
  return openPostgres({ ...database, clock: systemClock, now: clock.now, synchronous, fillCopy });
}

/** An installation of its own: nothing that other tests do at the same time is touched. */
function realSandbox({ packages }: TestYardOptions) {
  return (place: SandboxPlace) => openReal(place, packages);
}

type SandboxPlace = Pick<YardOptions, "config" | "storage" | "clock" | "logger" | "homes">;

function openReal({ config, clock, ...place }: SandboxPlace, packages: TestYardOptions["packages"]): Sandbox {
  const words = wordsFor("en");
  const provider = openLocalSandbox({
    ...{ installation: `test${systemIds.hex(12)}`, clock, ids: systemIds, words: words.sandbox },
    ...{ logger: place.logger, javascript: process.execPath, startTimeoutMs: 30_000 },
  });
  const parts = { ...place, provider, clock, ids: systemIds, words, settings: config.sandbox };
  const sandbox = openSandbox({ ...parts, ...packages });
  return {
    ...sandbox,
    async close() {
      await sandbox.close();
      await provider.close();
    },
  };
}

function toolParts({ tools, sources, reload, custom }: TestYardOptions) {
  return { tools, sources, reload, custom };
}

function modelEnv(model: ModelServer | undefined): Record<string, string> {
  if (model === undefined) return {};
  const { url, wire } = model;
  return {
    ...{ MODEL_BASIC_BASE_URL: url, MODEL_BASIC_API: wire.api, MODEL_BASIC_ID: wire.model },
    MODEL_BASIC_CONTEXT_WINDOW: "128000",
  };
}

async function loggedBy(replicas: readonly Replica[]): Promise<LogLine[]> {
  for (const { logger } of replicas) await logger.flush();
  const folders = new Set(replicas.map((replica) => replica.config.paths.logsDir));
  const files = [...folders].flatMap((folder) => globSync(join(folder, "*.log")));
  const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n"));
  return lines.filter((line) => line !== "").map((line): LogLine => JSON.parse(line));
}

async function eventsOf(yard: Yard, conversation: string): Promise<LogEvent[]> {
  const found = await yard.log.find(localOwner, conversation);
  return found.ok ? yard.log.read(found.value.number, { after: 0, limit: 100_000 }) : [];
}

async function whenAtRest(
  yard: Yard,
  client: Client,
  { id: conversation, approves }: { readonly id: string; readonly approves: true | undefined },
): Promise<Rested> {
  const stop = new AbortController();
  const look = async () => {
    const { head, status, decisions } = await must(client.call("getState", { params: { id: conversation } }));
    const isAsked = approves === true && decisions.length > 0;
    if (isAsked) await approveAll(client, decisions);
    return { head, status: isAsked ? "running" : status };
  };
  try {
    let { head, status } = await look();
    if (status !== "running") return rested(conversation, status, await eventsOf(yard, conversation));
    for await (const frame of client.follow(conversation, { after: head, signal: stop.signal })) {
      if (frame.frame === "delta" || frame.frame === "caught_up") continue;
      // What was known at the last look changes nothing, and each look reads the whole log.
      if (frame.frame === "event" && frame.event.seq <= head) continue;
      ({ head, status } = await look());
      if (status !== "running") return rested(conversation, status, await eventsOf(yard, conversation));
    }
  } finally {
    stop.abort();
  }
  throw new Error("the stream ended");
}

/** One that was answered since has its answer. */
async function approveAll(client: Client, decisions: readonly Decision[]): Promise<void> {
  for (const { conversation, id, kind } of decisions) {
    const params = { id: conversation, decision: id };
    if (kind === "approval") await client.call("decide", { params, body: { verdict: "approve" } });
  }
}

async function testConfig(cwd: string, env: Readonly<Record<string, string>>): Promise<Config> {
  const config = await loadConfig({ env, cwd, homeDir: cwd, programDir: cwd, flags: {} });
  if (!config.ok) throw new Error(JSON.stringify(config.failure));
  return config.value;
}

/** The value, or an error with the words a user would read. */
export async function must<T>(
  result: Promise<{ ok: true; value: T } | { ok: false; failure: { code: string; detail?: string } }>,
): Promise<T> {
  const settled = await result;
  if (!settled.ok) throw new Error(`${settled.failure.code}: ${settled.failure.detail ?? ""}`);
  return settled.value;
}

function rested(conversation: string, status: "idle" | "waiting", events: readonly LogEvent[]): Rested {
  const answer = events.findLast((event) => event.type === "message.assistant");
  const end = events.findLast((event) => event.type === "turn.finished");
  return {
    conversation,
    status,
    answer: answer?.text ?? "",
    outcome: status === "idle" ? end?.outcome : undefined,
    events,
  };
}
