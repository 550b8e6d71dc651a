import type { ToolDescription } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { stringifyWellFormed } from "./json.ts";
import { toolSchema } from "./schema.ts";
import { createNameReader, wireName } from "./tool-names.ts";

/** The tools of a request as they were sent. */
export type SentTools = {
  /** Empty when there are none: an empty list is never sent. */
  readonly json: string;
  readonly byName: ReadonlyMap<string, ToolDescription>;
  readonly readName: (returned: string) => string;
};

/** Writes each list of tools once: a conversation sends the same one with every request. */
export function createToolWriter(profile: Profile): (tools: readonly ToolDescription[]) => SentTools {
  const written = new WeakMap<readonly ToolDescription[], SentTools>();
  return (tools) => {
    const known = written.get(tools);
    if (known !== undefined) return known;
    const sent = write(tools, profile);
    written.set(tools, sent);
    return sent;
  };
}

function write(tools: readonly ToolDescription[], profile: Profile): SentTools {
  const unique = [...new Map(tools.map((tool) => [tool.name, tool])).values()].slice(0, profile.maxTools);
  return {
    json: unique.length === 0 ? "" : stringifyWellFormed(unique.map((tool) => toWire(tool, profile))),
    byName: new Map(unique.map((tool) => [tool.name, tool])),
    readName: createNameReader(unique.map((tool) => tool.name)),
  };
}

function toWire(tool: ToolDescription, profile: Profile): object {
  return {
    type: "function",
    function: {
      name: wireName(tool.name),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...toolSchema(tool, profile.schemaDialect),
    },
  };
}
