import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { type Client, createClient, inProcessFetch } from "../../src/client/client.ts";
import { type App, createApp } from "../../src/http/http.ts";
import type { LiveFrame } from "../../src/loop/loop.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { failure, makeFailure } from "../../src/protocol/failure.ts";
import { ConversationId, localOwner, type OwnerId } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { openUsers } from "../../src/users/users.ts";
import { noWorkspace } from "../../src/workspace/workspace.ts";
import { memoryFiles } from "./memory-files.ts";
import { memoryOnce } from "./memory-once.ts";
import { memoryUsers } from "./memory-users.ts";
import { readAlong, spellingsOf } from "./path-watch.ts";
import { type PlayedSandbox, playedSandbox } from "./played-sandbox.ts";
import { playedUploads } from "./played-uploads.ts";

// The door with as little behind it as it can stand before: a log in memory, and an engine whose part the test plays.

type Parts = Parameters<typeof createApp>[0];
type Log = Parts["log"];
type Engine = Parts["engine"];

export type SmallYard = {
  readonly app: App;
  readonly client: Client;
  /** What the log file would have of our own mistakes. */
  readonly faults: string[];
  /** What people put into uploads/, by path. */
  readonly files: Map<string, Uint8Array>;
  /** What the engine was asked, by name and argument. */
  readonly asked: [name: string, argument: unknown][];
  /** How many still listen to the log or to the running answer. */
  listeners(): number;
  start(id: string, owner?: OwnerId): Promise<ConversationRow>;
  append(row: ConversationRow, ...events: NewEvent[]): void;
  /** A piece of the running answer. */
  say(row: ConversationRow, delta: LiveFrame): void;
  endAnswer(row: ConversationRow): void;
};

type Options = Partial<Omit<Parts, "engine" | "log" | "sandbox" | "storage">> & {
  engine?: Partial<Engine>;
  log?: Partial<Log>;
  sandbox?: PlayedSandbox;
  storage?: Partial<Parts["storage"]>;
};

export function smallYard({ engine, log, clock = systemClock, sandbox, storage, ...options }: Options = {}): SmallYard {
  const played = sandbox ?? playedSandbox();
  const memory = memoryLog();
  const live = liveBuffer();
  const files = memoryFiles();
  const faults: string[] = [];
  const asked: SmallYard["asked"] = [];
  const app = createApp({
    engine: { ...memory.engine, ...files.engine, ...playedEngine(asked), live: live.listen, ...engine },
    log: { ...memory.log, ...log },
    workspaces: playedWorkspaces(asked),
    ...played.parts,
    storage: {
      received: async () => undefined,
      ownersOfConversation: async (id) => memory.owners(id),
      searchConversations: memory.search,
      ownerOfExecution: async (id) => played.ownerOfExecution(id),
      check: async () => ok(undefined),
      ...memoryOnce(),
      ...storage,
    },
    users: openUsers({ storage: memoryUsers(), clock, ids: systemIds, signInLastsMs: () => 30 * 86_400_000 }),
    cleanAfterMs: () => 7 * 86_400_000,
    models: { get: () => demo },
    detectServers: async () => [{ kind: "ollama", baseUrl: "http://127.0.0.1:11434/v1", models: [{ id: "qwen3" }] }],
    clock,
    ids: systemIds,
    version: "0.0.0-test",
    logger: (line) => faults.push(line),
    ...options,
  });
  app.fetch = readAlong(app.fetch, ourPlace, giveAway);
  return {
    app,
    client: createClient({ fetch: inProcessFetch(app), clock }),
    faults,
    files: files.held,
    asked,
    listeners: () => memory.listeners() + live.listeners(),
    async start(id, owner = localOwner) {
      const row = await memory.engine.create(owner, { id });
      if (!row.ok) throw new Error(row.failure.code);
      return row.value;
    },
    append: (row, ...events) => memory.append(row, events),
    say: (row, delta) => live.say(row.number, delta),
    endAnswer: (row) => live.end(row.number),
  };
}

/** A stack trace names it, and nothing else has a reason to: no answer may. */
const ourPlace = spellingsOf(join(import.meta.dirname, "..", ".."));

function giveAway(leak: string): never {
  throw new Error(`a host path was given away: ${leak}`);
}

