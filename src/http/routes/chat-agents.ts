import { ok } from "../../base/result.ts";
import type { AgentRole } from "../../protocol/agent.ts";
import { openAgentDescriptions } from "../chat/describe-agent.ts";
import { given } from "../chat/request.ts";
import type { Handlers, Parts } from "../handler.ts";

/** Agents as clients of the chat service look them up. */
export function chatAgentHandlers({ engine, version }: Parts): Pick<Handlers, "getMarketAgent" | "describeAgent"> {
  const describeChat = openAgentDescriptions(version);
  return {
    async getMarketAgent({ params }) {
      const { agent_key: key } = params;
      const role = roleOf(engine.agents(), [key]);
      return ok({
        ...{ id: key, key, name: role.name, profile: role.description },
        ...{ version: params.version, status: "published", product_key: "" },
        config: { input: { fields: [{ name: "query", type: "string" }] }, output: { default_format: "markdown" } },
      });
    },
    async describeAgent({ params, body }) {
      const named = [given(body.agent_id), given(body.agent_key), given(body.app_key), params.app_key];
      return ok(describeChat(roleOf(engine.agents(), named)));
    },
  };
}

/** The first that is known by one of these names; anybody else's part is played by the main agent, the first of all. */
function roleOf(roles: readonly AgentRole[], names: readonly (string | undefined)[]): AgentRole {
  for (const name of names) {
    const role = roles.find(({ id }) => id === name);
    if (role !== undefined) return role;
  }
  const [main] = roles;
  if (main === undefined) throw new Error("there is always a main agent");
  return main;
}
