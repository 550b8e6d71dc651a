import { join } from "node:path";
import type { OwnerId } from "../protocol/ids.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { Connection, type ConnectionParts } from "./connection.ts";
import { knownPlace } from "./known-tools.ts";
import type { McpParts } from "./mcp.ts";
import type { McpServerSettings } from "./settings.ts";
import { SignIn } from "./sign-in.ts";

/** A connection, and who it speaks for. */
export type Line = { readonly connection: Connection; readonly signIn: SignIn | undefined };

export type Lines = {
  of(server: McpServerSettings, owner: OwnerId): Line;
  /** Ends all others; `owner` only where it speaks for one person. */
  keep(isWanted: (server: string, owner: OwnerId | undefined) => boolean): Promise<void>;
};

type Heard = {
  readonly elicit: (connection: Connection, ...request: Parameters<ConnectionParts["elicit"]>) => ElicitAnswer;
  readonly onTools: () => void;
};
type ElicitAnswer = ReturnType<ConnectionParts["elicit"]>;

/** A program is there for all users; behind an address each has a connection, and maybe a sign-in, of their own. */
export function openLines(parts: McpParts, { elicit, onTools }: Heard): Lines {
  const { dataDir, clock, ids, logger, version, secrets, web } = parts;
  const lines = new Map<string, Line & { readonly server: string; readonly owner: OwnerId | undefined }>();
  return {
    of(server, owner) {
      const { id, reached } = server;
      const personal = reached.by === "address" ? owner : undefined;
      const key = personal === undefined ? id : `${id} ${owner}`;
      const found = lines.get(key);
      if (found !== undefined) return found;
      // Where the settings say who we are, nobody need be asked.
      const isTold =
        reached.by === "address" && Object.keys(reached.headers).some((name) => /^authorization$/i.test(name));
      const signIn =
        reached.by === "address" && !isTold
          ? new SignIn({
              server: id,
              owner,
              reached,
              secrets,
              clock,
              ids,
              fetch: boundedFetch(web.fetchFor(reached.url)),
            })
          : undefined;
      const connection: Connection = new Connection({
        ...{ server, clock, logger, version, auth: signIn, web, onTools },
        known: knownPlace(join(dataDir, "mcp"), server, personal),
        elicit: (request) => elicit(connection, request),
      });
      const line = { server: id, owner: personal, connection, signIn };
      lines.set(key, line);
      return line;
    },
    async keep(isWanted) {
      const gone = [...lines].filter(([, { server, owner }]) => !isWanted(server, owner));
      for (const [key] of gone) lines.delete(key);
      await Promise.all(gone.map(([, { connection }]) => connection.close()));
    },
  };
}
