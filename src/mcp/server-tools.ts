import { createHash } from "node:crypto";
import { ok, type Result } from "../base/result.ts";
import type { EffectClass } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import { foreignTool, type Tool, type ToolContext, type ToolOutput } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import type { ToolDefinition } from "./known-tools.ts";
import type { McpServerSettings } from "./settings.ts";

/** The tools of one server as models are told of them, and which could not be had. */
export type ServerTools = {
  readonly tools: readonly Tool[];
  readonly listed: readonly ListedTool[];
};
export type ListedTool = {
  readonly name: string;
  /** As the server calls it. */
  readonly own: string;
  readonly description: string;
  /** Why no agent has it: the settings switch it off, its form cannot be read, its name is taken, or there are too many. */
  readonly left?: "off" | "broken" | "name_taken" | "too_many" | undefined;
};

export type CallTool = (
  definition: ToolDefinition,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => Promise<Result<ToolOutput, Failure>>;

const toolsMax = 500;

/** `taken`: names that other servers brought before. */
export function serverTools(
  server: McpServerSettings,
  definitions: readonly ToolDefinition[],
  { call, taken }: { readonly call: CallTool; readonly taken: ReadonlySet<string> },
): ServerTools {
  const names = new Set(taken);
  const tools: Tool[] = [];
  const listed: ListedTool[] = [];
  for (const definition of definitions) {
    const said = server.tools.get(definition.name);
    const name = said?.alias ?? prefixed(server.id, definition.name);
    const description = describe(server, definition, said?.description);
    const left = isOff(server, definition.name)
      ? "off"
      : definition.isBroken
        ? "broken"
        : names.has(name)
          ? "name_taken"
          : tools.length >= toolsMax
            ? "too_many"
            : undefined;
    listed.push({ name, own: definition.name, description, left });
    if (left !== undefined) continue;
    names.add(name);
    tools.push(toolOf(server, definition, { name, description, call }));
  }
  return { tools, listed };
}

/** Where some are named, only those are there; where those that are named are all switched off, the others are. */
function isOff({ tools }: McpServerSettings, name: string): boolean {
  const said = tools.get(name);
  if (said !== undefined) return !said.isOn;
  return [...tools.values()].some(({ isOn }) => isOn);
}

/** What all model families take as a name. */
const nameMax = 64;
const hashCharacters = 6;

function prefixed(server: string, tool: string): string {
  const whole = `mcp__${server}__${tool}`;
  const clean = whole.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (clean === whole && clean.length <= nameMax) return clean;
  // Names that differ only in what was cleaned away, or after the cut, must stay two.
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, hashCharacters);
  return `${clean.slice(0, nameMax - hashCharacters - 1)}_${hash}`;
}

const descriptionMax = 1_000;

function describe(server: McpServerSettings, { title, description, name }: ToolDefinition, said?: string): string {
  const text = (said ?? description ?? title ?? name).trim().toWellFormed();
  return forModels.mcp.toolOf(server.id, text.length > descriptionMax ? `${text.slice(0, descriptionMax)}…` : text);
}

function toolOf(
  server: McpServerSettings,
  definition: ToolDefinition,
  { name, description, call }: { readonly name: string; readonly description: string; readonly call: CallTool },
): Tool {
  const isReading = definition.annotations?.readOnlyHint === true;
  const tool: Tool = {
    ...foreignTool({
      ...{ name, description, parameters: definition.inputSchema, class: classOf(definition) },
      timeoutMs: server.callTimeoutMs,
      run: (input, context) => call(definition, input, context),
    }),
    // A tool that says nothing of itself may send or change anything.
    outward: { by: "mcp_server", host: server.id, isReading },
  };
  if (isReading || definition.annotations?.destructiveHint !== true) return tool;
  // A server may make more be asked than we would, never less.
  const ask = { kind: "approval", reason: forModels.mcp.destructive, risk: "medium" } as const;
  return {
    ...tool,
    open(input) {
      const opened = tool.open(input);
      return opened.ok ? ok({ ...opened.value, ask }) : opened;
    },
  };
}

/**
 * Hints of the server, which may be wrong: they say whether a call that a crash cut off may be made again. `pure` is
 * never taken from them, because approvals let pass what is pure.
 */
export function classOf({ annotations }: ToolDefinition): EffectClass {
  const { readOnlyHint, idempotentHint } = annotations ?? {};
  return readOnlyHint === true || idempotentHint === true ? "idempotent" : "unsafe";
}
