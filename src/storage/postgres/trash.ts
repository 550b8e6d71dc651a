import { assert } from "../../base/assert.ts";
import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import { trashRow } from "../shapes.ts";
import type { Storage } from "../storage.ts";
import type { Parts } from "./parts.ts";

type Trashing = "putTrash" | "listTrash" | "findTrash" | "expiredTrash" | "dropTrash";

/** Files that were moved away and can come back for a while. */
export function trashing({ reader, lanes }: Parts): Pick<Storage, Trashing> {
  return {
    putTrash: ({ id, owner, number, workspace, folder, movedAt, bytes, files }) =>
      lanes.write(owner, async ({ run }) => {
        const put = await run(putSql, id, workspace, folder, movedAt, bytes, files, number, owner);
        assert(put === 1, "what is in the trash belongs to the owner of its conversation");
        return ok(undefined);
      }),
    listTrash: async (owner, limit) => (await reader.all(listSql, owner, checkLimit(limit))).map(trashRow),
    async findTrash(owner, id) {
      const row = await reader.one(`${selectSql} WHERE trash.id = $1 AND owner = $2 AND deleted_at IS NULL`, id, owner);
      return row === undefined ? undefined : trashRow(row);
    },
    expiredTrash: async (before, limit) => (await reader.all(expiredSql, before, checkLimit(limit))).map(trashRow),
    dropTrash: (id) =>
      lanes.write("trash", async ({ run }) => {
        await run("DELETE FROM trash WHERE id = $1", id);
        return ok(undefined);
      }),
  };
}

const putSql = `INSERT INTO trash (id, number, workspace, folder, moved_at, bytes, files)
  SELECT $1, number, $2, $3, $4, $5, $6 FROM conversation WHERE number = $7 AND owner = $8
  ON CONFLICT (id) DO UPDATE SET number = excluded.number, workspace = excluded.workspace, folder = excluded.folder,
    moved_at = excluded.moved_at, bytes = excluded.bytes, files = excluded.files`;
const selectSql = "SELECT trash.*, owner, conversation.id AS conversation FROM trash JOIN conversation USING (number)";
const listSql = `${selectSql} WHERE owner = $1 AND deleted_at IS NULL
  ORDER BY moved_at DESC, trash.id DESC LIMIT $2`;
const expiredSql = `${selectSql} WHERE moved_at < $1 OR deleted_at IS NOT NULL ORDER BY moved_at, trash.id LIMIT $2`;