const demo = {
  slot: "base",
  id: "demo",
  server: "demo",
  isDemo: true,
  windowTokens: 8192,
  promptSize: "full",
  prepare: () => {
    throw new Error("no model is called here");
  },
} as const;

function playedWorkspaces(asked: SmallYard["asked"]): Parts["workspaces"] {
  const trashed = { id: "t1", conversation: "c", movedAt: 1, bytes: 5, files: 2, until: 9 };
  return {
    async clean(options) {
      asked.push(["clean", options]);
      return { workspaces: 1, bytes: 5, skipped: 0 };
    },
    trash: async (owner) => (owner === localOwner ? [trashed] : []),
    ofConversation: ({ id }) => noWorkspace(id, makeFailure("workspace_not_assigned", { agent: id })),
    sweep: async () => ({ left: 0 }),
    check: async () => ok(undefined),
    async *archive() {},
    ...playedUploads,
    async restore(owner, id) {
      const { conversation, files } = trashed;
      return owner === localOwner && id === "t1"
        ? ok({ conversation, files, beside: [] })
        : failure("trash_not_found", { id: id.slice(0, 80) });
    },
  };
}

type Remembered = "live" | "remove" | "create" | "files" | "upload" | "removeFile";

function playedEngine(asked: SmallYard["asked"]): Omit<Engine, Remembered> {
  const note = <V>(name: string, value: V) => {
    return async (_: unknown, argument?: unknown) => {
      asked.push([name, argument]);
      return ok(value);
    };
  };
  const checkpoint = { checkpoint: 3, parent: null, name: "here", at: 1 };
  const sizes = { messagesBefore: 20, messagesAfter: 11, tokensBefore: 9_000, tokensAfter: 3_000 };
  return {
    send: note("send", { message: "m1", seq: 1 }),
    sayAgain: async (_, id) => failure("message_not_found", { id }),
    agents: () => [playedRole],
    hasTool: () => false,
    chooseAgent: note("chooseAgent", playedRole),
    checkSelected: note("checkSelected", undefined),
    withdraw: async (_, id) => failure("message_not_found", { id }),
    cancel: async () => failure("turn_not_running", {}),
    resume: note("resume", { turn: null }),
    noteChanges: note("noteChanges", undefined),
    decide: async (_, decision, verdict) => {
      asked.push(["decide", verdict]);
      return ok({ decision, seq: 2, also: [] });
    },
    openDecisions: async () => [],
    rules: async () => [],
    memory: async () => [],
    addMemory: async () => failure("memory_full", { max: 100 }),
    changeMemory: async (_, id) => failure("memory_not_found", { id }),
    forgetMemory: async (_, id) => failure("memory_not_found", { id }),
    revokeRule: async (_, id) => failure("rule_not_found", { id }),
    open: () => void asked.push(["open", undefined]),
    undo: async () => failure("nothing_to_undo", {}),
    compact: note("compact", { seq: 4, strategy: "compact", ...sizes }),
    undoCompaction: async () => failure("compaction_not_found", {}),
    emptyFolder: note("emptyFolder", undefined),
    reset: async ({ id }) => failure("conversation_busy", { id }),
    branch: async (row) => ok({ conversation: row, leftOut: [] }),
    checkpoints: async () => [checkpoint],
    saveCheckpoint: note("saveCheckpoint", checkpoint),
    restoreCheckpoint: async (_, place) => failure("checkpoint_not_found", { checkpoint: place }),
    deleteCheckpoint: note("deleteCheckpoint", undefined),
    state: async (row) => ({
      conversation: { ...row },
      status: "idle",
      head: 0,
      model: { slot: "base", id: "demo", server: "demo", isDemo: true },
      tokens: { used: 0, window: 8192, level: "info", estimated: false },
      queue: [],
      decisions: [],
      todos: [],
      filesRemovedAt: null,
    }),
    replay: async () => ({ turns: 0, steps: 0, differences: [] }),
  };
}

const playedRole = {
  ...{ id: "general", name: "General", description: "Does what there is to do." },
  ...{ prompt: undefined, tools: undefined, slot: undefined },
};

function liveBuffer() {
  const soFar = new Map<number, LiveFrame[]>();
  const heard = makeListeners<LiveFrame>();
  return {
    listen(number: number, listener: (frame: LiveFrame) => void) {
      for (const frame of soFar.get(number) ?? []) listener(frame);
      return heard.add(number, listener);
    },
    say(number: number, frame: LiveFrame) {
      soFar.set(number, [...(soFar.get(number) ?? []), frame]);
      heard.tell(number, frame);
    },
    end: (number: number) => soFar.delete(number),
    listeners: heard.count,
  };
}

