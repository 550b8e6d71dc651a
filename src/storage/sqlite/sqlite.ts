import { statSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { hashOf } from "../blob-hash.ts";
import type { Storage, StorageFailure, UserStorage } from "../storage.ts";
import { append, create } from "./append.ts";
import { type Connections, closeConnections, openConnections } from "./connections.ts";
import { copyDatabase } from "./copy.ts";
import { failureOf } from "./failures.ts";
import { type GroupCommit, groupCommit } from "./group-commit.ts";
import { freeReserve, openReserve } from "./reserve.ts";
import { unshared } from "./sharing.ts";
import { openTables, type Tables } from "./tables.ts";

export type SqliteOptions = {
  readonly path: string;
  readonly clock: Clock;
  /** `normal` survives the end of the process, but not a power cut. */
  readonly synchronous?: "full" | "normal";
  /** How long a write waits for a program that has the database locked. */
  readonly busyTimeoutMs?: number;
  /** Told how long each transaction took. */
  readonly onCommitted?: ((ms: number) => void) | undefined;
};

/** Opens the database of a data directory; makes or migrates it first where that is needed. */
export function openSqlite(options: SqliteOptions): Result<Storage, OpenFailure> {
  const opened = tryToOpen(options);
  if (opened.ok || opened.failure.code !== "storage_full") return opened;
  // Even reading needs some room, for the memory that SQLite's readers and writers share.
  return freeReserve(options.path) ? tryToOpen(options) : opened;
}

type OpenFailure = Failure<"storage_newer" | "storage_busy" | "storage_full" | "storage_read_only" | "storage_broken">;

function tryToOpen(options: SqliteOptions): Result<Storage, OpenFailure> {
  const { path, synchronous = "full", busyTimeoutMs = 5000 } = options;
  try {
    const connections = openConnections({ path, synchronous, busyTimeoutMs });
    return connections.ok ? ok(storageOn(connections.value, { ...options, busyTimeoutMs, synchronous })) : connections;
  } catch (error) {
    const reason = failureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  }
}

function storageOn(
  connections: Connections,
  options: SqliteOptions & { busyTimeoutMs: number; synchronous: "full" | "normal" },
): Storage {
  const { path, clock, busyTimeoutMs, synchronous } = options;
  const tables = tablesOn(connections, clock);
  const { conversations, events, received, leases, decisions, blobs } = tables;
  const opened = statSync(path).ino;
  const reserve = openReserve(path, connections.writer, clock);
  const group = groupCommit({
    database: connections.writer,
    synchronous,
    clock,
    busyTimeoutMs,
    onBegin: events.began,
    onRollback: events.rolledBack,
    onCommit() {
      reserve.restore();
      events.committed();
    },
    onFull: reserve.free,
    onCommitted: options.onCommitted,
  });
  return {
    createConversation: async (conversation) =>
      ifThere(path, opened, () => group.write(() => create(tables, conversation))),
    findConversation: async (owner, id) => conversations.find(owner, id),
    ownersOfConversation: async (id, limit) => conversations.owners(id, limit),
    conversationByNumber: async (number) => conversations.byNumber(number),
    findByPrefix: async (owner, prefix, limit) => conversations.byPrefix(owner, prefix, limit),
    listConversations: async (owner, page) => conversations.list(owner, page),
    searchConversations: async (owner, wanted) => conversations.search(owner, wanted),
    unusedByCallers: async (wanted) => conversations.unusedByCallers({ ...wanted, now: clock.now() }),
    append: async (batch) => {
      const write = () => group.write(() => append(tables, batch, clock));
      // Looked at where a person's message comes in: from there on it would be acknowledged for nothing.
      return batch.with?.received === undefined ? write() : ifThere(path, opened, write);
    },
    read: async (number, range) => events.read(number, range),
    readBack: async (number, range) => events.readBack(number, range),
    headOf: async (number) => events.head(number),
    onAppend: events.onAppend,
    received: async (number, clientId) => received.find(number, clientId),
    ...leasing(tables, group),
    dueWakes: async (limit) => leases.due(limit),
    async putBlob(number, data) {
      const hash = hashOf(data);
      return group.write(() => {
        const gone = conversations.checkAlive(number);
        if (gone !== undefined) return failed(gone);
        blobs.put(number, hash, data);
        return ok({ hash });
      });
    },
    getBlob: async (number, hash) => blobs.get(number, hash),
    openDecisions: async (owner, limit) => decisions.open(owner, limit),
    ...keeping(tables, group),
    ...filing(tables, group),
    ...running(tables, group),
    ...admitting(tables, group),
    ...doingOnce(tables, group),
    ...unshared,
    copyTo: (target) => ifThere(path, opened, () => copyDatabase(path, target)),
    count: async () => tables.count(),
    // Takes the lock, looks, and finds nothing that old.
    check: () => ifThere(path, opened, () => group.write(() => ok(tables.executions.drop(Number.MIN_SAFE_INTEGER)))),
    close: closing(connections, group),
  };
}

function tablesOn(connections: Connections, clock: Clock): Tables {
  try {
    return openTables(connections, clock);
  } catch (error) {
    closeConnections(connections);
    throw error;
  }
}

function leasing(
  { conversations, leases }: Tables,
  group: GroupCommit,
): Pick<Storage, "claimLease" | "expireLeases" | "renewLease" | "releaseLease"> {
  return {
    claimLease: async (number, holder, ttlMs) =>
      group.write(() => {
        const gone = conversations.checkAlive(number);
        if (gone !== undefined) return failed(gone);
        const lease = leases.claim(number, holder, ttlMs);
        return lease === undefined ? failure("fenced", {}) : ok(lease);
      }),
    async expireLeases() {
      await twice(() => group.write(() => ok(leases.expireAll())));
    },
    renewLease: (number, lease) => twice(() => group.write(() => ok(leases.renew(number, lease)))),
    async releaseLease(number, lease) {
      // When it cannot be written the lease runs out by itself.
      await twice(() => group.write(() => ok(leases.release(number, lease))));
    },
  };
}

type Keeping =
  | ("listRules" | "putRule" | "dropRule")
  | ("listMemory" | "putMemory" | "dropMemory")
  | ("putSecret" | "findSecret" | "listSecrets" | "dropSecret")
  | ("putToolbox" | "dropToolbox" | "dropBoxTools" | "listToolboxes" | "listBoxTools");

function keeping({ rules, memory, secrets, toolboxes }: Tables, group: GroupCommit): Pick<Storage, Keeping> {
  return {
    listRules: async (owner, where) => rules.list(owner, where),
    putRule: async (row) => group.write(() => ok(rules.put(row))),
    dropRule: async (owner, id) => group.write(() => ok(rules.drop(owner, id))),
    listMemory: async (owner, limit) => memory.list(owner, limit),
    putMemory: async (row) => group.write(() => ok(memory.put(row))),
    dropMemory: async (owner, id) => group.write(() => ok(memory.drop(owner, id))),
    putSecret: async (row) => group.write(() => ok(secrets.put(row))),
    findSecret: async (owner, name) => secrets.find(owner, name),
    listSecrets: async (owner, limit) => secrets.list(owner, limit),
    dropSecret: async (owner, name) => group.write(() => ok(secrets.drop(owner, name))),
    putToolbox: async (row, tools) => group.write(() => ok(toolboxes.put(row, tools))),
    dropToolbox: async (owner, id) => group.write(() => ok(toolboxes.drop(owner, id))),
    dropBoxTools: async (owner, box, ids) => group.write(() => ok(toolboxes.dropTools(owner, box, ids))),
    listToolboxes: async (limit) => toolboxes.list(limit),
    listBoxTools: async (limit) => toolboxes.tools(limit),
  };
}

type Filing =
  | "workspaceOf"
  | "findWorkspace"
  | "numberOfFolder"
  | "agentsOf"
  | "updateWorkspace"
  | "unusedWorkspaces"
  | "orphanedWorkspaces"
  | "forgetWorkspace"
  | "putTrash"
  | "listTrash"
  | "findTrash"
  | "expiredTrash"
  | "dropTrash";

function filing({ conversations, workspaces, trash }: Tables, group: GroupCommit): Pick<Storage, Filing> {
  return {
    workspaceOf: async (number, wanted) =>
      group.write(() => {
        const gone = conversations.checkAlive(number);
        return gone === undefined ? ok(workspaces.assign(number, wanted)) : failed(gone);
      }),
    findWorkspace: async (number) => workspaces.find(number),
    numberOfFolder: async (folder) => workspaces.numberOf(folder),
    agentsOf: async (number) => workspaces.agents(number),
    updateWorkspace: async (folder, set) => group.write(() => ok(workspaces.update(folder, set))),
    unusedWorkspaces: async (before, limit, only) => workspaces.unused(before, limit, only),
    orphanedWorkspaces: async (limit) => workspaces.orphaned(limit),
    forgetWorkspace: async (folder) => group.write(() => ok(workspaces.forget(folder))),
    putTrash: async (row) => group.write(() => ok(trash.put(row))),
    listTrash: async (owner, limit) => trash.list(owner, limit),
    findTrash: async (owner, id) => trash.find(owner, id),
    expiredTrash: async (before, limit) => trash.expired(before, limit),
    dropTrash: async (id) => group.write(() => ok(trash.drop(id))),
  };
}

type Running =
  | "putSession"
  | "findSession"
  | "touchSession"
  | "listSessions"
  | "forgetSession"
  | "putExecution"
  | "findExecution"
  | "ownerOfExecution"
  | "listExecutions"
  | "openExecutions"
  | "dropExecutions"
  | "trimExecutions";

function running({ sessions, executions }: Tables, group: GroupCommit): Pick<Storage, Running> {
  return {
    putSession: async (row) => group.write(() => ok(sessions.put(row))),
    findSession: async (owner) => sessions.find(owner),
    touchSession: async (owner, usedAt) => group.write(() => ok(sessions.touch(owner, usedAt))),
    listSessions: async (limit) => sessions.list(limit),
    forgetSession: async (owner) =>
      group.write(() => {
        executions.forget(owner);
        return ok(sessions.forget(owner));
      }),
    putExecution: async (row, { isOnDisk = true } = {}) => group.write(() => ok(executions.put(row)), { isOnDisk }),
    findExecution: async (owner, id) => executions.find(owner, id),
    ownerOfExecution: async (id) => executions.ownerOf(id),
    listExecutions: async (owner, page) => executions.list(owner, page),
    openExecutions: async (limit) => executions.open(limit),
    dropExecutions: async (before) => group.write(() => ok(executions.drop(before))),
    trimExecutions: async (owner, to) => group.write(() => ok(executions.trim(owner, to))),
  };
}

function admitting({ users }: Tables, group: GroupCommit): Omit<UserStorage, "onTold"> {
  return {
    putUser: async (row) => group.write(() => ok(users.put(row))),
    findUser: async (id) => users.find(id),
    findUserBySubject: async (subject) => users.bySubject(subject),
    listUsers: async (limit) => users.list(limit),
    dropUser: async (id) => group.write(() => ok(users.drop(id))),
    ownsAnything: async (owner) => users.ownsAnything(owner),
    putKey: async (row) => group.write(() => ok(users.putKey(row))),
    findKey: async (hash) => users.findKey(hash),
    touchKey: async (hash, usedAt) => group.write(() => ok(users.touchKey(hash, usedAt))),
    listKeys: async (owner) => users.listKeys(owner),
    dropKey: async (owner, id) => group.write(() => ok(users.dropKey(owner, id))),
    putSignIn: async (row) => group.write(() => ok(users.putSignIn(row))),
    findSignIn: async (hash) => users.findSignIn(hash),
    renewSignIn: async (hash, endsAt) => group.write(() => ok(users.renewSignIn(hash, endsAt))),
    dropSignIn: async (hash) => group.write(() => ok(users.dropSignIn(hash))),
    dropSignIns: async (which) => group.write(() => ok(users.dropSignIns(which))),
  };
}

type DoingOnce = "beginOnce" | "endOnce" | "dropOnceBefore";

function doingOnce({ once }: Tables, group: GroupCommit): Pick<Storage, DoingOnce> {
  return {
    beginOnce: async (row) => group.write(() => ok(once.begin(row))),
    endOnce: async (owner, key, answer) => group.write(() => ok(once.end(owner, key, answer))),
    dropOnceBefore: async (at) => group.write(() => ok(once.dropBefore(at))),
  };
}

/** A lease must not be lost because its write shared a transaction with one that found the disk full. */
async function twice<T, F>(attempt: () => Promise<Result<T, F>>): Promise<Result<T, F>> {
  const first = await attempt();
  return first.ok ? first : attempt();
}

function closing(connections: Connections, group: GroupCommit): () => Promise<void> {
  let isClosed = false;
  return async () => {
    if (isClosed) return;
    isClosed = true;
    group.close();
    closeConnections(connections);
  };
}

/** The system lets us write on into a file that was deleted or replaced under our feet; nobody would ever read it. */
function ifThere<T>(
  path: string,
  inode: number,
  write: () => Promise<Result<T, StorageFailure>>,
): Promise<Result<T, StorageFailure>> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.ino === inode) return write();
  return Promise.resolve(failure("storage_broken", { why: "removed" }));
}
