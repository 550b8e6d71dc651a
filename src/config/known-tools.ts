import { basename, extname } from "node:path";
import { nearest } from "../base/nearest.ts";
import { programsIn } from "./files.ts";
import type { Places } from "./places.ts";
import type { Walker } from "./walker.ts";
import type { Item } from "./yaml-tree.ts";

/** A tool that a file can be about: the name it is known under, and what it takes, where that is known. */
export type KnownTool = { readonly name: string; readonly arguments: readonly string[] | undefined };

/** By every name that a tool goes by. */
export type KnownTools = ReadonlyMap<string, KnownTool>;

/** The built-in tools, and the files of the operator: `tools/find-invoice.ts` is most likely `find_invoice`. */
export async function knownTools({ toolFolders }: Pick<Places, "toolFolders">): Promise<KnownTools> {
  const { builtins } = await import("../tools/tools.ts");
  const files = await Promise.all(toolFolders.map((folder) => programsIn(folder, [])));
  const custom = files.flat().map(({ path }) => basename(path, extname(path)).replaceAll("-", "_"));
  return new Map<string, KnownTool>([
    ...custom.map((name) => [name, { name, arguments: undefined }] as const),
    ...builtins.flatMap(({ name, aliases, parameters: { properties } }) => {
      const known = { name, arguments: Object.keys(properties ?? {}) };
      return [name, ...aliases].map((word) => [word, known] as const);
    }),
  ]);
}

const isName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * The tool that a name means. What servers of others bring is not known before they have answered, so a name that is
 * like none of ours is taken as it is. One that is, is a typing error; names of the form `mcp__server__tool` never are.
 */
export function toolNamed(item: Item, word: string, walker: Walker, tools: KnownTools): KnownTool | undefined {
  const known = tools.get(word);
  if (known !== undefined) return known;
  const [near] = nearest(word, tools.keys(), 1, { onlyLikely: isName.test(word) });
  if (isName.test(word) && (near === undefined || word.includes("__"))) return { name: word, arguments: undefined };
  walker.problems.push({ fault: "unknown_tool", name: word, near: near ?? "", place: walker.placeOf(item) });
  return undefined;
}
