import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { oneLine } from "./faults.ts";
import type { Line } from "./lines.ts";
import type { Mcp, McpServer } from "./mcp.ts";
import type { McpServerSettings } from "./settings.ts";

/** What a sign-in service adds to the address that it sends the browser back to. */
export type SignInAnswer = {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
};

type Parts = {
  readonly find: (server: string) => McpServerSettings | undefined;
  readonly of: (server: McpServerSettings, owner: OwnerId) => Line;
  readonly startAnew: (server: McpServerSettings, owner: OwnerId) => Promise<Result<McpServer, Failure>>;
  readonly notFound: (server: string) => Result<never, Failure>;
};

/** Begun and not ended, of one user: more than a person has open at once. */
const begunPerOwnerMax = 10;

/** Who goes to which sign-in service, and comes back. */
export function openSignIns(parts: Parts): Pick<Mcp, "beginSignIn" | "finishSignIn" | "signOut"> {
  const { find, of, startAnew, notFound } = parts;
  const begun = new Map<string, { readonly owner: OwnerId; readonly server: string }>();
  return {
    async beginSignIn(owner, id, redirectUrl) {
      const server = find(id);
      if (server === undefined) return notFound(id);
      const { connection, signIn } = of(server, owner);
      if (signIn === undefined) return failure("mcp_no_sign_in", { server: id });
      // Whether it asks for a sign-in, and where: it says so itself.
      if (!signIn.needsPerson()) {
        const ready = await connection.ready();
        if (ready.ok) return failure("mcp_no_sign_in", { server: id });
        if (!signIn.needsPerson()) return ready;
      }
      const link = await signIn.begin(redirectUrl);
      if (!link.ok) return link;
      const own = [...begun].filter(([, way]) => way.owner === owner);
      for (const [state] of own.slice(0, Math.max(0, own.length - begunPerOwnerMax + 1))) begun.delete(state);
      begun.set(link.value.state, { owner, server: id });
      return ok({ url: link.value.url });
    },
    async finishSignIn(owner, { state, code, iss, error }) {
      const way = begun.get(state);
      // A link that somebody else began must not end here, nor this user's with somebody else.
      if (way === undefined || way.owner !== owner)
        return failure("mcp_sign_in_failed", { server: "?", said: "this link was used, or is not yours" });
      begun.delete(state);
      const server = find(way.server);
      if (server === undefined) return notFound(way.server);
      const { signIn } = of(server, owner);
      if (signIn === undefined || code === undefined)
        return failure("mcp_sign_in_failed", { server: way.server, said: oneLine(error ?? "no code came back") });
      const done = await signIn.finish({ code, iss });
      return done.ok ? startAnew(server, owner) : done;
    },
    async signOut(owner, id) {
      const server = find(id);
      if (server === undefined) return notFound(id);
      const { signIn } = of(server, owner);
      if (signIn === undefined) return failure("mcp_no_sign_in", { server: id });
      await signIn.out();
      return startAnew(server, owner);
    },
  };
}
