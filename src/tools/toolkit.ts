import { assert } from "../base/assert.ts";
import { thrownText } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ToolCall, ToolDescription } from "../protocol/message.ts";
import { unpacked } from "./arguments.ts";
import { shortened } from "./output.ts";
import { isRecord } from "./schema.ts";
import { indexTools, searchTools, type ToolIndex } from "./search-tools.ts";
import type { OpenedCall, Tool } from "./tool.ts";

/** The tools that an agent of one user has, found by name. */
export interface Toolkit {
  /**
   * What a model is told of with every request, sorted by name: the same bytes at every start. `also`: what was loaded
   * for this conversation besides.
   */
  offered(size: "full" | "small", also?: ReadonlySet<string>): readonly Tool[];
  /** What is there and not told of: `find_tools` finds it, `use_tool` calls it. Sorted by name. */
  readonly onDemand: readonly Tool[];
  /** Of those the ones that fit, the likeliest first. */
  search(query: string, hitsMax: number): readonly Tool[];
  /** Finds the tool and reads the arguments of a call, or says what the model should do instead. */
  open(call: ToolCall): Result<{ tool: Tool; opened: OpenedCall }, Failure>;
  /** The tool that goes by this name. */
  find(name: string): Tool | undefined;
  /** The same, or which names are near. */
  seek(name: string): Result<Tool, Failure>;
  /**
   * The call that is meant: what `use_tool` calls, with what was written kept beside it. From here on nobody need know of
   * `use_tool`. Where there is no such tool it stays as it is, and `open` says so.
   */
  meant(call: ToolCall): ToolCall;
  /** The same with these tools alone. Without `use_tool` among them, a model is told of them all. */
  only(names: readonly string[]): Toolkit;
  /** The same without these. */
  without(names: readonly string[]): Toolkit;
}

export function openToolkit(tools: readonly Tool[], { tellsAll = false } = {}): Toolkit {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      assert(!byName.has(name), `two tools are called ${name}`);
      byName.set(name, tool);
    }
  }
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = sorted.map((tool) => tool.name);
  const isLoaded = (tool: Tool) => tellsAll || tool.isOnDemand !== true;
  const onDemand = sorted.filter((tool) => !isLoaded(tool));
  let index: ToolIndex | undefined;
  const kits = new Map<string, Toolkit>();
  // Agents are few, and the same ones again and again.
  const kitOf = (key: string, isIn: (tool: Tool) => boolean, options: { tellsAll: boolean }) => {
    const known = kits.get(key);
    if (known !== undefined) return known;
    const kit = openToolkit(tools.filter(isIn), options);
    kits.set(key, kit);
    return kit;
  };
  const missing = (name: string) => {
    const near = nearNames(name, names).join(", ");
    return failure("tool_not_found", { name: oneLine(name, nameBytesMax), near });
  };
  return {
    offered: (size, also) =>
      sorted.filter((tool) => also?.has(tool.name) || (size === "small" ? tool.isBasic : isLoaded(tool))),
    onDemand,
    search(query, hitsMax) {
      index ??= indexTools(onDemand);
      return searchTools(index, query, hitsMax);
    },
    open(call) {
      const tool = byName.get(call.name);
      if (tool === undefined) return missing(call.name);
      const input = readArguments(tool.name, call);
      if (!input.ok) return input;
      const opened = tool.open(input.value);
      if (!opened.ok) return opened;
      // One that is there would have been called in its place.
      if (tool.name === wrapper) return missing(String(opened.value.input.name));
      return ok({ tool, opened: opened.value });
    },
    find: (name) => byName.get(name),
    seek(name) {
      const tool = byName.get(name);
      return tool === undefined ? missing(name) : ok(tool);
    },
    meant(call) {
      const outer = byName.get(call.name);
      const inner = outer?.name === wrapper ? innerCall(outer, call) : undefined;
      const tool = inner && byName.get(inner.name);
      if (inner === undefined || tool === undefined || tool === outer) return call;
      const { id, name, arguments: written, extra } = call;
      return {
        ...{ id, name: tool.name, arguments: inner.arguments, wrapped: { name, arguments: written } },
        ...(extra === undefined ? {} : { extra }),
      };
    },
    only: (wanted) =>
      kitOf(wanted.join(" "), ({ name }) => wanted.includes(name), { tellsAll: !wanted.includes(wrapper) }),
    without: (unwanted) => kitOf(`- ${unwanted.join(" ")}`, ({ name }) => !unwanted.includes(name), { tellsAll }),
  };
}

/** The way to tools on demand. */
const wrapper = "use_tool";

/** What is called through it, as the model meant it; undefined where that cannot be told. */
function innerCall(outer: Tool, call: ToolCall): Pick<ToolCall, "name" | "arguments"> | undefined {
  const input = readArguments(call.name, call);
  const opened = input.ok ? outer.open(input.value) : input;
  if (!opened.ok) return undefined;
  const { name, arguments: written } = opened.value.input;
  return { name: String(name), arguments: written === undefined ? "{}" : String(written) };
}

/** Those that share a word with it come first: `current_now` is rather `now` than a word of that length. */
function nearNames(name: string, names: readonly string[]): string[] {
  const words = new Set(partsOf(name.slice(0, nameBytesMax)));
  const alike = names.filter((other) => partsOf(other).some((word) => words.has(word)));
  return [...new Set([...nearest(name, alike, nearMax), ...nearest(name, names, nearMax)])].slice(0, nearMax);
}

function partsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2);
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
