import type { ToolDescription } from "../../protocol/message.ts";
import { stringifyWellFormed } from "./json.ts";
import { createNameReader } from "./tool-names.ts";

/** The tools of a request as they were sent. */
export type SentTools = {
  /** Empty when there are none: an empty list is never sent. */
  readonly json: string;
  readonly byName: ReadonlyMap<string, ToolDescription>;
  readonly readName: (returned: string) => string;
};

/** Writes each list of tools once: a conversation sends the same one with every request. */
export function createToolWriter(
  writeTool: (tool: ToolDescription) => object,
  toolsMax: number,
): (tools: readonly ToolDescription[]) => SentTools {
  const written = new WeakMap<readonly ToolDescription[], SentTools>();
  return (tools) => {
    const known = written.get(tools);
    if (known !== undefined) return known;
    const sent = write(tools);
    written.set(tools, sent);
    return sent;
  };

  function write(tools: readonly ToolDescription[]): SentTools {
    const unique = [...new Map(tools.map((tool) => [tool.name, tool])).values()].slice(0, toolsMax);
    return {
      json: unique.length === 0 ? "" : stringifyWellFormed(unique.map(writeTool)),
      byName: new Map(unique.map((tool) => [tool.name, tool])),
      readName: createNameReader(unique.map((tool) => tool.name)),
    };
  }
}
