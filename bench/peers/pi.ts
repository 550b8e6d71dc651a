/** pi's agent core on its own OpenAI-compatible client, one durable row per turn. */
import { Agent, type AgentTool } from "@earendil-works/pi-agent-core";
import { type Model, Type } from "@earendil-works/pi-ai";
import { streamSimple } from "@earendil-works/pi-ai/api/openai-completions";
import { openRows } from "../engine/rows.ts";
import { lookUp, modelName } from "../engine/script.ts";
import type { OpenVariant } from "../engine/variant.ts";

const tool: AgentTool = {
  name: lookUp.name,
  label: lookUp.name,
  description: lookUp.description,
  parameters: Type.Object({ topic: Type.String(), page: Type.Number() }),
  execute: async () => ({ content: [{ type: "text", text: lookUp.result }], details: {} }),
};

export const open: OpenVariant = ({ modelUrl, folder }) => {
  const rows = openRows(folder);
  const model = modelAt(modelUrl);
  return {
    run: async ({ question, stepDone }) => {
      const agent = new Agent({
        initialState: { model, tools: [tool] },
        streamFn: (_, context, options) => streamSimple(model, context, options),
        getApiKey: () => "none",
      });
      let answer = "";
      agent.subscribe((event) => {
        if (event.type !== "turn_end" || event.message.role !== "assistant") return;
        if (event.toolResults.length > 0) {
          rows.insert([event.message, ...event.toolResults]);
          stepDone();
        }
        answer = event.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      });
      await agent.prompt(question);
      if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage);
      return answer;
    },
    close: rows.close,
  };
};

function modelAt(baseUrl: string): Model<"openai-completions"> {
  return {
    id: modelName,
    name: modelName,
    api: "openai-completions",
    provider: "bench",
    baseUrl,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 4096,
  };
}
