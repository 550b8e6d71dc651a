import { ok } from "../../src/base/result.ts";
import type { ApiKeyRow, SignInRow, UserRow, UserStorage } from "../../src/storage/storage.ts";

/** Where users are kept as long as a test runs. */
export function memoryUsers(owners: ReadonlySet<string> = new Set()): UserStorage {
  const users = new Map<string, UserRow>();
  const keys = new Map<string, ApiKeyRow>();
  const signIns = new Map<string, SignInRow>();
  const done = (_: unknown) => ok(undefined);
  return {
    putUser: async (row) => done(users.set(row.id, row)),
    findUser: async (id) => users.get(id),
    findUserBySubject: async (subject) => [...users.values()].find((row) => row.subject === subject),
    listUsers: async (limit) => [...users.values()].slice(0, limit),
    async dropUser(id) {
      for (const [key, { owner }] of [...keys]) if (owner === id) keys.delete(key);
      for (const [hash, { owner }] of [...signIns]) if (owner === id) signIns.delete(hash);
      return ok(users.delete(id));
    },
    // Of conversations and the like nothing is kept here.
    ownsAnything: async (owner) => owners.has(owner),
    putKey: async (row) => done(keys.set(row.id, row)),
    findKey: async (hash) => [...keys.values()].find((row) => row.hash === hash),
    listKeys: async (owner) => [...keys.values()].filter((row) => row.owner === owner),
    dropKey: async (owner, id) => ok(keys.get(id)?.owner === owner && keys.delete(id)),
    putSignIn: async (row) => done(signIns.set(row.hash, row)),
    findSignIn: async (hash) => signIns.get(hash),
    dropSignIn: async (hash) => ok(signIns.delete(hash)),
    async dropSignIns(which) {
      for (const [hash, { owner, endsAt }] of [...signIns])
        if ("owner" in which ? owner === which.owner : endsAt < which.before) signIns.delete(hash);
      return ok(undefined);
    },
  };
}
