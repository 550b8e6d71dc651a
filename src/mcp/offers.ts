import type { Logger } from "../observe/observe.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Tool } from "../tools/tools.ts";
import type { Connection } from "./connection.ts";
import { type CallTool, type ListedTool, type ServerTools, serverTools } from "./server-tools.ts";
import type { McpServerSettings } from "./settings.ts";

/** What all servers together offer to a user: the same objects until something changes. */
export type Offers = {
  tools(owner: OwnerId): readonly Tool[];
  listed(owner: OwnerId, server: string): readonly ListedTool[];
  /** Something changed. */
  forget(): void;
};

type Parts = {
  readonly connectionOf: (server: McpServerSettings, owner: OwnerId) => Connection;
  readonly callThrough: (connection: Connection, owner: OwnerId) => CallTool;
  readonly logger: Logger;
};

export function openOffers(servers: () => readonly McpServerSettings[], parts: Parts): Offers {
  const offers = new Map<OwnerId, Offer>();
  const offerOf = (owner: OwnerId): Offer => {
    const offer = offers.get(owner) ?? makeOffer(servers(), owner, parts);
    offers.set(owner, offer);
    return offer;
  };
  return {
    tools: (owner) => offerOf(owner).tools,
    listed: (owner, server) => offerOf(owner).byServer.get(server)?.listed ?? [],
    forget: () => offers.clear(),
  };
}

type Offer = { readonly tools: readonly Tool[]; readonly byServer: ReadonlyMap<string, ServerTools> };

/** In the order of the settings: whoever comes first has the name. */
function makeOffer(
  servers: readonly McpServerSettings[],
  owner: OwnerId,
  { connectionOf, callThrough, logger }: Parts,
): Offer {
  const byServer = new Map<string, ServerTools>();
  const taken = new Set<string>();
  for (const server of servers.filter(({ isOn }) => isOn)) {
    const connection = connectionOf(server, owner);
    const made = serverTools(server, connection.tools, { call: callThrough(connection, owner), taken });
    for (const { name } of made.tools) taken.add(name);
    for (const { name, left } of made.listed)
      if (left !== undefined && left !== "off")
        logger.warn("the tool {name} of MCP server {server} is left out: {left}", { server: server.id, name, left });
    byServer.set(server.id, made);
  }
  return { tools: [...byServer.values()].flatMap(({ tools }) => tools), byServer };
}
