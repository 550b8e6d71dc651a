import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import { bytes } from "../rows.ts";
import { secretNote } from "../shapes.ts";
import { type SecretStorage, toldTopics } from "../storage.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

/** Sealed values of users. */
export function sealing({ reader, lanes, announce }: Parts): SecretStorage {
  const told = (query: Query, name: string) => announce(query, { topic: toldTopics.secrets, key: name.slice(0, 200) });
  return {
    putSecret: ({ owner, name, sealed, createdAt, updatedAt }) =>
      lanes.write(owner, async (query) => {
        await query.run(putSql, owner, name, sealed, createdAt, updatedAt);
        await told(query, name);
        return ok(undefined);
      }),
    async findSecret(owner, name) {
      const row = await reader.one("SELECT * FROM secret WHERE owner = $1 AND name = $2", owner, name);
      return row === undefined ? undefined : { ...secretNote(row), sealed: new Uint8Array(bytes(row, "sealed")) };
    },
    listSecrets: async (owner, limit) => (await reader.all(listSql, owner, checkLimit(limit))).map(secretNote),
    dropSecret: (owner, name) =>
      lanes.write(owner, async (query) => {
        await told(query, name);
        return ok((await query.run("DELETE FROM secret WHERE owner = $1 AND name = $2", owner, name)) === 1);
      }),
  };
}

const putSql = `INSERT INTO secret (owner, name, sealed, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`;
const listSql = "SELECT owner, name, created_at, updated_at FROM secret WHERE owner = $1 ORDER BY name LIMIT $2";
