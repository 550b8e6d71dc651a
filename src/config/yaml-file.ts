import { nearest } from "../base/nearest.ts";
import type { ValueForm } from "../words/words.ts";
import { type ConfigFile, readText } from "./files.ts";
import type { Folders } from "./first-kinds.ts";
import type { Problem } from "./problems.ts";
import type { Setting } from "./settings.ts";
import type { Given, Source } from "./sources.ts";
import { type Entry, parseTree } from "./yaml-tree.ts";

/** The settings that a file may hold, by their keys (`loop.steps_max`). */
export type KeyTable = ReadonlyMap<string, Setting<unknown>>;

/** Reads `agentyard.yaml`. Every key must be known; values are checked where they are read. */
export async function openYamlFile(
  file: ConfigFile,
  keys: KeyTable,
  folders: Folders,
  problems: Problem[],
): Promise<Source> {
  const text = (await readText(file, problems)) ?? "";
  const given = new Map<string, Given>();
  if (hasSettings(text)) {
    const { entries, errors } = await parseTree(text);
    for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
    if (errors.length === 0) for (const entry of entries) take(entry, "");
  }
  return { folders, find: ({ key }) => (key === undefined ? undefined : given.get(key)) };

  function take({ key, line, content, source }: Entry, prefix: string): void {
    const name = prefix + key;
    const place = { file: file.shown, line };
    const setting = keys.get(name);
    const example = exampleOf(name, keys);
    if (setting !== undefined) {
      const isList = content.form === "list" && listForms.includes(setting.kind.expected.form);
      const isTable = content.form === "group" && setting.kind.expected.form === "prices";
      if (isTable) given.set(name, { name, value: tableOf(content.entries, name, setting), place });
      else if (content.form === "value") given.set(name, { name, value: content.value, place });
      else if (isList) given.set(name, { name, value: content.text, place });
      else if (content.form !== "nothing") problems.push({ fault: "value", name, value: source, setting, place });
    } else if (example !== undefined) {
      if (content.form === "group") for (const entry of content.entries) take(entry, `${name}.`);
      else if (content.form !== "nothing") problems.push({ fault: "no_group", name, example, place });
    } else {
      problems.push({ fault: "unknown_key", name, near: nearestKey(name, keys), place });
    }
  }

  /** Each line of it is checked here, so that a mistake is told with its own. */
  function tableOf(entries: readonly Entry[], name: string, setting: Setting<unknown>): Record<string, unknown> {
    const table: Record<string, unknown> = Object.create(null);
    for (const { key, line, content, source } of entries) {
      const inside = content.form === "group" ? content.entries : [];
      const values = inside.map((entry) => [entry.key, entry.content.form === "value" && entry.content.value]);
      const one = { [key]: Object.fromEntries(values) };
      if (setting.kind.parse(one, folders) !== undefined) Object.assign(table, one);
      else {
        const place = { file: file.shown, line };
        problems.push({ fault: "value", name: `${name}.${key}`, value: source, setting, place });
      }
    }
    return table;
  }
}

const listForms: readonly ValueForm["form"][] = ["list", "origins", "networks"];

/** The file we ship holds comments only; it should not cost loading the parser. */
export function hasSettings(text: string): boolean {
  return /^[^\S\n]*[^#\s]/m.test(text);
}

/** A setting of that group; undefined where there is no such group. */
function exampleOf(group: string, keys: KeyTable): string | undefined {
  const key = [...keys.keys()].find((candidate) => candidate.startsWith(`${group}.`));
  return key?.slice(group.length + 1);
}

/** Found by the whole key, by its last word (`steps_max`) and by its variables (`MAX_LOOPS`). */
function nearestKey(name: string, keys: KeyTable): string {
  const spellings = (key: string) => [key, key.slice(key.lastIndexOf(".") + 1), ...(keys.get(key)?.variables ?? [])];
  return nearest(name, keys.keys(), 1, { spellings })[0] ?? name;
}
