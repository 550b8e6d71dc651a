import { assert } from "../../base/assert.ts";
import { failed, ok } from "../../base/result.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer } from "../rows.ts";
import { agentRow, workspaceRow } from "../shapes.ts";
import type { SideRows, Storage } from "../storage.ts";
import { lockLog, notFound } from "./event-rows.ts";
import { isFree, moment } from "./moment.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

type Filing =
  | ("workspaceOf" | "findWorkspace" | "numberOfFolder" | "agentsOf" | "updateWorkspace")
  | ("unusedWorkspaces" | "orphanedWorkspaces" | "forgetWorkspace");

/** Which folders belong to which conversations and tasks, and the agents that share them. */
export function filing({ reader, lanes, now }: Parts): Pick<Storage, Filing> {
  return {
    workspaceOf: (number, wanted) =>
      lanes.write(number, async (transaction) => {
        if ((await lockLog(transaction, number)) === undefined) return failed(await notFound(transaction, number));
        return ok(await assign(transaction, number, wanted));
      }),
    async findWorkspace(number) {
      const row = await reader.one(findSql, checkNumber(number));
      return row === undefined ? undefined : workspaceRow(row);
    },
    async numberOfFolder(folder) {
      const row = await reader.one("SELECT number FROM workspace WHERE folder = $1", folder);
      return row === undefined ? undefined : integer(row, "number");
    },
    agentsOf: async (number) => (await reader.all(agentsSql, checkNumber(number))).map(agentRow),
    updateWorkspace: (folder, { madeAt, usedAt, cleanedAt }) =>
      lanes.write(`folder ${folder}`, async ({ run }) => {
        await run(updateSql, folder, madeAt, usedAt, cleanedAt !== undefined, cleanedAt);
        return ok(undefined);
      }),
    async unusedWorkspaces(before, limit, { owner, folder } = {}) {
      const rows = await reader.all(unusedSql, before, now(), owner, folder, checkLimit(limit));
      return rows.map(workspaceRow);
    },
    orphanedWorkspaces: async (limit) => (await reader.all(orphanedSql, checkLimit(limit))).map(workspaceRow),
    forgetWorkspace: (folder) =>
      lanes.write(`folder ${folder}`, async ({ run }) => {
        await run(forgetSql, folder);
        return ok(undefined);
      }),
  };
}

async function assign(query: Query, number: number, wanted: Parameters<Storage["workspaceOf"]>[1]) {
  const { folder, otherFolder, at } = wanted;
  const found = await query.one(findSql, number);
  if (found !== undefined) return workspaceRow(found);
  // Counting first is a lock, too: of two conversations that want one name the second sees that it is taken.
  const ordinal = await nextOrdinal(query);
  await query.run(assignSql, number, folder, otherFolder, at, ordinal);
  const made = await query.one(findSql, number);
  assert(made !== undefined, "a living conversation has the workspace that was made for it");
  return workspaceRow(made);
}

export async function addAgents(
  query: Query,
  number: number,
  agents: NonNullable<SideRows["agents"]>,
  at: number | null,
): Promise<void> {
  for (const { id, parent, folder } of agents) {
    const isNew = (await query.run(agentSql, number, id, parent)) === 1;
    if (isNew && folder !== undefined) await query.run(taskSql, folder, number, id, at, await nextOrdinal(query));
  }
}

async function nextOrdinal(query: Query): Promise<number> {
  const row = await query.one("UPDATE counter SET last = last + 1 WHERE name = 'workspace' RETURNING last");
  return integer(row ?? {}, "last");
}

const findSql = `SELECT workspace.*, owner FROM workspace JOIN conversation USING (number)
  WHERE number = $1 AND kind = 'conversation' AND deleted_at IS NULL`;
const assignSql = `INSERT INTO workspace (folder, number, kind, id, created_at, used_at, ordinal)
  SELECT CASE WHEN EXISTS (SELECT 1 FROM workspace WHERE folder = $2) THEN $3 ELSE $2 END,
    number, 'conversation', id, $4, $4, $5 FROM conversation WHERE number = $1`;
const agentSql = "INSERT INTO agent (number, id, parent) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING";
const taskSql = `INSERT INTO workspace (folder, number, kind, id, created_at, used_at, ordinal)
  VALUES ($1, $2, 'task', $3, ${moment(4)}, ${moment(4)}, $5)`;
const updateSql = `UPDATE workspace SET made_at = coalesce($2, made_at),
    used_at = greatest(used_at, coalesce($3, used_at)),
    cleaned_at = CASE WHEN $4 THEN $5 ELSE cleaned_at END WHERE folder = $1`;
// Its name may have been given to somebody else since it was found: what is in use is never forgotten.
const forgetSql = `DELETE FROM workspace WHERE folder = $1
  AND EXISTS (SELECT 1 FROM conversation WHERE number = workspace.number AND deleted_at IS NOT NULL)`;
const agentsSql = `SELECT agent.id AS agent, agent.parent, workspace.*, owner
  FROM agent JOIN conversation USING (number)
  LEFT JOIN workspace ON workspace.number = agent.number AND kind = 'task' AND workspace.id = agent.id
  WHERE agent.number = $1 ORDER BY agent.key`;
const unusedSql = `SELECT workspace.*, owner
  FROM workspace JOIN conversation USING (number) JOIN log USING (number)
  WHERE made_at IS NOT NULL AND cleaned_at IS NULL AND used_at < $1
    AND updated_at < $1 AND deleted_at IS NULL AND ${isFree(2)}
    AND ($3::text IS NULL OR owner = $3) AND ($4::text IS NULL OR folder = $4)
    AND NOT EXISTS (SELECT 1 FROM wake WHERE wake.number = workspace.number)
    AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.number = workspace.number)
  ORDER BY used_at, folder LIMIT $5`;
const orphanedSql = `SELECT workspace.*, owner FROM workspace JOIN conversation USING (number)
  WHERE deleted_at IS NOT NULL ORDER BY number, kind, workspace.id LIMIT $1`;
