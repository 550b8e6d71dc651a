import { failed, ok } from "../../base/result.ts";
import { readCookies, signedInCookie, signedOutCookie, signInCookie } from "../cookie.ts";
import type { Handlers, Parts } from "../handler.ts";
import type { Tries } from "../tries.ts";

/** Who is calling, and the cookie of a browser. */
export function signInHandlers(parts: Parts, tries: Tries): Pick<Handlers, "getMe" | "signIn" | "signOut"> {
  const { users, sandbox, server } = parts;
  return {
    async getMe({ caller }) {
      const { signedIn, scopes, by } = caller;
      const user = signedIn === undefined ? undefined : await users.find(signedIn);
      return ok({ user: user ?? null, scopes: [...scopes], by: by ?? null });
    },
    async signIn({ body, arrival, isLocal }) {
      const { signInLastsMs: lastsMs } = server();
      const tooMany = isLocal ? undefined : tries.as(body.user, arrival);
      if (tooMany !== undefined) return failed(tooMany);
      const signed = await users.signIn(body.user, body.password);
      if (!signed.ok) return signed;
      if (!isLocal) tries.worked(arrival);
      const { user, token } = signed.value;
      return { ...ok(user), headers: { "set-cookie": signedInCookie(arrival, { token, lastsMs }) } };
    },
    async signOut({ caller, arrival, header }) {
      for (const token of readCookies(header("cookie"), signInCookie(arrival))) {
        const out = await users.signOut(token);
        if (!out.ok) return out;
      }
      // Where another server let them in, their cookie stayed there.
      const out = caller.signIn === undefined ? ok(undefined) : await users.endSignIn(caller.signIn);
      if (!out.ok) return out;
      if (server().signOutEndsSession && caller.signedIn !== undefined) await sandbox.sessions.stop(caller.signedIn);
      return { ...ok({}), headers: { "set-cookie": signedOutCookie(arrival) } };
    },
  };
}
