import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import type { Row } from "../rows.ts";
import { keyRow, signInRow, userRow } from "../shapes.ts";
import type { UserStorage } from "../storage.ts";
import type { Parts } from "./parts.ts";

type Users = "putUser" | "findUser" | "findUserBySubject" | "listUsers" | "dropUser" | "ownsAnything";
type Keys = "putKey" | "findKey" | "listKeys" | "dropKey";
type SignIns = "putSignIn" | "findSignIn" | "dropSignIn" | "dropSignIns";

/** Who may call, with what. */
export function admitting(parts: Parts): UserStorage {
  return { ...people(parts), ...keys(parts), ...signIns(parts) };
}

function people({ reader, lanes }: Parts): Pick<UserStorage, Users> {
  return {
    putUser: ({ id, name, password, isAdmin, subject, at }) =>
      lanes.write(id, async ({ run }) => {
        await run(putUserSql, id, name, password, Number(isAdmin), subject, at);
        return ok(undefined);
      }),
    findUser: async (id) => optional(await reader.one('SELECT * FROM "user" WHERE id = $1', id), userRow),
    findUserBySubject: async (subject) =>
      optional(await reader.one('SELECT * FROM "user" WHERE subject = $1', subject), userRow),
    listUsers: async (limit) =>
      (await reader.all('SELECT * FROM "user" ORDER BY key LIMIT $1', checkLimit(limit))).map(userRow),
    dropUser: (id) =>
      lanes.write(id, async ({ run }) => {
        for (const table of ["api_key", "sign_in", "secret"]) await run(`DELETE FROM ${table} WHERE owner = $1`, id);
        return ok((await run('DELETE FROM "user" WHERE id = $1', id)) === 1);
      }),
    ownsAnything: async (owner) => (await reader.one(ownsSql, owner))?.owns === true,
  };
}

function keys({ reader, lanes }: Parts): Pick<UserStorage, Keys> {
  return {
    putKey: ({ id, owner, name, hash, shown, scopes, at, usedAt, endsAt }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putKeySql, id, owner, name, hash, shown, scopes.join(" "), at, usedAt, endsAt);
        return ok(undefined);
      }),
    findKey: async (hash) => optional(await reader.one("SELECT * FROM api_key WHERE hash = $1", hash), keyRow),
    listKeys: async (owner) =>
      (await reader.all("SELECT * FROM api_key WHERE owner = $1 ORDER BY at, id", owner)).map(keyRow),
    dropKey: (owner, id) =>
      lanes.write(owner, async ({ run }) =>
        ok((await run("DELETE FROM api_key WHERE owner = $1 AND id = $2", owner, id)) === 1),
      ),
  };
}

function signIns({ reader, lanes }: Parts): Pick<UserStorage, SignIns> {
  return {
    putSignIn: ({ hash, owner, kind, at, endsAt }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putSignInSql, hash, owner, kind, at, endsAt);
        return ok(undefined);
      }),
    findSignIn: async (hash) => optional(await reader.one("SELECT * FROM sign_in WHERE hash = $1", hash), signInRow),
    dropSignIn: (hash) =>
      lanes.write(`sign-in ${hash}`, async ({ run }) =>
        ok((await run("DELETE FROM sign_in WHERE hash = $1", hash)) === 1),
      ),
    dropSignIns: (which) =>
      lanes.write("owner" in which ? which.owner : "sign-ins", async ({ run }) => {
        if ("owner" in which) await run("DELETE FROM sign_in WHERE owner = $1", which.owner);
        else await run("DELETE FROM sign_in WHERE ends_at < $1", which.before);
        return ok(undefined);
      }),
  };
}

function optional<T>(row: Row | undefined, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row);
}

const putUserSql = `INSERT INTO "user" (id, name, password, is_admin, subject, at) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, password = excluded.password,
    is_admin = excluded.is_admin, subject = excluded.subject`;
const owning = ["conversation", "sandbox_session", "execution", "rule", "memory", "secret", "toolbox"];
const ownsSql = `SELECT ${owning.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE owner = $1)`).join(" OR ")} AS owns`;
const putKeySql = `INSERT INTO api_key (id, owner, name, hash, shown, scopes, at, used_at, ends_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET name = excluded.name,
    scopes = excluded.scopes, used_at = excluded.used_at, ends_at = excluded.ends_at
  WHERE api_key.owner = excluded.owner`;
const putSignInSql = `INSERT INTO sign_in (hash, owner, kind, at, ends_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (hash) DO UPDATE SET owner = excluded.owner, kind = excluded.kind, at = excluded.at,
    ends_at = excluded.ends_at`;
