import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { shownId } from "../protocol/ids.ts";
import { type Scope, scopes } from "../protocol/route.ts";
import { type ApiKey, userLimits } from "../protocol/user-routes.ts";
import type { ApiKeyRow } from "../storage/storage.ts";
import type { Holds } from "./holds.ts";
import { hashOf, newSecret } from "./secrets.ts";
import { findRow, scopesOf, unknownUser } from "./user-list.ts";
import type { InTurn, UserParts, Users } from "./users.ts";

/** Every key of ours begins so: scanners for lost secrets know it by that. */
const prefix = "ay_";
const keyForm = /^ay_[A-Za-z0-9_-]{43}$/;
const shownCharacters = 7;
/** The last use is for people to see which keys are dead, so it need not be written at each one. */
const usedNotedEveryMs = 600_000;
type Keys = Pick<Users, "keys" | "addKey" | "removeKey" | "byKey">;
type Tools = { readonly inTurn: InTurn; readonly holds: Holds };

export function openKeys({ storage, clock, ids }: UserParts, { inTurn, holds }: Tools): Keys {
  return {
    async keys(id) {
      const user = await findRow(storage, id);
      return user === undefined
        ? unknownUser(id)
        : ok((await storage.listKeys(user.id)).map((row) => toKey(row, clock.now())));
    },
    addKey: (id, { id: keyId, name, scopes: wanted, endsAt }) =>
      inTurn(async () => {
        const user = await findRow(storage, id);
        if (user === undefined) return unknownUser(id);
        const key = `${prefix}${newSecret(ids)}`;
        const may = scopes.filter((scope) => wanted.includes(scope));
        const shown = key.slice(0, shownCharacters);
        const times = { at: clock.now(), usedAt: undefined, endsAt };
        const row = { id: keyId, owner: user.id, name, hash: hashOf(key), shown, scopes: may, ...times };
        // A repeated call never saw its key: the one from before is of no use to anybody.
        const dropped = await storage.dropKey(user.id, keyId);
        if (!dropped.ok) return dropped;
        const { keysMax } = userLimits;
        if ((await storage.listKeys(user.id)).length >= keysMax) return failure("keys_full", { max: keysMax });
        const stored = await storage.putKey(row);
        return stored.ok ? ok({ ...toKey(row, clock.now()), key }) : stored;
      }),
    removeKey: (id, key) =>
      inTurn(async () => {
        const user = await findRow(storage, id);
        if (user === undefined) return unknownUser(id);
        const dropped = await storage.dropKey(user.id, key);
        if (!dropped.ok) return dropped;
        holds.end(user.id, key);
        return dropped.value ? ok(undefined) : failure("key_not_found", { id: shownId(key) });
      }),
    async byKey(key) {
      if (!keyForm.test(key)) return undefined;
      const row = await storage.findKey(hashOf(key));
      const now = clock.now();
      if (row === undefined || hasEnded(row, now)) return undefined;
      // Before anything else is asked: what is taken away meanwhile is heard of.
      const taken = holds.under(row.owner, row.id, row.endsAt);
      const user = await storage.findUser(row.owner);
      if (user === undefined) return undefined;
      if (now - (row.usedAt ?? 0) >= usedNotedEveryMs) await storage.touchKey(row.hash, now);
      return { id: user.id, scopes: scopesOf(user).filter((scope) => row.scopes.includes(scope)), taken };
    },
  };
}

function toKey(row: ApiKeyRow, now: number): ApiKey {
  const { id, name, shown, scopes: stored, at, usedAt = null, endsAt = null } = row;
  const known: Scope[] = scopes.filter((scope) => stored.includes(scope));
  return { id, name, shown, scopes: known, createdAt: at, usedAt, endsAt, hasEnded: hasEnded(row, now) };
}

function hasEnded({ endsAt }: ApiKeyRow, now: number): boolean {
  return endsAt !== undefined && endsAt <= now;
}
