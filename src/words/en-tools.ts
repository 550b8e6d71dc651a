type Taken = { by: string | undefined };

/** What people read about tools. */
export const enTools = {
  tier: {
    loaded: (p: { count: number }) => `Told to the model with every request (${p.count}):`,
    on_demand: (p: { count: number }) => `On demand, found by the model itself (${p.count}):`,
    off: (p: { count: number }) => `Off (${p.count}):`,
  },
  origin: { builtin: "built in", agent: "hand-off", custom: "your own file", mcp: "MCP server", operator: "tool box" },
  why: {
    switched_off: (_: Taken) => "switched off in tools.yaml",
    name_taken: (p: Taken) => `left out: another tool has this name (${p.by ?? ""})`,
    name_unfit: (_: Taken) => "left out: a name has letters, digits, _ and -, at most 64",
    too_many: (_: Taken) => "left out: there are too many tools",
  },
  broken: (p: { place: string; why: string }) => `✗ ${p.place} cannot be used: ${p.why}`,
  mendBroken: () => "Mend the file, or take it out of its folder; it is loaded again by itself.",
  none: (p: { word: string }) => `No tool has “${p.word}” in its name or description.`,
  hint: () => "/tools WORD searches; /tools load NAME tells the model of one in this conversation.",
  loadWhat: () => "✗ Which one? /tools load and the name of a tool; /tools lists them.",
  notYet: () => "✗ Nothing was said here yet: send a message first, then load a tool.",
  loaded: (p: { name: string }) => `✓ From the next message on the model is told of ${p.name}`,
};
export type ToolWords = typeof enTools;
