import { nearest } from "../base/nearest.ts";
import type { Kind } from "./first-kinds.ts";
import type { Problem } from "./problems.ts";
import type { SourceLine } from "./sources.ts";
import type { Entry, Item } from "./yaml-tree.ts";

export type Given<T> = { readonly value: T; readonly place: SourceLine };

/** A key that was given, for `agentyard config`. */
export type GivenRow = { readonly name: string; readonly value: string; readonly source: string };

/** Takes an entry in; `name` is its whole key, as people are told it. */
export type Take = (entry: Entry, name: string) => void;

/** Walks through a file whose keys lie in several levels. Every mistake is a problem, and the rest is read all the same. */
export type Walker = {
  readonly problems: Problem[];
  readonly rows: GivenRow[];
  placeOf(item: Item): SourceLine;
  /** `config/hitl_rules.yaml:14`. */
  sourceOf(item: Item): string;
  /** Undefined where nothing stands, or something that does not fit. */
  value<T>(item: Item, name: string, kind: Kind<T>): Given<T> | undefined;
  /** Only these keys may stand in it. */
  group(item: Item, name: string, keys: Readonly<Record<string, Take>>): void;
  entries(inside: readonly Entry[], prefix: string, keys: Readonly<Record<string, Take>>): void;
  /** For a map whose keys are chosen by whoever writes the file. */
  named(item: Item, name: string, example: string, take: Take): void;
  list(item: Item, name: string, example: string): readonly Item[] | undefined;
};

const noFolders = { base: "", home: "" };

export function openWalker(file: string, title: string, problems: Problem[]): Walker {
  const rows: GivenRow[] = [];
  const placeOf = ({ line }: Item): SourceLine => ({ file, line });
  const sourceOf = ({ line }: Item) => `${file}:${line}`;

  function inside(item: Item, name: string, example: string): readonly Entry[] {
    const { form } = item.content;
    if (form === "group") return item.content.entries;
    if (form !== "nothing") problems.push({ fault: "no_group", name, example, place: placeOf(item) });
    return [];
  }

  function entries(found: readonly Entry[], prefix: string, keys: Readonly<Record<string, Take>>): void {
    for (const entry of found) {
      const name = prefix + entry.key;
      const take = Object.hasOwn(keys, entry.key) ? keys[entry.key] : undefined;
      if (take !== undefined) take(entry, name);
      else {
        const near = prefix + (nearest(entry.key, Object.keys(keys), 1)[0] ?? "");
        problems.push({ fault: "unknown_key", name, near, place: placeOf(entry) });
      }
    }
  }

  return {
    ...{ problems, rows, placeOf, sourceOf, entries },
    group: (item, name, keys) => entries(inside(item, name, Object.keys(keys)[0] ?? ""), `${name}.`, keys),
    named(item, name, example, take) {
      for (const entry of inside(item, name, example)) take(entry, `${name}.${entry.key}`);
    },
    value(item, name, kind) {
      const { content, source } = item;
      if (content.form === "nothing") return undefined;
      const found = content.form === "value" ? kind.parse(content.value, noFolders) : undefined;
      if (found === undefined) {
        const setting = { variables: [], kind };
        problems.push({ fault: "value", name, value: source, setting, place: placeOf(item) });
        return undefined;
      }
      rows.push({ name: `${title}.${name}`, value: String(found), source: sourceOf(item) });
      return { value: found, place: placeOf(item) };
    },
    list(item, name, example) {
      const { content } = item;
      if (content.form === "nothing") return undefined;
      const items = content.form === "list" || content.form === "other" ? content.items : undefined;
      if (items === undefined) problems.push({ fault: "no_list", name, example, place: placeOf(item) });
      return items;
    },
  };
}
