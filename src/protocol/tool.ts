import { z } from "zod";

/** Where a tool comes from: it is ours, a file of the operator, an MCP server, or a tool box. */
export const ToolOrigin = z.enum(["builtin", "agent", "custom", "mcp", "operator"]);
export type ToolOrigin = z.infer<typeof ToolOrigin>;

/** `loaded`: told of with every request. `on_demand`: found with `find_tools`. `off`: cannot be called. */
export const ToolTier = z.enum(["loaded", "on_demand", "off"]);
export type ToolTier = z.infer<typeof ToolTier>;

/** Why a tool is off: by `tools.yaml`, by its name, or because there are too many. */
export const ToolOff = z.enum(["switched_off", "name_taken", "name_unfit", "too_many"]);
export type ToolOff = z.infer<typeof ToolOff>;

/** A tool as people see it. */
export const ListedTool = z.object({
  name: z.string(),
  description: z.string(),
  origin: ToolOrigin,
  tier: ToolTier,
  /** Of one that is off. */
  why: ToolOff.optional(),
  /** Of a name that is taken: where the tool comes from that has it. */
  takenBy: ToolOrigin.optional(),
  /** Other names that it is called by. */
  aliases: z.array(z.string()),
});
export type ListedTool = z.infer<typeof ListedTool>;

/** A file of the operator that holds no tool that can be used. */
export const BrokenToolFile = z.object({
  file: z.string(),
  /** Where it broke, if that is known. */
  line: z.number().int().optional(),
  why: z.string(),
});
export type BrokenToolFile = z.infer<typeof BrokenToolFile>;
