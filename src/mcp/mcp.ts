import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { nearest } from "../base/nearest.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ToolSource } from "../tools/tools.ts";
import type { Secrets } from "../users/users.ts";
import type { Web } from "../web/web.ts";
import { openCalls } from "./calls.ts";
import type { Connection, ServerState } from "./connection.ts";
import { openLines } from "./lines.ts";
import { openOffers } from "./offers.ts";
import { type McpPrompt, type McpResource, openResources, type ResourceFile } from "./resources.ts";
import type { ListedTool } from "./server-tools.ts";
import type { McpServerSettings } from "./settings.ts";
import { openSignIns, type SignInAnswer } from "./sign-ins.ts";

export type { ServerState } from "./connection.ts";
export type { ListedTool } from "./server-tools.ts";
export type { McpServerSettings, McpToolSettings } from "./settings.ts";

/** The MCP servers of this installation. Nothing waits for them: not the start, not a prompt. */
export interface Mcp extends ToolSource {
  /** Waits until the tools of all servers are known, or it is not worth waiting any longer: for whoever looks for one. */
  lookUp(owner: OwnerId, signal: AbortSignal): Promise<void>;
  /** Every server of the settings, as it stands for this user. */
  servers(owner: OwnerId): readonly McpServer[];
  /** Ends a server; the answer comes when it runs again, or says why not. */
  restart(owner: OwnerId, server: string): Promise<Result<McpServer, Failure>>;
  /** The link under which this user signs in to a server; `redirectUrl` is where they come back to. */
  beginSignIn(owner: OwnerId, server: string, redirectUrl: string): Promise<Result<{ readonly url: string }, Failure>>;
  /** What the sign-in service sent back. Only whoever began it can end it. */
  finishSignIn(owner: OwnerId, answer: SignInAnswer): Promise<Result<McpServer, Failure>>;
  signOut(owner: OwnerId, server: string): Promise<Result<McpServer, Failure>>;
  /** What a server has to read; it is started where it does not run. */
  resources(owner: OwnerId, server: string, signal: AbortSignal): Promise<Result<readonly McpResource[], Failure>>;
  readResource(
    owner: OwnerId,
    wanted: { readonly server: string; readonly uri: string },
    signal: AbortSignal,
  ): Promise<Result<ResourceFile, Failure>>;
  prompts(owner: OwnerId, server: string, signal: AbortSignal): Promise<Result<readonly McpPrompt[], Failure>>;
  fillPrompt(
    owner: OwnerId,
    wanted: { readonly server: string; readonly name: string; readonly arguments: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<Result<{ readonly text: string }, Failure>>;
  /** The settings have changed: servers that are others now are ended, the rest goes on. */
  change(servers: readonly McpServerSettings[]): Promise<void>;
  /** Ends all of them, with everything that they started. */
  /** Ends what speaks for somebody who was removed: whoever has the name next is somebody else. */
  forget(owner: OwnerId): Promise<void>;
  close(): Promise<void>;
}

export type McpServer = {
  readonly id: string;
  readonly state: ServerState | "off";
  readonly failure?: Failure | undefined;
  readonly reachedBy: "program" | "address";
  /** What it spoke when it was last reached in this process. */
  readonly generation?: "legacy" | "modern" | undefined;
  readonly tools: readonly ListedTool[];
};

export type McpParts = {
  readonly servers: readonly McpServerSettings[];
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly version: string;
  /** Where sign-ins are kept. */
  readonly secrets: Pick<Secrets, "put" | "open" | "drop">;
  /** How servers behind addresses are reached. */
  readonly web: Pick<Web, "fetchFor">;
};

export function openMcp(parts: McpParts): Mcp {
  const { clock, logger } = parts;
  let { servers } = parts;
  const calls = openCalls(clock);
  const offers = openOffers(() => servers, {
    connectionOf: (server, owner) => lines.of(server, owner).connection,
    callThrough: calls.through,
    logger,
  });
  const lines = openLines(parts, { elicit: calls.elicit, onTools: offers.forget });
  const missing = (id: string) => notFound(servers, id);
  const find = (id: string) => servers.find((one) => one.id === id && one.isOn);

  function describe(server: McpServerSettings, owner: OwnerId): McpServer {
    const { id, isOn, reached } = server;
    if (!isOn) return { id, state: "off", reachedBy: reached.by, tools: [] };
    const { state, failure: why, generation } = lines.of(server, owner).connection;
    return { id, state, failure: why, reachedBy: reached.by, generation, tools: offers.listed(owner, id) };
  }
  async function startAnew(server: McpServerSettings, owner: OwnerId): Promise<Result<McpServer, Failure>> {
    const { connection } = lines.of(server, owner);
    await connection.restart();
    await connection.ready();
    return ok(describe(server, owner));
  }

  return {
    tools(owner) {
      for (const server of servers) if (server.isOn) lines.of(server, owner).connection.lookUp();
      return offers.tools(owner);
    },
    async lookUp(owner, signal) {
      const unknown = servers.filter(({ isOn }) => isOn).map((server) => lines.of(server, owner).connection);
      const looking = Promise.all(
        unknown.filter(({ state }) => state === "configured" || state === "starting").map(ready),
      );
      const stop = new AbortController();
      await Promise.race([looking, clock.wait(lookUpMsMax, AbortSignal.any([signal, stop.signal]))]);
      stop.abort();
    },
    servers: (owner) => servers.map((server) => describe(server, owner)),
    async restart(owner, id) {
      const server = find(id);
      return server === undefined ? notFound(servers, id) : startAnew(server, owner);
    },
    ...openSignIns({ find, of: lines.of, startAnew, notFound: missing }),
    ...openResources({ find, of: lines.of, notFound: missing }),
    async change(changed) {
      const before = new Map(servers.map((server) => [server.id, JSON.stringify(portable(server))]));
      servers = changed;
      offers.forget();
      await lines.keep((id) => {
        const server = find(id);
        return server !== undefined && before.get(id) === JSON.stringify(portable(server));
      });
    },
    async forget(owner) {
      offers.forget();
      await lines.keep((_, other) => other !== owner);
    },
    close() {
      servers = [];
      return lines.keep(() => false);
    },
  };
}

/** Comparable, with what JSON would leave out. */
function portable({ tools, ...server }: McpServerSettings) {
  return { ...server, tools: [...tools] };
}

function notFound(servers: readonly McpServerSettings[], id: string) {
  const ids = servers.filter(({ isOn }) => isOn).map((server) => server.id);
  const near = [...nearest(id, ids, nearMax), ...ids].slice(0, nearMax);
  return failure("mcp_server_not_found", { server: id.slice(0, shownMax), near: [...new Set(near)].join(", ") });
}

const ready = (connection: Connection) => connection.ready();

/** Longer than most servers take to start, and no longer than a person waits for an answer. */
const lookUpMsMax = 10_000;
const nearMax = 5;
const shownMax = 80;