function memoryLog() {
  const rows: ConversationRow[] = [];
  const logs = new Map<number, LogEvent[]>();
  const appended = makeListeners<number>();
  const own = (owner: OwnerId) => rows.filter((row) => row.owner === owner && row.deletedAt === undefined);
  const log: Log = {
    async find(owner, id) {
      const row = own(owner).find((one) => one.id === id);
      return row === undefined ? failure("conversation_not_found", { id }) : ok(row);
    },
    async findByPrefix(owner, prefix) {
      const [row, ...others] = own(owner).filter((one) => one.id.startsWith(prefix));
      if (row === undefined) return failure("conversation_not_found", { id: prefix });
      if (others.length === 0) return ok(row);
      return failure("conversation_ambiguous", { prefix, candidates: [row, ...others].map(({ id }) => id).join(", ") });
    },
    async list(owner, { limit, before }) {
      const newestFirst = own(owner).toReversed();
      return newestFirst.filter((row) => before === undefined || row.number < Number(before)).slice(0, limit);
    },
    async rename(row, title) {
      const renamed = { ...row, title };
      rows[row.number - 1] = renamed;
      return ok(renamed);
    },
    async read(number, { after, limit, upTo = Number.POSITIVE_INFINITY }) {
      return (logs.get(number) ?? []).filter(({ seq }) => seq > after && seq <= upTo).slice(0, limit);
    },
    async markRead(row, readIndex) {
      rows[row.number - 1] = { ...row, readIndex };
      return ok(undefined);
    },
    effective: async (number, upTo) => (logs.get(number) ?? []).filter(({ seq }) => seq <= upTo),
    headOf: async (number) => logs.get(number)?.length ?? 0,
    onAppend: appended.add,
  };
  function append(row: ConversationRow, events: readonly NewEvent[]) {
    const all = logs.get(row.number) ?? [];
    for (const event of events) all.push({ ...event, seq: all.length + 1, at: 1_700_000_000_000 });
    logs.set(row.number, all);
    appended.tell(row.number, all.length);
  }
  const engine: Pick<Engine, "create" | "remove"> = {
    async create(owner, { id = systemIds.uuid(), title = "" }) {
      const parsed = ConversationId.safeParse(id);
      if (!parsed.success) return failure("bad_request", { what: "body.id" });
      if (own(owner).some((row) => row.id === id)) return failure("conversation_exists", { id });
      const row = newRow(rows.length + 1, { owner, id: parsed.data, title });
      rows.push(row);
      logs.set(row.number, []);
      return ok(row);
    },
    async remove(row) {
      rows[row.number - 1] = { ...row, deletedAt: 1 };
      const head = logs.get(row.number)?.length ?? 0;
      logs.delete(row.number);
      appended.tell(row.number, head + 1);
      return ok(undefined);
    },
  };
  const owners = (id: string) => rows.filter((row) => row.id === id).map(({ owner }) => owner);
  const search: Parts["storage"]["searchConversations"] = async (owner, { appKey, title = "", limit, offset }) => {
    const fits = (row: ConversationRow) => (appKey ?? row.appKey) === row.appKey && row.title.includes(title);
    const items = own(owner).filter(fits).toReversed();
    return { items: items.slice(offset, offset + limit), total: items.length };
  };
  return { log, engine, append, owners, search, listeners: appended.count };
}

function newRow(number: number, begun: Pick<ConversationRow, "owner" | "id" | "title">): ConversationRow {
  const times = { createdAt: number, updatedAt: number, deletedAt: undefined };
  const chosen = { origin: "person", isPassing: false, agentId: undefined, appKey: undefined, readIndex: 0 } as const;
  return { number, ...begun, lastMessage: "", turns: 0, cursor: `${number}`, ...chosen, ...times };
}

function makeListeners<V>() {
  const all = new Set<{ number: number; listener: (value: V) => void }>();
  return {
    add(number: number, listener: (value: V) => void) {
      const entry = { number, listener };
      all.add(entry);
      return () => void all.delete(entry);
    },
    tell(number: number, value: V) {
      for (const entry of [...all]) if (entry.number === number) entry.listener(value);
    },
    count: () => all.size,
  };
}
