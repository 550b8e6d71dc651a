import assert from "node:assert/strict";
import { test } from "node:test";
import { must, startYard } from "../../../test/world/yard.ts";
import type { AgentRole } from "../../protocol/agent.ts";

const role = (id: string): AgentRole => ({
  ...{ id, name: `Agent ${id}`, description: `Does ${id}.`, prompt: undefined, tools: undefined, slot: undefined },
});

/** A server with two agents besides those that are always there, of which the main one is told as well. */
async function served() {
  const yard = await startYard({ agents: [role("a"), role("b")] });
  const [main = assert.fail()] = (await must(yard.client.call("listAgents"))).items;
  assert.equal(main.id, "general");
  return { ...yard, main };
}

test("an agent is looked up by its key, and one that nobody knows is played by the main one under its own key [C1]", async () => {
  await using yard = await served();
  const found = (agent_key: string) =>
    must(yard.client.call("getMarketAgent", { params: { agent_key, version: "v7" } }));
  const shown = (id: string, { name, description }: Pick<AgentRole, "name" | "description">) => ({
    ...{ id, key: id, name, profile: description, version: "v7", status: "published", product_key: "" },
    config: { input: { fields: [{ name: "query", type: "string" }] }, output: { default_format: "markdown" } },
  });
  assert.deepEqual(await found("b"), shown("b", role("b")));
  assert.deepEqual(await found("unknown"), shown("unknown", yard.main));
});

test("how to chat with an agent is told of the first name that is one, with the one path that does it [C1][C7]", async () => {
  await using yard = await served();
  const described = async (body: { agent_id?: string; agent_key?: string; app_key?: string }, app_key = "app") => {
    const answer = await must(
      yard.client.call("describeAgent", { params: { service: "agent-factory", app_key }, body }),
    );
    const { info, paths, tags, openapi } = Object(answer);
    assert.deepEqual([tags, typeof openapi, info.version], [undefined, "string", "0.0.0-test"]);
    const path = "/api/agent-factory/v1/app/{app_key}/api/chat/completion";
    assert.deepEqual([Object.keys(paths), typeof paths[path]?.post], [[path], "object"]);
    return [info.title, info.description];
  };
  assert.deepEqual(await described({ agent_id: "a", agent_key: "b" }), ["Agent a", "Does a."]);
  assert.deepEqual(await described({ agent_id: "", agent_key: "b" }), ["Agent b", "Does b."]);
  assert.deepEqual(await described({ agent_id: "x", app_key: "b" }, "a"), ["Agent b", "Does b."]);
  assert.deepEqual(await described({}, "a"), ["Agent a", "Does a."]);
  assert.deepEqual(await described({}), [yard.main.name, yard.main.description]);
});
