import type { ToolSetting } from "../tools/tools.ts";
import { text, toggle } from "./kinds.ts";
import { type KnownTools, toolNamed } from "./known-tools.ts";
import type { SourceLine } from "./sources.ts";
import type { Take, Walker } from "./walker.ts";
import type { Entry, Item } from "./yaml-tree.ts";

/** What one `tools.yaml` says of one tool, and where. */
export type ToolEntry = ToolSetting & { readonly place: SourceLine };

/** One `tools.yaml`, checked: `core` is told of with every request, `optional` is found on demand or off. */
export function readToolsFile(entries: readonly Entry[], walker: Walker, tools: KnownTools): ToolEntry[] {
  const found = new Map<string, ToolEntry>();
  const take =
    (read: (entry: Entry | undefined, name: string) => Said): Take =>
    (group, name) => {
      for (const [item, word, entry] of namesIn(group, name, walker)) {
        const known = toolNamed(item, word, walker, tools);
        const said = read(entry, `${name}.${word}`);
        if (known !== undefined) found.set(known.name, { name: known.name, ...said, place: walker.placeOf(item) });
      }
    };
  walker.entries(entries, "", {
    core: take((entry, name) => readCore(entry, name, walker)),
    optional: take((entry, name) => readOptional(entry, name, walker)),
  });
  return [...found.values()];
}

type Said = Pick<ToolSetting, "tier" | "words">;

/** A group with a line for each tool, or only a list of names. */
function namesIn(group: Entry, name: string, walker: Walker): [item: Item, word: string, entry: Entry | undefined][] {
  const { content } = group;
  if (content.form !== "list") {
    const found: [Item, string, Entry][] = [];
    walker.named(group, name, "read_file", (entry) => found.push([entry, entry.key, entry]));
    return found;
  }
  return content.items.flatMap((item) => {
    const word = walker.value(item, name, text)?.value;
    return word === undefined ? [] : [[item, word, undefined]];
  });
}

function readCore(entry: Entry | undefined, name: string, walker: Walker): Said {
  const words: string[] = [];
  if (entry !== undefined)
    walker.group(entry, name, {
      ...wordKeys(words, walker),
      // As other files of this kind have it: what is told of always is told of everywhere.
      available_to_subagent: (inside, key) => void walker.value(inside, key, toggle),
    });
  return { tier: "loaded", ...wordsOf(words) };
}

function readOptional(entry: Entry | undefined, name: string, walker: Walker): Said {
  const words: string[] = [];
  let isOn = true;
  let isAlwaysThere = false;
  const always: Take = (inside, key) => {
    isAlwaysThere = walker.value(inside, key, toggle)?.value ?? isAlwaysThere;
  };
  if (entry !== undefined)
    walker.group(entry, name, {
      enabled: (inside, key) => {
        isOn = walker.value(inside, key, toggle)?.value ?? isOn;
      },
      ...{ always_available: always, available_to_subagent: always },
      ...wordKeys(words, walker),
    });
  return { tier: isOn ? (isAlwaysThere ? "loaded" : "on_demand") : "off", ...wordsOf(words) };
}

function wordKeys(words: string[], walker: Walker): Readonly<Record<"category" | "tags" | "description", Take>> {
  const add = (item: Item, key: string) => {
    const word = walker.value(item, key, text)?.value;
    if (word !== undefined) words.push(word);
  };
  return {
    category: add,
    tags: (entry, key) => {
      for (const item of walker.list(entry, key, "web") ?? []) add(item, key);
    },
    description: add,
  };
}

function wordsOf(words: readonly string[]): Pick<ToolSetting, "words"> {
  return words.length === 0 ? {} : { words: words.join(" ") };
}
