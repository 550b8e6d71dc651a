import { failed, ok } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import type { Call, Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import type { Tries } from "../tries.ts";

type Names =
  | "listUsers"
  | "addUser"
  | "removeUser"
  | "setPassword"
  | "makeSignInLink"
  | "listKeys"
  | "addKey"
  | "removeKey";

const dayMs = 86_400_000;
/** Users and their keys: for admins those of all, for everybody else their own, from a browser they are signed in with. */
export function userHandlers(parts: Parts, tries: Tries): Pick<Handlers, Names> {
  return { ...people(parts), ...passwords(parts, tries), ...keys(parts) };
}

function people({ users, mcp }: Parts): Pick<Handlers, "listUsers" | "addUser" | "removeUser" | "makeSignInLink"> {
  return {
    listUsers: async () => ok({ items: await users.list() }),
    async addUser({ body, once }) {
      const added = await users.add(body);
      if (added.ok || added.failure.code !== "user_exists" || once?.isRetry !== true) return added;
      const before = await users.find(body.id);
      return before === undefined ? added : ok(before);
    },
    async removeUser({ params }) {
      const removed = await users.remove(params.user);
      if (removed.ok) await mcp.forget(removed.value);
      return removed.ok ? ok(undefined) : removed;
    },
    async makeSignInLink({ params }) {
      const made = await users.makeLink(params.user);
      if (!made.ok) return made;
      const { user, token, endsAt } = made.value;
      return ok({ user, path: `/sign-in?link=${token}`, endsAt });
    },
  };
}

function passwords({ users }: Parts, tries: Tries): Pick<Handlers, "setPassword"> {
  /** A browser that somebody left open is not enough to take a user's place. */
  async function isUnproven({ caller, params, body, arrival }: Call<"setPassword">): Promise<Failure | undefined> {
    if (caller.by !== "cookie" || caller.signedIn !== params.user) return undefined;
    if ((await users.find(params.user))?.hasPassword !== true) return undefined;
    const tooMany = tries.from(arrival) ?? tries.as(params.user, arrival);
    if (tooMany !== undefined) return tooMany;
    const fits = await users.isPassword(params.user, body.current ?? "");
    if (!fits.ok) return fits.failure;
    if (!fits.value) return makeFailure("sign_in_failed", {});
    tries.worked(arrival);
    return undefined;
  }

  return {
    async setPassword(call) {
      const refused = refusalTo(call) ?? (await isUnproven(call));
      return refused === undefined ? users.setPassword(call.params.user, call.body.password) : failed(refused);
    },
  };
}

function keys({ users, clock, ids }: Parts): Pick<Handlers, "listKeys" | "addKey" | "removeKey"> {
  return {
    async listKeys(call) {
      const refused = refusalTo(call);
      if (refused !== undefined) return failed(refused);
      const found = await users.keys(call.params.user);
      return found.ok ? ok({ items: found.value }) : found;
    },
    async addKey(call) {
      const { params, body } = call;
      const refused = refusalTo(call);
      if (refused !== undefined) return failed(refused);
      const isAdmin = (await users.find(params.user))?.isAdmin;
      if (isAdmin === false && body.scopes.includes("admin"))
        return failed(makeFailure("scope_missing", { scope: "admin" }));
      const endsAt = body.days === undefined ? undefined : clock.now() + body.days * dayMs;
      const { name, scopes } = body;
      const made = await users.addKey(params.user, { id: idFor(call, ids, "api key"), name, scopes, endsAt });
      return made.ok ? { ...ok(made.value), again: { ...made.value, key: null } } : made;
    },
    async removeKey(call) {
      const refused = refusalTo(call);
      return refused === undefined ? users.removeKey(call.params.user, call.params.key) : failed(refused);
    },
  };
}

/** To others a user is not there; and a key cannot make itself another one. */
function refusalTo({
  caller,
  params,
}: Pick<Call<"setPassword">, "caller"> & { readonly params: { readonly user: string } }): Failure | undefined {
  const { signedIn, scopes, by } = caller;
  if (signedIn === undefined || scopes.includes("admin")) return undefined;
  if (signedIn !== params.user) return makeFailure("user_unknown", { id: shownId(params.user) });
  return by === "cookie" ? undefined : makeFailure("scope_missing", { scope: "admin" });
}
