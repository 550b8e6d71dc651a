/**
 * A LangGraph checkpoint saver on node:sqlite with durable writes; LangGraph's own SQLite saver needs a native addon
 * that does not load under every Node. Stored as by LangGraph's PostgreSQL saver: a checkpoint without its values, and
 * each version of a channel's value once. Passes LangGraph's validation (`npm run bench engine -- --validate-saver`).
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS checkpoint(
    thread TEXT, namespace TEXT, id TEXT, parent TEXT, kind TEXT NOT NULL, body BLOB NOT NULL,
    metadata_kind TEXT NOT NULL, metadata BLOB NOT NULL, PRIMARY KEY (thread, namespace, id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS channel(
    thread TEXT, namespace TEXT, channel TEXT, version TEXT, kind TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (thread, namespace, channel, version)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS pending(
    thread TEXT, namespace TEXT, id TEXT, task TEXT, position INTEGER, channel TEXT NOT NULL, kind TEXT NOT NULL,
    value BLOB NOT NULL, PRIMARY KEY (thread, namespace, id, task, position)
  ) STRICT;`;

type Key = { thread: string; namespace: string; id: string };
type PartOfKey = { [Part in keyof Key]: string | undefined };
type CheckpointRow = Key & {
  parent: string | null;
  kind: string;
  body: Uint8Array;
  metadata_kind: string;
  metadata: Uint8Array;
};
type ChannelRow = { kind: string; value: Uint8Array };
type PendingRow = { task: string; channel: string; kind: string; value: Uint8Array };

export class NodeSqliteSaver extends BaseCheckpointSaver {
  readonly #database: DatabaseSync;
  readonly #insertCheckpoint;
  readonly #insertChannel;
  readonly #insertPending;
  readonly #replacePending;
  readonly #selectChannel;
  readonly #selectPending;

  constructor(path: string) {
    super();
    const database = new DatabaseSync(path);
    database.exec(schema);
    this.#database = database;
    this.#insertCheckpoint = database.prepare("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#insertChannel = database.prepare("INSERT OR IGNORE INTO channel VALUES (?, ?, ?, ?, ?, ?)");
    this.#insertPending = database.prepare("INSERT OR IGNORE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#replacePending = database.prepare("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#selectChannel = database.prepare(
      "SELECT kind, value FROM channel WHERE thread = ? AND namespace = ? AND channel = ? AND version = ?",
    );
    this.#selectPending = database.prepare(
      "SELECT task, channel, kind, value FROM pending WHERE thread = ? AND namespace = ? AND id = ? ORDER BY task, position",
    );
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const thread: string | undefined = config.configurable?.thread_id;
    if (thread === undefined) return undefined;
    const namespace: string = config.configurable?.checkpoint_ns ?? "";
    const [row] = this.#select({ thread, namespace, id: getCheckpointId(config) || undefined }, { limit: 1 });
    return row && this.#tupleOf(row);
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } = config.configurable ?? {};
    const wanted = Object.entries(options.filter ?? {});
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (const row of this.#select(
      { thread, namespace, id },
      { before: options.before?.configurable?.checkpoint_id },
    )) {
      if (left <= 0) return;
      const tuple = await this.#tupleOf(row);
      const metadata: Record<string, unknown> = { ...tuple.metadata };
      if (!wanted.every(([key, value]) => metadata[key] === value)) continue;
      left -= 1;
      yield tuple;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace, id: parent } = keyOf(config);
    const { channel_values: values, ...rest } = checkpoint;
    const changed = Object.entries(newVersions).filter(([channel]) => channel in values);
    const channelRows = await Promise.all(
      changed.map(async ([channel, version]): Promise<SQLInputValue[]> => {
        const [kind, value] = await this.serde.dumpsTyped(values[channel]);
        return [thread, namespace, channel, String(version), kind, value];
      }),
    );
    const [kind, body] = await this.serde.dumpsTyped(rest);
    const [metadataKind, metadataBody] = await this.serde.dumpsTyped(metadata);
    this.#inTransaction(() => {
      for (const row of channelRows) this.#insertChannel.run(...row);
      this.#insertCheckpoint.run(
        ...[thread, namespace, checkpoint.id, parent || null, kind, body, metadataKind, metadataBody],
      );
    });
    return configOf({ thread, namespace, id: checkpoint.id });
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string): Promise<void> {
    const { thread, namespace, id } = keyOf(config);
    if (id === "") throw new Error("putWrites needs a checkpoint_id");
    const rows = await Promise.all(
      writes.map(async ([channel, value], index): Promise<SQLInputValue[]> => {
        const [kind, body] = await this.serde.dumpsTyped(value);
        return [thread, namespace, id, task, WRITES_IDX_MAP[channel] ?? index, channel, kind, body];
      }),
    );
    // A task's ordinary writes are stored once; its error or interrupt replaces the one before.
    const isSpecial = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const statement = isSpecial ? this.#replacePending : this.#insertPending;
    this.#inTransaction(() => {
      for (const row of rows) statement.run(...row);
    });
  }

  async deleteThread(thread: string): Promise<void> {
    this.#inTransaction(() => {
      for (const table of ["checkpoint", "channel", "pending"]) {
        this.#database.prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread);
      }
    });
  }

  close(): void {
    this.#database.close();
  }

  #inTransaction(write: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      write();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Checkpoints that fit the given parts of a key, newest first. */
  #select(key: PartOfKey, { before, limit = -1 }: { before?: string; limit?: number }): CheckpointRow[] {
    const conditions: [string, string | undefined][] = [
      ["thread = ?", key.thread],
      ["namespace = ?", key.namespace],
      ["id = ?", key.id],
      ["id < ?", before],
    ];
    const used = conditions.filter((condition): condition is [string, string] => condition[1] !== undefined);
    const where = used.map(([sql]) => ` AND ${sql}`).join("");
    const statement = this.#database.prepare(`SELECT * FROM checkpoint WHERE TRUE${where} ORDER BY id DESC LIMIT ?`);
    return statement.all(...used.map(([, value]) => value), limit) as CheckpointRow[];
  }

  async #tupleOf(row: CheckpointRow): Promise<CheckpointTuple> {
    const rest: Omit<Checkpoint, "channel_values"> = await this.serde.loadsTyped(row.kind, row.body);
    const checkpoint: Checkpoint = { ...rest, channel_values: await this.#valuesOf(row, rest.channel_versions) };
    if (checkpoint.v < 4 && row.parent !== null) await this.#addPendingSends(checkpoint, { ...row, id: row.parent });
    const tuple: CheckpointTuple = {
      config: configOf(row),
      checkpoint,
      metadata: await this.serde.loadsTyped(row.metadata_kind, row.metadata),
      pendingWrites: await this.#pendingOf(row),
    };
    if (row.parent !== null) tuple.parentConfig = configOf({ ...row, id: row.parent });
    return tuple;
  }

  async #valuesOf({ thread, namespace }: Key, versions: ChannelVersions): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const [channel, version] of Object.entries(versions)) {
      const row = this.#selectChannel.get(thread, namespace, channel, String(version)) as ChannelRow | undefined;
      if (row !== undefined) values[channel] = await this.serde.loadsTyped(row.kind, row.value);
    }
    return values;
  }

  #pendingOf({ thread, namespace, id }: Key): Promise<[string, string, unknown][]> {
    const rows = this.#selectPending.all(thread, namespace, id) as PendingRow[];
    return Promise.all(
      rows.map(async ({ task, channel, kind, value }) => [task, channel, await this.serde.loadsTyped(kind, value)]),
    );
  }

  /** Before version 4 of the format the tasks a checkpoint sent were kept as writes of its parent. */
  async #addPendingSends(checkpoint: Checkpoint, parent: Key): Promise<void> {
    const sends = (await this.#pendingOf(parent)).filter(([, channel]) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sends.map(([, , value]) => value);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

function keyOf(config: RunnableConfig): Key {
  const thread: string | undefined = config.configurable?.thread_id;
  if (thread === undefined) throw new Error("a checkpoint needs a thread_id");
  return { thread, namespace: config.configurable?.checkpoint_ns ?? "", id: config.configurable?.checkpoint_id ?? "" };
}

function configOf({ thread, namespace, id }: Key): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } };
}
