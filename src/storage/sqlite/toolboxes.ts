import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { text } from "../rows.ts";
import { boxRow } from "../shapes.ts";
import type { BoxToolRow, ToolboxRow } from "../storage.ts";

/** Tool boxes with their tools. Writes are done inside a transaction. */
export type Toolboxes = {
  put(row: ToolboxRow, tools: readonly BoxToolRow[]): void;
  drop(owner: OwnerId, id: string): boolean;
  dropTools(owner: OwnerId, box: string, ids: readonly string[]): void;
  list(limit: number): ToolboxRow[];
  tools(limit: number): BoxToolRow[];
};

export function openToolboxes(writer: DatabaseSync, reader: DatabaseSync): Toolboxes {
  const insert = writer.prepare(`INSERT INTO toolbox (id, owner, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
      WHERE toolbox.owner = excluded.owner`);
  const insertTool = writer.prepare(`INSERT INTO toolbox_tool (box, id, owner, body, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (box, id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
      WHERE toolbox_tool.owner = excluded.owner`);
  const remove = writer.prepare("DELETE FROM toolbox WHERE owner = ? AND id = ?");
  const removeTools = writer.prepare("DELETE FROM toolbox_tool WHERE owner = ? AND box = ?");
  const removeTool = writer.prepare("DELETE FROM toolbox_tool WHERE owner = ? AND box = ? AND id = ?");
  const all = reader.prepare("SELECT * FROM toolbox ORDER BY created_at, id LIMIT ?");
  const allTools = reader.prepare("SELECT * FROM toolbox_tool ORDER BY key LIMIT ?");
  return {
    put({ id, owner, body, createdAt, updatedAt }, tools) {
      insert.run(id, owner, body, createdAt, updatedAt);
      for (const tool of tools)
        insertTool.run(tool.box, tool.id, tool.owner, tool.body, tool.createdAt, tool.updatedAt);
    },
    drop(owner, id) {
      removeTools.run(owner, id);
      return remove.run(owner, id).changes === 1;
    },
    dropTools(owner, box, ids) {
      for (const id of ids) removeTool.run(owner, box, id);
    },
    list: (limit) => all.all(checkLimit(limit)).map(boxRow),
    tools: (limit) => allTools.all(checkLimit(limit)).map((row) => ({ ...boxRow(row), box: text(row, "box") })),
  };
}
