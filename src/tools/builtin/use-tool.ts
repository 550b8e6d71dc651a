import { z } from "zod";
import { isRecord } from "../schema.ts";
import { defineTool, type Tool } from "../tool.ts";

const definition = defineTool({
  name: "use_tool",
  description:
    "Call a tool that find_tools found. Use it with the name and the arguments exactly as find_tools shows them. Not for the tools that you are told of here: call those directly. Returns what the tool returns.",
  input: z.object({
    name: z.string().min(1).describe("The tool's name, as find_tools shows it."),
    arguments: z
      .string()
      .optional()
      .describe('Its arguments: one JSON object as text, such as {"id": 5}. Left out: none.'),
  }),
  otherNames: {
    ...{ tool: "name", tool_name: "name", function: "name" },
    ...{ args: "arguments", input: "arguments", params: "arguments", parameters: "arguments" },
  },
  run: () => {
    throw new Error("what use_tool calls runs in its place");
  },
});

/** Only the way to another tool: a call of it becomes a call of that one before anybody looks at it. */
export const useTool: Tool = { ...definition, open: (input) => definition.open(asText(input)) };

/** Models write the arguments as an object, too, or beside the name. Only what has one meaning is changed. */
function asText(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const known = Object.entries(input).filter(([key]) => key === "name" || isWord.test(key));
  const beside = Object.entries(input).filter((entry) => !known.some(([key]) => key === entry[0]));
  const hasArguments = known.some(([key]) => isArguments.test(key));
  const given = known.map(([key, value]) => [
    key,
    isArguments.test(key) && isRecord(value) ? JSON.stringify(value) : value,
  ]);
  const meant = hasArguments || beside.length === 0 ? [] : [["arguments", JSON.stringify(Object.fromEntries(beside))]];
  return Object.fromEntries([...given, ...meant]);
}

const isArguments = /^(arguments|args|input|params|parameters)$/i;
const isWord = /^(tool|tool_?name|function|arguments|args|input|params|parameters)$/i;
