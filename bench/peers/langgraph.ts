/**
 * LangGraph.js with its own prebuilt agent and the bench's node:sqlite saver. `createReactAgent` is deprecated in favour
 * of langchain's `createAgent`, which was tried: it stores twice the bytes and takes more CPU.
 */
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { lookUp, modelName } from "../engine/script.ts";
import type { OpenVariant } from "../engine/variant.ts";
import { NodeSqliteSaver } from "./langgraph-saver.ts";

const lookUpTool = tool(() => lookUp.result, {
  name: lookUp.name,
  description: lookUp.description,
  schema: z.object({ topic: z.string(), page: z.number() }),
});

export const open: OpenVariant = ({ modelUrl, folder }) => {
  const saver = new NodeSqliteSaver(join(folder, "checkpoints.db"));
  const model = new ChatOpenAI({ model: modelName, apiKey: "none", configuration: { baseURL: modelUrl } });
  const agent = createReactAgent({ llm: model, tools: [lookUpTool], checkpointSaver: saver });
  let threads = 0;
  return {
    run: async ({ question, steps, stepDone }) => {
      threads += 1;
      const stream = await agent.stream(
        { messages: [{ role: "user", content: question }] },
        {
          configurable: { thread_id: `thread-${threads}` },
          // "messages" makes the model call stream. A model set to stream by itself would fetch token tables from the web.
          streamMode: ["messages", "updates"],
          durability: "sync",
          recursionLimit: 2 * steps + 5,
        },
      );
      let answer = "";
      for await (const [mode, part] of stream) {
        if (mode === "messages") {
          answer += part[0].text;
        } else if ("tools" in part) {
          answer = "";
          stepDone();
        }
      }
      return answer;
    },
    close: () => saver.close(),
  };
};
