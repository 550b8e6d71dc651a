import { ok } from "../../base/result.ts";
import { checkLimit } from "../checks.ts";
import { type Row, text } from "../rows.ts";
import { keyRow, signInRow, userRow } from "../shapes.ts";
import { toldTopics, type UserStorage } from "../storage.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

type Users = "putUser" | "findUser" | "findUserBySubject" | "listUsers" | "dropUser" | "ownsAnything";
type Keys = "putKey" | "findKey" | "touchKey" | "listKeys" | "dropKey";
type SignIns = "putSignIn" | "findSignIn" | "renewSignIn" | "dropSignIn" | "dropSignIns";

/** Who may call, with what. */
export function admitting(parts: Parts): Omit<UserStorage, "onTold"> {
  return { ...people(parts), ...keys(parts), ...signIns(parts) };
}

function people({ reader, lanes, announce }: Parts): Pick<UserStorage, Users> {
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
      lanes.write(id, async (query) => {
        const { run } = query;
        await announce(query, { topic: toldTopics.users, key: id });
        await announce(query, { topic: toldTopics.signedOut, key: `${id} *` });
        for (const table of ["api_key", "sign_in", "secret"]) await run(`DELETE FROM ${table} WHERE owner = $1`, id);
        return ok((await run('DELETE FROM "user" WHERE id = $1', id)) === 1);
      }),
    ownsAnything: async (owner) => (await reader.one(ownsSql, owner))?.owns === true,
  };
}

function keys({ reader, lanes, announce }: Parts): Pick<UserStorage, Keys> {
  return {
    putKey: ({ id, owner, name, hash, shown, scopes, at, usedAt, endsAt }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putKeySql, id, owner, name, hash, shown, scopes.join(" "), at, usedAt, endsAt);
        return ok(undefined);
      }),
    findKey: async (hash) => optional(await reader.one("SELECT * FROM api_key WHERE hash = $1", hash), keyRow),
    touchKey: (hash, usedAt) =>
      lanes.write(`key ${hash}`, async ({ run }) => {
        await run("UPDATE api_key SET used_at = $2 WHERE hash = $1", hash, usedAt);
        return ok(undefined);
      }),
    listKeys: async (owner) =>
      (await reader.all("SELECT * FROM api_key WHERE owner = $1 ORDER BY at, id", owner)).map(keyRow),
    dropKey: (owner, id) =>
      lanes.write(owner, async (query) => {
        const wasThere = (await query.run("DELETE FROM api_key WHERE owner = $1 AND id = $2", owner, id)) === 1;
        if (wasThere) await announce(query, { topic: toldTopics.signedOut, key: `${owner} ${id}` });
        return ok(wasThere);
      }),
  };
}

function signIns({ reader, lanes, announce }: Parts): Pick<UserStorage, SignIns> {
  const signedOut = (query: Query, owner: string) => announce(query, { topic: toldTopics.signedOut, key: `${owner} ` });
  return {
    putSignIn: ({ hash, owner, kind, at, endsAt }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putSignInSql, hash, owner, kind, at, endsAt);
        return ok(undefined);
      }),
    findSignIn: async (hash) => optional(await reader.one("SELECT * FROM sign_in WHERE hash = $1", hash), signInRow),
    renewSignIn: (hash, endsAt) =>
      lanes.write(`sign-in ${hash}`, async ({ run }) =>
        ok((await run("UPDATE sign_in SET ends_at = $2 WHERE hash = $1", hash, endsAt)) === 1),
      ),
    dropSignIn: (hash) =>
      lanes.write(`sign-in ${hash}`, async (query) => {
        const row = await query.one("DELETE FROM sign_in WHERE hash = $1 RETURNING owner, kind", hash);
        if (row?.kind === "cookie") await signedOut(query, text(row, "owner"));
        return ok(row !== undefined);
      }),
    dropSignIns: (which) =>
      lanes.write("owner" in which ? which.owner : "sign-ins", async (query) => {
        if ("before" in which) await query.run("DELETE FROM sign_in WHERE ends_at < $1", which.before);
        else {
          await query.run("DELETE FROM sign_in WHERE owner = $1", which.owner);
          await signedOut(query, which.owner);
        }
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
