import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import { text } from "../rows.ts";
import { boxRow } from "../shapes.ts";
import { type ToolboxStorage, toldTopics } from "../storage.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

/** Tool boxes with their tools. */
export function boxing({ reader, lanes, announce }: Parts): Omit<ToolboxStorage, "onTold"> {
  const told = (query: Query, key: string) => announce(query, { topic: toldTopics.toolboxes, key });
  return {
    putToolbox: ({ id, owner, body, createdAt, updatedAt }, tools) =>
      lanes.write(owner, async (query) => {
        const { run } = query;
        await run(putSql, id, owner, body, createdAt, updatedAt);
        for (const tool of tools)
          await run(putToolSql, tool.box, tool.id, tool.owner, tool.body, tool.createdAt, tool.updatedAt);
        await told(query, id);
        return ok(undefined);
      }),
    dropToolbox: (owner, id) =>
      lanes.write(owner, async (query) => {
        const { run } = query;
        await run("DELETE FROM toolbox_tool WHERE owner = $1 AND box = $2", owner, id);
        await told(query, id);
        return ok((await run("DELETE FROM toolbox WHERE owner = $1 AND id = $2", owner, id)) === 1);
      }),
    dropBoxTools: (owner, box, ids) =>
      lanes.write(owner, async (query) => {
        await query.run(dropToolsSql, owner, box, ids);
        await told(query, box);
        return ok(undefined);
      }),
    listToolboxes: async (limit) =>
      (await reader.all("SELECT * FROM toolbox ORDER BY created_at, id LIMIT $1", checkLimit(limit))).map(boxRow),
    async listBoxTools(limit) {
      const rows = await reader.all("SELECT * FROM toolbox_tool ORDER BY key LIMIT $1", checkLimit(limit));
      return rows.map((row) => ({ ...boxRow(row), box: text(row, "box") }));
    },
  };
}

const dropToolsSql = "DELETE FROM toolbox_tool WHERE owner = $1 AND box = $2 AND id = ANY ($3::text[])";
const putSql = `INSERT INTO toolbox (id, owner, body, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
    WHERE toolbox.owner = excluded.owner`;
const putToolSql = `INSERT INTO toolbox_tool (box, id, owner, body, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (box, id) DO UPDATE
    SET body = excluded.body, updated_at = excluded.updated_at WHERE toolbox_tool.owner = excluded.owner`;
