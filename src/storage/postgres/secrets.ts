import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import { bytes } from "../rows.ts";
import { secretNote } from "../shapes.ts";
import type { SecretStorage } from "../storage.ts";
import type { Parts } from "./parts.ts";

/** Sealed values of users. */
export function sealing({ reader, lanes }: Parts): SecretStorage {
  return {
    putSecret: ({ owner, name, sealed, createdAt, updatedAt }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putSql, owner, name, sealed, createdAt, updatedAt);
        return ok(undefined);
      }),
    async findSecret(owner, name) {
      const row = await reader.one("SELECT * FROM secret WHERE owner = $1 AND name = $2", owner, name);
      return row === undefined ? undefined : { ...secretNote(row), sealed: new Uint8Array(bytes(row, "sealed")) };
    },
    listSecrets: async (owner, limit) => (await reader.all(listSql, owner, checkLimit(limit))).map(secretNote),
    dropSecret: (owner, name) =>
      lanes.write(owner, async ({ run }) =>
        ok((await run("DELETE FROM secret WHERE owner = $1 AND name = $2", owner, name)) === 1),
      ),
  };
}

const putSql = `INSERT INTO secret (owner, name, sealed, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`;
const listSql = "SELECT owner, name, created_at, updated_at FROM secret WHERE owner = $1 ORDER BY name LIMIT $2";
