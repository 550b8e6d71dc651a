import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentRole } from "../../protocol/agent.ts";
import { chatAgentHandlers } from "./chat-agents.ts";
import { asked, partsWith } from "./handling.testing.ts";

const role = (id: string): AgentRole => ({
  ...{ id, name: `Agent ${id}`, description: `Does ${id}.`, prompt: undefined, tools: undefined, slot: undefined },
});
const parts = partsWith({ version: "1.2.3", engine: { agents: () => [role("general"), role("a"), role("b")] } });
const { getMarketAgent, describeAgent } = chatAgentHandlers(parts);

test("an agent is looked up by its key, and one that nobody knows is played by the main one under its own key [C1]", async () => {
  const found = async (agent_key: string) => {
    const answer = await getMarketAgent(asked("getMarketAgent", { params: { agent_key, version: "v7" } }));
    return answer.ok && answer.value;
  };
  const shown = (id: string, name: string) => ({
    ...{ id, key: id, name: `Agent ${name}`, profile: `Does ${name}.`, version: "v7", status: "published" },
    product_key: "",
    config: { input: { fields: [{ name: "query", type: "string" }] }, output: { default_format: "markdown" } },
  });
  assert.deepEqual(await found("b"), shown("b", "b"));
  assert.deepEqual(await found("unknown"), shown("unknown", "general"));
});

test("how to chat with an agent is told of the first name that is one, with the one path that does it [C1][C7]", async () => {
  const described = async (body: object, app_key = "app") => {
    const answer = await describeAgent(asked("describeAgent", { params: { app_key }, body }));
    assert.ok(answer.ok);
    const { info, paths, tags, openapi } = Object(answer.value);
    assert.deepEqual([tags, typeof openapi, info.version], [undefined, "string", "1.2.3"]);
    const path = "/api/agent-factory/v1/app/{app_key}/api/chat/completion";
    assert.deepEqual([Object.keys(paths), typeof paths[path]?.post], [[path], "object"]);
    assert.equal(info.description, info.title.replace("Agent", "Does").concat("."));
    return info.title;
  };
  assert.equal(await described({ agent_id: "a", agent_key: "b" }), "Agent a");
  assert.equal(await described({ agent_id: "", agent_key: "b" }), "Agent b");
  assert.equal(await described({ agent_id: "x", app_key: "b" }, "a"), "Agent b");
  assert.equal(await described({}, "a"), "Agent a");
  assert.equal(await described({}), "Agent general");
});
