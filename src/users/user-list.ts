import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { OwnerId, shownId } from "../protocol/ids.ts";
import { type Scope, scopes } from "../protocol/route.ts";
import type { User } from "../protocol/user-routes.ts";
import { toldTopics, type UserRow, type UserStorage } from "../storage/storage.ts";
import type { Holds } from "./holds.ts";
import { type Passwords, passwordCharactersMin } from "./passwords.ts";
import type { InTurn, NewUser, UserParts, Users } from "./users.ts";

/** More than an installation of one machine has. */
const listedMax = 10_000;
export type UserList = Pick<Users, "exist" | "list" | "find" | "add" | "remove" | "setPassword" | "isPassword">;
/** `put`: stores one, in turn with others. */
type Kept = { readonly users: UserList; readonly put: PutUser };
export type PutUser = (row: UserRow) => ReturnType<UserStorage["putUser"]>;
type Tools = { readonly passwords: Passwords; readonly inTurn: InTurn; readonly holds: Holds };

export function openUserList({ storage, clock }: UserParts, { passwords, inTurn, holds }: Tools): Kept {
  // That there is nobody is never remembered: another process may add somebody, and from then on all must sign in.
  let known = false;
  storage.onTold(({ topic }) => {
    if (topic === toldTopics.users || topic === toldTopics.gap) known = false;
  });

  async function exist(): Promise<boolean> {
    if (known) return true;
    if ((await storage.listUsers(1)).length > 0) known = true;
    return known;
  }

  const put: PutUser = async (row) => {
    const stored = await storage.putUser(row);
    if (stored.ok) known = true;
    return stored;
  };

  const users: UserList = {
    exist,
    list: async () => (await storage.listUsers(listedMax)).map(toUser),
    async find(id) {
      const row = await findRow(storage, id);
      return row && toUser(row);
    },
    async add({ id, name = "", password, isAdmin, signInAs }: NewUser) {
      const owner = UserId.safeParse(id);
      if (!owner.success) return failure("user_id_unfit", { id: shownId(id) });
      const secret = await hashed(passwords, password);
      if (!secret.ok) return secret;
      return inTurn(async () => {
        if ((await storage.findUser(owner.data)) !== undefined) return failure("user_exists", { id });
        const subject = signInAs && keptFor(signInAs);
        const other = subject && (await storage.findUserBySubject(subject));
        if (other) return failure("sign_in_as_taken", { id: other.id });
        // Whoever comes through a service is an admin only where somebody said so.
        const isFirst = signInAs === undefined && !(await exist());
        const who = { id: owner.data, name, password: secret.value, subject };
        const row = { ...who, isAdmin: isAdmin ?? isFirst, at: clock.now() };
        const stored = await put(row);
        return stored.ok ? ok(toUser(row)) : stored;
      });
    },
    remove: (id) =>
      inTurn(async () => {
        const row = await findRow(storage, id);
        if (row === undefined) return unknownUser(id);
        const dropped = await storage.dropUser(row.id);
        if (!dropped.ok) return dropped;
        holds.endAll(row.id);
        known = (await storage.listUsers(1)).length > 0;
        return ok(row.id);
      }),
    async setPassword(id, password) {
      const secret = await hashed(passwords, password);
      if (!secret.ok) return secret;
      return inTurn(async () => {
        const row = await findRow(storage, id);
        if (row === undefined) return unknownUser(id);
        const stored = await storage.putUser({ ...row, password: secret.value });
        const dropped = stored.ok ? await storage.dropSignIns({ owner: row.id }) : stored;
        if (dropped.ok) holds.end(row.id);
        return dropped;
      });
    },
    isPassword: async (id, password) => passwords.fits(password, (await findRow(storage, id))?.password),
  };
  return { users, put };
}

async function hashed(passwords: Passwords, password: string | undefined) {
  if (password === undefined) return ok(undefined);
  if ([...password].length < passwordCharactersMin)
    return failure("password_unfit", { charactersMin: passwordCharactersMin });
  return passwords.hash(password);
}

/** Names become parts of paths: `..` cannot be one. */
const UserId = OwnerId.refine((id) => !/^\.+$/.test(id));

/**
 * The subject of a user that waits for somebody: letter by letter what the service must say. No issuer begins like
 * it, and an address never counts as a subject: at some services people choose theirs.
 */
export function keptFor(signInAs: string): string {
  return signInAs.includes("@") ? `email ${signInAs}` : `sub ${signInAs}`;
}

export async function findRow(storage: UserStorage, id: string): Promise<UserRow | undefined> {
  const owner = OwnerId.safeParse(id);
  return owner.success ? storage.findUser(owner.data) : undefined;
}

export function unknownUser(id: string) {
  return failure("user_unknown", { id: shownId(id) });
}

export function toUser({ id, name, isAdmin, password, subject, at }: UserRow): User {
  return { id, name, isAdmin, hasPassword: password !== undefined, hasService: subject !== undefined, createdAt: at };
}

/** What a user may do at the most; a key may be for less. */
export function scopesOf({ isAdmin }: Pick<UserRow, "isAdmin">): readonly Scope[] {
  return scopes.filter((scope) => scope !== "admin" || isAdmin);
}
