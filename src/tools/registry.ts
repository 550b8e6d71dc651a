import type { OwnerId } from "../protocol/ids.ts";
import type { ListedTool, ToolOff, ToolOrigin, ToolTier } from "../protocol/tool.ts";
import type { ToolSource } from "./foreign.ts";
import { shortened } from "./output.ts";
import type { Tool } from "./tool.ts";
import { openToolkit, type Toolkit } from "./toolkit.ts";

/** What `tools.yaml` says of one tool; what it does not say stays as the tool has it. */
export type ToolSetting = {
  readonly name: string;
  readonly tier?: ToolTier | undefined;
  /** Its category, tags and description: further words that it is found by. */
  readonly words?: string | undefined;
};

/** A tool that is left out because of its name, or because there are too many. */
export type LeftOut = {
  readonly name: string;
  readonly origin: ToolOrigin;
  readonly why: Exclude<ToolOff, "switched_off">;
  readonly takenBy?: ToolOrigin | undefined;
};

export type RegistryOptions = {
  readonly builtins: readonly Tool[];
  /** In the order of whose name counts: the first one keeps it. */
  readonly sources: readonly { readonly origin: Exclude<ToolOrigin, "builtin">; readonly source: ToolSource }[];
  readonly settings: readonly ToolSetting[];
  /** Built-in tools that cannot do anything as things are: they are not told of, and who calls one hears why. */
  readonly isIdle?: ((name: string) => boolean) | undefined;
  /** Hears of each one once. */
  readonly onLeftOut: (left: LeftOut) => void;
};

/** All tools there are, in three tiers: discovered, enabled by `tools.yaml`, and told of or found on demand. */
export interface Registry {
  /** What this user's agents can have, as things stand; the same toolkit as long as nothing changed. */
  kitOf(owner: OwnerId): Toolkit;
  /** Waits a moment for sources that do not know all of their tools yet. */
  lookUp(owner: OwnerId, signal: AbortSignal): Promise<void>;
  /** Everything that was discovered for this user, with what is off, sorted by name. */
  list(owner: OwnerId): readonly ListedTool[];
  /** Whether a tool goes by this name for anybody who was here. */
  isKnown(name: string): boolean;
  /** What `tools.yaml` says from now on. */
  change(settings: readonly ToolSetting[]): void;
}

/** Of one user. Beyond it a list could no longer be searched in a moment. */
export const toolsMax = 5_000;
/** Toolkits that are kept: users with the same tools have the same one. */
const kitsMax = 64;
const leftOutMax = 10_000;
const shownNameBytes = 80;

export function openRegistry({ builtins, sources, onLeftOut, ...options }: RegistryOptions): Registry {
  let settings = options.settings;
  const { isIdle = () => false } = options;
  const made = new Map<string, Made>();
  const numbers = new WeakMap<readonly Tool[], number>();
  const known = new Set(builtins.flatMap(({ name, aliases }) => [name, ...aliases]));
  const told = new Set<string>();
  let count = 0;
  const numberOf = (list: readonly Tool[]) => {
    const known = numbers.get(list);
    if (known !== undefined) return known;
    count += 1;
    numbers.set(list, count);
    return count;
  };
  const tell = (left: LeftOut) => {
    const key = JSON.stringify(left);
    if (told.has(key) || told.size >= leftOutMax) return;
    told.add(key);
    onLeftOut({ ...left, name: shortened(left.name, shownNameBytes) });
  };

  const of = (owner: OwnerId): Made => {
    const lists: Discovered[] = [
      { origin: "builtin", tools: builtins },
      ...sources.map(({ origin, source }) => ({ origin, tools: source.tools(owner) })),
    ];
    const idle = new Set(builtins.flatMap(({ name }) => (isIdle(name) ? [name] : [])));
    const key = [...lists.map(({ tools }) => numberOf(tools)), ...idle].join();
    const before = made.get(key);
    if (before !== undefined) return before;
    const now = make(lists, settings, idle);
    for (const left of now.leftOut) tell(left);
    for (const { name, aliases } of now.kit.offered("full", new Set(now.names))) {
      if (known.size < leftOutMax) for (const word of [name, ...aliases]) known.add(word);
    }
    const [oldest] = made.keys();
    if (made.size >= kitsMax && oldest !== undefined) made.delete(oldest);
    made.set(key, now);
    return now;
  };

  return {
    kitOf: (owner) => of(owner).kit,
    async lookUp(owner, signal) {
      await Promise.all(sources.map(({ source }) => source.lookUp?.(owner, signal)));
    },
    list: (owner) => of(owner).listed,
    isKnown: (name) => known.has(name),
    change(changed) {
      if (JSON.stringify(changed) === JSON.stringify(settings)) return;
      settings = changed;
      made.clear();
    },
  };
}

type Discovered = { readonly origin: ToolOrigin; readonly tools: readonly Tool[] };
type Made = {
  readonly kit: Toolkit;
  readonly names: readonly string[];
  readonly listed: readonly ListedTool[];
  readonly leftOut: readonly LeftOut[];
};

/** The common part of what all families of models take. */
const isName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

function make(lists: readonly Discovered[], settings: readonly ToolSetting[], idle: ReadonlySet<string>): Made {
  const given = new Map(settings.map((setting) => [setting.name, setting]));
  const taken = new Map<string, ToolOrigin>();
  const used: Tool[] = [];
  const listed: ListedTool[] = [];
  const leftOut: LeftOut[] = [];
  for (const { origin, tools } of lists) {
    for (const tool of tools) {
      const { name, description } = tool;
      const setting = [name, ...tool.aliases].map((word) => given.get(word)).find((found) => found !== undefined);
      const off = refusalOf(tool, { origin, taken, count: used.length });
      const wanted = setting?.tier ?? (tool.isOnDemand ? "on_demand" : "loaded");
      const tier = off !== undefined ? "off" : idle.has(name) && wanted === "loaded" ? "on_demand" : wanted;
      if (off !== undefined) leftOut.push(off);
      const aliases = tool.aliases.filter((word) => !taken.has(plain(word)));
      const why = off?.why ?? (tier === "off" ? "switched_off" : undefined);
      listed.push({
        ...{ name, description, origin, tier, aliases },
        ...(why === undefined ? {} : { why }),
        ...(off?.takenBy === undefined ? {} : { takenBy: off.takenBy }),
      });
      if (off !== undefined) continue;
      // Also of one that is switched off: nothing else may answer to its name.
      for (const word of [name, ...aliases]) taken.set(plain(word), origin);
      if (tier === "off") continue;
      used.push({ ...tool, aliases, isOnDemand: tier === "on_demand", words: setting?.words });
    }
  }
  const sorted = listed.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return { kit: openToolkit(used), names: used.map(({ name }) => name), listed: sorted, leftOut };
}

type Place = { readonly origin: ToolOrigin; readonly taken: ReadonlyMap<string, ToolOrigin>; readonly count: number };

function refusalOf({ name }: Tool, { origin, taken, count }: Place): LeftOut | undefined {
  if (!isName.test(name)) return { name, origin, why: "name_unfit" };
  const takenBy = taken.get(plain(name));
  if (takenBy !== undefined) return { name, origin, why: "name_taken", takenBy };
  return count >= toolsMax ? { name, origin, why: "too_many" } : undefined;
}

/** Models mix these up. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
