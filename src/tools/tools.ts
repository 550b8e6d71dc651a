import { assert } from "../base/assert.ts";
import { thrownText } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ToolCall, ToolDescription } from "../protocol/message.ts";
import { unpacked } from "./arguments.ts";
import { askHuman } from "./builtin/ask-human.ts";
import { compactContext } from "./builtin/compact-context.ts";
import { editFile } from "./builtin/edit-file.ts";
import { executeCode } from "./builtin/execute-code.ts";
import { findFiles } from "./builtin/find-files.ts";
import { getWorkspaceInfo } from "./builtin/get-workspace-info.ts";
import { listFiles } from "./builtin/list-files.ts";
import { now } from "./builtin/now.ts";
import { readFile } from "./builtin/read-file.ts";
import { recall } from "./builtin/recall.ts";
import { remember } from "./builtin/remember.ts";
import { runBashCommand } from "./builtin/run-bash-command.ts";
import { searchFile } from "./builtin/search-file.ts";
import { searchHistory } from "./builtin/search-history.ts";
import { todoRead } from "./builtin/todo-read.ts";
import { todoWrite } from "./builtin/todo-write.ts";
import { writeFile } from "./builtin/write-file.ts";
import { shortened } from "./output.ts";
import { isRecord } from "./schema.ts";
import type { OpenedCall, Tool } from "./tool.ts";

export { errorForModel } from "./error-text.ts";
export { type ForeignDefinition, foreignTool, type ToolSource } from "./foreign.ts";
export { boundOutput, cutAround, endsOf, headOf, outputBytes, outputBytesMax, shortened } from "./output.ts";
export type {
  Ask,
  HistoryHit,
  HistoryHits,
  HistoryQuery,
  OpenedCall,
  Outside,
  RoomReport,
  Tool,
  ToolContext,
  ToolMemory,
  ToolOutput,
  ToolSandbox,
} from "./tool.ts";
export { allOf, defineTool } from "./tool.ts";

/** All tools of this installation, found by name. */
export interface Toolbox {
  /** What a model is offered, sorted by name: the same bytes at every start. */
  offered(size: "full" | "small"): readonly Tool[];
  /** Finds the tool and reads the arguments of a call, or says what the model should do instead. */
  open(call: ToolCall): Result<{ tool: Tool; opened: OpenedCall }, Failure>;
  /** Whether a tool goes by this name. */
  has(name: string): boolean;
  /** The same with these tools alone. */
  only(names: readonly string[]): Toolbox;
}

export const builtins: readonly Tool[] = [
  compactContext,
  ...[askHuman, now, todoRead, todoWrite],
  ...[readFile, writeFile, editFile, listFiles, findFiles, searchFile, getWorkspaceInfo],
  ...[executeCode, runBashCommand],
  ...[remember, recall, searchHistory],
];

export function openToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      assert(!byName.has(name), `two tools are called ${name}`);
      byName.set(name, tool);
    }
  }
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = sorted.map((tool) => tool.name);
  const small = sorted.filter((tool) => tool.isBasic);
  return {
    offered: (size) => (size === "small" ? small : sorted),
    open(call) {
      const tool = byName.get(call.name);
      if (tool === undefined) {
        const near = nearest(call.name, names, nearMax).join(", ");
        return failure("tool_not_found", { name: oneLine(call.name, nameBytesMax), near });
      }
      const input = readArguments(tool.name, call);
      if (!input.ok) return input;
      const opened = tool.open(input.value);
      return opened.ok ? ok({ tool, opened: opened.value }) : opened;
    },
    has: (name) => byName.has(name),
    only: (wanted) => openToolbox(tools.filter(({ name }) => wanted.includes(name))),
  };
}

/** The bytes a model is told of: canonical, so that they are the same at every start. */
export function toolBytes(tools: readonly ToolDescription[]): string {
  return JSON.stringify(tools.map(({ name, description, parameters }) => ({ name, description, parameters })));
}

const nearMax = 5;
const nameBytesMax = 80;
const whyBytesMax = 120;

/** The arguments as one object; some models put it into a string. */
export function readArguments(tool: string, call: ToolCall): Result<Readonly<Record<string, unknown>>, Failure> {
  if (call.arguments.trim() === "") return ok({});
  let json: unknown;
  try {
    json = JSON.parse(call.arguments);
  } catch (error) {
    return failure("tool_arguments_broken", { tool, why: oneLine(thrownText(error), whyBytesMax) });
  }
  const input = unpacked(json);
  if (isRecord(input)) return ok(input);
  const why = Array.isArray(input) ? "a list" : input === null ? "null" : `a ${typeof input}`;
  return failure("tool_arguments_broken", { tool, why, because: "no_object" });
}

/** What others wrote, fit to stand inside a sentence of ours. */
function oneLine(text: string, bytesMax: number): string {
  return shortened(text.replaceAll(/\s+/g, " "), bytesMax);
}
