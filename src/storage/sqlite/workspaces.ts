import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer } from "../rows.ts";
import { agentRow, workspaceRow } from "../shapes.ts";
import type { AgentRow, SideRows, Storage, WorkspaceRow } from "../storage.ts";
import { isFree } from "./leases.ts";

/** Which folders belong to which conversations and tasks, and the agents that share them. */
export type Workspaces = {
  /** Inside a transaction, as are `addAgents`, `update` and `forget`. The conversation is alive. */
  assign(number: number, wanted: Parameters<Storage["workspaceOf"]>[1]): WorkspaceRow;
  addAgents(number: number, agents: NonNullable<SideRows["agents"]>, at: number): void;
  update(folder: string, set: Parameters<Storage["updateWorkspace"]>[1]): void;
  forget(folder: string): void;
  find(number: number): WorkspaceRow | undefined;
  numberOf(folder: string): number | undefined;
  agents(number: number): AgentRow[];
  unused(
    before: number,
    limit: number,
    only?: { owner?: string | undefined; folder?: string | undefined },
  ): WorkspaceRow[];
  orphaned(limit: number): WorkspaceRow[];
};

export function openWorkspaces(writer: DatabaseSync, reader: DatabaseSync, clock: Clock): Workspaces {
  const { written, count, insert, insertAgent, insertTask, set, remove } = prepareWrites(writer);
  const { one, numbered, agents, unused, orphaned } = prepareReads(reader);
  const nextOrdinal = () => integer(count.get() ?? {}, "last");

  return {
    assign(number, { folder, otherFolder, at }) {
      const found = written.get(checkNumber(number));
      if (found !== undefined) return workspaceRow(found);
      insert.run({ number, folder, otherFolder, at, ordinal: nextOrdinal() });
      const made = written.get(number);
      assert(made !== undefined, "a living conversation has the workspace that was made for it");
      return workspaceRow(made);
    },
    addAgents(number, made, at) {
      for (const { id, parent, folder } of made) {
        const isNew = insertAgent.run(number, id, parent).changes === 1;
        if (isNew && folder !== undefined) insertTask.run(folder, number, id, at, at, nextOrdinal());
      }
    },
    update(folder, { madeAt = null, usedAt = null, cleanedAt }) {
      const setsCleaned = cleanedAt === undefined ? 0 : 1;
      set.run({ folder, madeAt, usedAt, setsCleaned, cleanedAt: cleanedAt ?? null });
    },
    forget(folder) {
      remove.run(folder);
    },
    find(number) {
      const row = one.get(checkNumber(number));
      return row === undefined ? undefined : workspaceRow(row);
    },
    numberOf(folder) {
      const row = numbered.get(folder);
      return row === undefined ? undefined : integer(row, "number");
    },
    agents: (number) => agents.all(checkNumber(number)).map(agentRow),
    unused: (before, limit, { owner = null, folder = null } = {}) =>
      unused.all({ before, now: clock.now(), limit: checkLimit(limit), owner, folder }).map((row) => workspaceRow(row)),
    orphaned: (limit) => orphaned.all(checkLimit(limit)).map((row) => workspaceRow(row)),
  };
}

const findSql = `SELECT workspace.*, owner FROM workspace JOIN conversation USING (number)
  WHERE number = ? AND kind = 'conversation' AND deleted_at IS NULL`;

function prepareWrites(writer: DatabaseSync) {
  return {
    written: writer.prepare(findSql),
    count: writer.prepare("UPDATE counter SET last = last + 1 WHERE name = 'workspace' RETURNING last"),
    insert: writer.prepare(`INSERT INTO workspace (folder, number, kind, id, created_at, used_at, ordinal)
      SELECT iif(EXISTS (SELECT 1 FROM workspace WHERE folder = :folder), :otherFolder, :folder),
        number, 'conversation', id, :at, :at, :ordinal
      FROM conversation WHERE number = :number`),
    insertAgent: writer.prepare(`INSERT INTO agent (number, id, parent) VALUES (?, ?, ?)
      ON CONFLICT (id) DO NOTHING`),
    insertTask: writer.prepare(`INSERT INTO workspace (folder, number, kind, id, created_at, used_at, ordinal)
      VALUES (?, ?, 'task', ?, ?, ?, ?)`),
    set: writer.prepare(`UPDATE workspace SET made_at = coalesce(:madeAt, made_at),
      used_at = max(used_at, coalesce(:usedAt, used_at)),
      cleaned_at = iif(:setsCleaned, :cleanedAt, cleaned_at) WHERE folder = :folder`),
    // Its name may have been given to somebody else since it was found: what is in use is never forgotten.
    remove: writer.prepare(`DELETE FROM workspace WHERE folder = ?
      AND EXISTS (SELECT 1 FROM conversation WHERE number = workspace.number AND deleted_at IS NOT NULL)`),
  };
}

function prepareReads(reader: DatabaseSync) {
  return {
    one: reader.prepare(findSql),
    numbered: reader.prepare("SELECT number FROM workspace WHERE folder = ?"),
    agents: reader.prepare(`SELECT agent.id AS agent, agent.parent, workspace.*, owner
      FROM agent JOIN conversation USING (number)
      LEFT JOIN workspace ON workspace.number = agent.number AND kind = 'task' AND workspace.id = agent.id
      WHERE agent.number = ? ORDER BY agent.key`),
    unused: reader.prepare(`SELECT workspace.*, owner
      FROM workspace JOIN conversation USING (number) LEFT JOIN lease USING (number)
      WHERE made_at IS NOT NULL AND cleaned_at IS NULL AND used_at < :before
        AND updated_at < :before AND deleted_at IS NULL AND ${isFree}
        AND coalesce(:owner, owner) = owner AND coalesce(:folder, folder) = folder
        AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = workspace.number)
        AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.number = workspace.number)
      ORDER BY used_at, folder LIMIT :limit`),
    orphaned: reader.prepare(`SELECT workspace.*, owner FROM workspace JOIN conversation USING (number)
      WHERE deleted_at IS NOT NULL ORDER BY number, kind, workspace.id LIMIT ?`),
  };
}
