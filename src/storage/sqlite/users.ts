import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import type { Row } from "../rows.ts";
import { keyRow, signInRow, userRow } from "../shapes.ts";
import type { ApiKeyRow, SignInRow, UserRow } from "../storage.ts";

/** Who may call, with what. Writes are done inside a transaction. */
export type Users = {
  put(row: UserRow): void;
  find(id: OwnerId): UserRow | undefined;
  bySubject(subject: string): UserRow | undefined;
  list(limit: number): UserRow[];
  drop(id: OwnerId): boolean;
  ownsAnything(owner: OwnerId): boolean;
  putKey(row: ApiKeyRow): void;
  findKey(hash: string): ApiKeyRow | undefined;
  touchKey(hash: string, usedAt: number): void;
  listKeys(owner: OwnerId): ApiKeyRow[];
  dropKey(owner: OwnerId, id: string): boolean;
  putSignIn(row: SignInRow): void;
  findSignIn(hash: string): SignInRow | undefined;
  renewSignIn(hash: string, endsAt: number): boolean;
  dropSignIn(hash: string): boolean;
  dropSignIns(which: { readonly owner: OwnerId } | { readonly before: number }): void;
};

export function openUsers(writer: DatabaseSync, reader: DatabaseSync): Users {
  return { ...people(writer, reader), ...keys(writer, reader), ...signIns(writer, reader) };
}

function people(
  writer: DatabaseSync,
  reader: DatabaseSync,
): Pick<Users, "put" | "find" | "bySubject" | "list" | "drop" | "ownsAnything"> {
  const insert = writer.prepare(`INSERT INTO user (id, name, password, is_admin, subject, at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, password = excluded.password,
      is_admin = excluded.is_admin, subject = excluded.subject`);
  const remove = writer.prepare("DELETE FROM user WHERE id = ?");
  const theirs = ["api_key", "sign_in", "secret"].map((table) =>
    writer.prepare(`DELETE FROM ${table} WHERE owner = ?`),
  );
  const one = reader.prepare("SELECT * FROM user WHERE id = ?");
  const known = reader.prepare("SELECT * FROM user WHERE subject = ?");
  const all = reader.prepare("SELECT * FROM user ORDER BY key LIMIT ?");
  const left = ["conversation", "sandbox_session", "execution", "rule", "memory", "secret", "toolbox"].map((table) =>
    reader.prepare(`SELECT 1 FROM ${table} WHERE owner = ? LIMIT 1`),
  );
  return {
    put({ id, name, password = null, isAdmin, subject = null, at }) {
      insert.run(id, name, password, Number(isAdmin), subject, at);
    },
    find: (id) => optional(one.get(id), userRow),
    bySubject: (subject) => optional(known.get(subject), userRow),
    list: (limit) => all.all(checkLimit(limit)).map(userRow),
    drop(id) {
      for (const statement of theirs) statement.run(id);
      return remove.run(id).changes === 1;
    },
    ownsAnything: (owner) => left.some((statement) => statement.get(owner) !== undefined),
  };
}

function keys(
  writer: DatabaseSync,
  reader: DatabaseSync,
): Pick<Users, "putKey" | "findKey" | "touchKey" | "listKeys" | "dropKey"> {
  const insert = writer.prepare(`INSERT INTO api_key (id, owner, name, hash, shown, scopes, at, used_at, ends_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes,
      used_at = excluded.used_at, ends_at = excluded.ends_at WHERE api_key.owner = excluded.owner`);
  const used = writer.prepare("UPDATE api_key SET used_at = ? WHERE hash = ?");
  const remove = writer.prepare("DELETE FROM api_key WHERE owner = ? AND id = ?");
  const hashed = reader.prepare("SELECT * FROM api_key WHERE hash = ?");
  const owned = reader.prepare("SELECT * FROM api_key WHERE owner = ? ORDER BY at, id");
  return {
    putKey({ id, owner, name, hash, shown, scopes, at, usedAt = null, endsAt = null }) {
      insert.run(id, owner, name, hash, shown, scopes.join(" "), at, usedAt, endsAt);
    },
    findKey: (hash) => optional(hashed.get(hash), keyRow),
    touchKey(hash, usedAt) {
      used.run(usedAt, hash);
    },
    listKeys: (owner) => owned.all(owner).map(keyRow),
    dropKey: (owner, id) => remove.run(owner, id).changes === 1,
  };
}

function signIns(
  writer: DatabaseSync,
  reader: DatabaseSync,
): Pick<Users, "putSignIn" | "findSignIn" | "renewSignIn" | "dropSignIn" | "dropSignIns"> {
  const insert = writer.prepare(
    "INSERT OR REPLACE INTO sign_in (hash, owner, kind, at, ends_at) VALUES (?, ?, ?, ?, ?)",
  );
  const later = writer.prepare("UPDATE sign_in SET ends_at = ? WHERE hash = ?");
  const remove = writer.prepare("DELETE FROM sign_in WHERE hash = ?");
  const removeOwned = writer.prepare("DELETE FROM sign_in WHERE owner = ?");
  const removeOld = writer.prepare("DELETE FROM sign_in WHERE ends_at < ?");
  const one = reader.prepare("SELECT * FROM sign_in WHERE hash = ?");
  return {
    putSignIn({ hash, owner, kind, at, endsAt }) {
      insert.run(hash, owner, kind, at, endsAt);
    },
    findSignIn: (hash) => optional(one.get(hash), signInRow),
    renewSignIn: (hash, endsAt) => later.run(endsAt, hash).changes === 1,
    dropSignIn: (hash) => remove.run(hash).changes === 1,
    dropSignIns(which) {
      if ("owner" in which) removeOwned.run(which.owner);
      else removeOld.run(which.before);
    },
  };
}

function optional<T>(row: Row | undefined, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row);
}
