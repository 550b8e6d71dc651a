import { pathToFileURL } from "node:url";
import type { Clock } from "../base/clock.ts";
import { thrownText } from "../base/fault.ts";
import type { BrokenToolFile } from "../protocol/tool.ts";
import { customTool } from "./custom-definition.ts";
import type { ToolSource } from "./foreign.ts";
import { shortened } from "./output.ts";
import type { Tool } from "./tool.ts";

/** A file that may hold a tool. `shown` is its name for people; `stamp` differs when it was changed. */
export type ToolFile = { readonly path: string; readonly shown: string; readonly stamp: string };

/** The operator's own tools: one file each. They run in this process, unsandboxed. */
export interface CustomTools extends ToolSource {
  /** Looks at the files: what is new, changed or gone counts from now on. */
  refresh(): Promise<void>;
  /** The files that hold a tool, by name. */
  files(): readonly { readonly file: string; readonly tool: string }[];
  /** Files that cannot be used, and why; the others work. */
  broken(): readonly BrokenToolFile[];
}

export type CustomToolsOptions = {
  /** As they lie in their folders now. */
  readonly list: () => Promise<readonly ToolFile[]>;
  readonly clock: Clock;
  /** Hears of each file that cannot be used, once for each of its versions. */
  readonly onBroken: (broken: BrokenToolFile) => void;
};

/** A file that takes longer to load has not loaded: a turn waits for it. */
const loadMsMax = 10_000;
const whyBytesMax = 200;

export function openCustomTools({ list, clock, onBroken }: CustomToolsOptions): CustomTools {
  let known = new Map<string, Loaded>();
  let tools: readonly Tool[] = [];
  let refreshing: Promise<void> | undefined;
  let versions = 0;

  const load = async (file: ToolFile): Promise<Loaded> => {
    versions += 1;
    const loaded = await loadFile(file, { clock, version: versions });
    if (loaded.broken !== undefined) onBroken(loaded.broken);
    return loaded;
  };
  const look = async () => {
    const files = await list();
    const before = known;
    const isSame = files.length === before.size && files.every(({ path, stamp }) => before.get(path)?.stamp === stamp);
    if (isSame) return;
    const now = new Map<string, Loaded>();
    for (const file of files) {
      const earlier = before.get(file.path);
      now.set(file.path, earlier?.stamp === file.stamp ? earlier : await load(file));
    }
    known = now;
    tools = Array.from(now.values()).flatMap(({ tool }) => tool ?? []);
  };
  return {
    tools: () => tools,
    async refresh() {
      refreshing ??= look().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    },
    files: () =>
      Array.from(known.values()).flatMap(({ shown, tool }) => (tool ? [{ file: shown, tool: tool.name }] : [])),
    broken: () => Array.from(known.values()).flatMap(({ broken }) => broken ?? []),
  };
}

type Loaded = {
  readonly shown: string;
  readonly stamp: string;
  readonly tool?: Tool;
  readonly broken?: BrokenToolFile;
};

async function loadFile(
  { path, shown, stamp }: ToolFile,
  { clock, version }: { readonly clock: Clock; readonly version: number },
): Promise<Loaded> {
  const { href } = pathToFileURL(path);
  const broken = (why: string, line?: number): Loaded => {
    const said = shortened((why.split("\n", 1)[0] ?? "").replaceAll(href, shown).replaceAll(path, shown), whyBytesMax);
    return { shown, stamp, broken: { file: shown, ...(line === undefined ? {} : { line }), why: said } };
  };
  const stop = new AbortController();
  let loaded: { readonly default?: unknown } | undefined;
  try {
    // A module is loaded once for each address: a changed file gets another one.
    const late = clock.wait(loadMsMax, stop.signal).then(() => undefined);
    loaded = await Promise.race([import(`${href}?v=${version}`), late]);
  } catch (error) {
    return broken(thrownText(error), lineIn(error, href));
  } finally {
    stop.abort();
  }
  if (loaded === undefined) return broken(`not loaded within ${loadMsMax / 1000} s`);
  const tool = customTool(loaded.default);
  return tool.ok ? { shown, stamp, tool: tool.value } : broken(tool.failure);
}

/** Where it broke, as the engine says it: `file:///…/a.ts?v=1:3`. */
function lineIn(error: unknown, href: string): number | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const at = stack.indexOf(href);
  const [, line] = at < 0 ? [] : (/^(?:\?v=\d+)?:(\d+)/.exec(stack.slice(at + href.length)) ?? []);
  return line === undefined ? undefined : Number(line);
}
