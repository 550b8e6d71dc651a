import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { nearest } from "../base/nearest.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Tool, ToolSource } from "../tools/tools.ts";
import { openCalls } from "./calls.ts";
import { Connection, type ServerState } from "./connection.ts";
import { knownPlace } from "./known-tools.ts";
import { type ListedTool, type ServerTools, serverTools } from "./server-tools.ts";
import type { McpServerSettings } from "./settings.ts";

export type { ServerState } from "./connection.ts";
export type { ListedTool } from "./server-tools.ts";
export type { McpReached, McpServerSettings, McpToolSettings } from "./settings.ts";

/** The MCP servers of this installation. Nothing waits for them: not the start, not a prompt. */
export interface Mcp extends ToolSource {
  /** Every server of the settings, as it stands for this user. */
  servers(owner: OwnerId): readonly McpServer[];
  /** Ends a server; the answer comes when it runs again, or says why not. */
  restart(owner: OwnerId, server: string): Promise<Result<McpServer, Failure>>;
  /** The settings have changed: servers that are others now are ended, the rest goes on. */
  change(servers: readonly McpServerSettings[]): Promise<void>;
  /** Ends all of them, with everything that they started. */
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
  readonly logger: Logger;
  readonly version: string;
};

export function openMcp(parts: McpParts): Mcp {
  const { clock, logger, version } = parts;
  const folder = join(parts.dataDir, "mcp");
  let { servers } = parts;
  const connections = new Map<string, Connection>();
  const offers = new Map<OwnerId, { readonly tools: readonly Tool[]; readonly byServer: Offered }>();
  const calls = openCalls(clock);

  /** A program is there for all; an address may be a user's own account somewhere. */
  function connectionOf(server: McpServerSettings, owner: OwnerId): Connection {
    const personal = server.reached.by === "address" ? owner : undefined;
    const key = keyOf(server.id, personal);
    const found = connections.get(key);
    if (found !== undefined) return found;
    const connection = new Connection({
      ...{ server, clock, logger, version, auth: undefined },
      known: knownPlace(folder, server, personal),
      elicit: (request) => calls.elicit(connection, request),
      onTools: () => offers.clear(),
    });
    connections.set(key, connection);
    return connection;
  }

  function offerOf(owner: OwnerId) {
    const before = offers.get(owner);
    if (before !== undefined) return before;
    const byServer: Offered = new Map();
    const taken = new Set<string>();
    for (const server of servers.filter(({ isOn }) => isOn)) {
      const connection = connectionOf(server, owner);
      const call = calls.through(connection);
      const made = serverTools(server, connection.tools, { call, taken });
      for (const { name } of made.tools) taken.add(name);
      for (const { name, left } of made.listed)
        if (left === "name_taken" || left === "too_many")
          logger.warn("the tool {name} of MCP server {server} is left out: {left}", { server: server.id, name, left });
      byServer.set(server.id, made);
    }
    const offer = { tools: [...byServer.values()].flatMap(({ tools }) => tools), byServer };
    offers.set(owner, offer);
    return offer;
  }

  function describe(server: McpServerSettings, owner: OwnerId): McpServer {
    const { id, isOn, reached } = server;
    if (!isOn) return { id, state: "off", reachedBy: reached.by, tools: [] };
    const { state, failure: why, generation } = connectionOf(server, owner);
    const tools = offerOf(owner).byServer.get(id)?.listed ?? [];
    return { id, state, failure: why, reachedBy: reached.by, generation, tools };
  }

  return {
    tools(owner) {
      for (const server of servers) if (server.isOn) connectionOf(server, owner).lookUp();
      return offerOf(owner).tools;
    },
    servers: (owner) => servers.map((server) => describe(server, owner)),
    async restart(owner, id) {
      const server = servers.find((one) => one.id === id && one.isOn);
      if (server === undefined) return notFound(servers, id);
      const connection = connectionOf(server, owner);
      await connection.restart();
      await connection.ready();
      return ok(describe(server, owner));
    },
    async change(changed) {
      const before = new Map(servers.map((server) => [server.id, JSON.stringify(portable(server))]));
      servers = changed;
      offers.clear();
      const stays = new Set(
        changed.filter((one) => one.isOn && before.get(one.id) === JSON.stringify(portable(one))).map(({ id }) => id),
      );
      const gone = [...connections].filter(([key]) => !stays.has(serverOf(key)));
      for (const [key] of gone) connections.delete(key);
      await Promise.all(gone.map(([, connection]) => connection.close()));
    },
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}

type Offered = Map<string, ServerTools>;

function keyOf(server: string, owner: OwnerId | undefined): string {
  return owner === undefined ? server : `${server} ${owner}`;
}

function serverOf(key: string): string {
  return key.split(" ")[0] ?? "";
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

const nearMax = 5;
const shownMax = 80;
