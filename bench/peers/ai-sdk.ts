/** The AI SDK's streaming loop, one durable row per step. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import { openRows } from "../engine/rows.ts";
import { lookUp, modelName } from "../engine/script.ts";
import type { OpenVariant } from "../engine/variant.ts";

const tools = {
  [lookUp.name]: tool({
    description: lookUp.description,
    inputSchema: z.object({ topic: z.string(), page: z.number() }),
    execute: async () => lookUp.result,
  }),
};

export const open: OpenVariant = ({ modelUrl, folder }) => {
  const rows = openRows(folder);
  const provider = createOpenAICompatible({ name: "bench", baseURL: modelUrl, includeUsage: true });
  return {
    run: async ({ question, steps, stepDone }) => {
      const result = streamText({
        model: provider(modelName),
        prompt: question,
        tools,
        stopWhen: isStepCount(steps + 1),
        onStepEnd: ({ text, toolCalls, toolResults }) => {
          if (toolResults.length === 0) return;
          rows.insert({ text, toolCalls, toolResults });
          stepDone();
        },
      });
      for await (const part of result.stream) if (part.type === "error") throw part.error;
      return result.text;
    },
    close: rows.close,
  };
};
