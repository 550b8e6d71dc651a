import { z } from "zod";
import { nearest } from "../../base/nearest.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { forModels } from "../../words/words.ts";
import type { WalkEntry } from "../../workspace/workspace.ts";
import { listedPath } from "../file-events.ts";
import { fitEntries } from "../fit-entries.ts";
import { compileGlob, type Glob, wantsHidden } from "../glob.ts";
import { shortened } from "../output.ts";
import { defineTool } from "../tool.ts";

const pathsMax = 100;
const shownBytesMax = 200;

export const findFiles = defineTool({
  name: "find_files",
  description:
    "Find files by name, newest first. Use it when you know a part of the name or its ending. Not for words inside files: use search_file. Without a slash the pattern is looked for in all folders: *.csv; or outputs/**/*.{md,txt}. Returns at most 100 paths with size and age.",
  class: "pure",
  isBasic: true,
  input: z.object({
    pattern: z.string().describe("A name with wildcards, such as report*."),
    path: z.string().optional().describe("A folder. Left out: all of them."),
  }),
  otherNames: {
    ...{ glob: "pattern", name: "pattern", query: "pattern", filename: "pattern", glob_pattern: "pattern" },
    ...{ directory: "path", dir: "path", folder: "path", file_path: "path" },
  },
  async run({ pattern, path = "." }, { workspace, clock, signal, outputBytesMax }) {
    if (/(^|[/{,])\.\.([/},]|$)|^\s*[/~]/.test(pattern))
      return failure("path_traversal_blocked", { path: forModels.files.name(shortened(pattern, shownBytesMax)) });
    const glob = compileGlob(pattern);
    if (!glob.ok) return glob;
    const walk = await workspace.walk(path, { signal, hidden: wantsHidden(pattern) });
    if (!walk.ok) return walk;
    const anyCase = compileGlob(pattern, { ignoresCase: true });
    const seen = await lookThrough(walk.value, {
      folder: `${listedPath(path)}/`,
      glob: glob.value,
      anyCase: anyCase.ok ? anyCase.value : undefined,
    });
    const { files } = forModels;
    const deeper = seen.deeper > 0 ? [files.deeper(seen.deeper)] : [];
    if (seen.count === 0) return ok({ text: [describeNone(pattern, path, seen), ...deeper].join("\n") });
    const now = clock.now();
    const lines = seen.newest.map((entry) =>
      files.found(entry.path, files.size(entry.bytes), files.age(now - entry.modifiedAt)),
    );
    const { shown } = fitEntries(lines, { countMax: pathsMax, bytesMax: outputBytesMax });
    const left = seen.count - shown.length;
    return ok({ text: [...shown, ...(left > 0 ? [files.foundMore(left)] : []), ...deeper].join("\n") });
  },
});

type Sought = { readonly folder: string; readonly glob: Glob; readonly anyCase: Glob | undefined };
type Seen = {
  /** Of all that fit, which are `count`. */
  newest: WalkEntry[];
  count: number;
  /** The first that fit with another case, and the first of all. */
  readonly others: string[];
  readonly all: string[];
  /** Files that no path leads to. */
  deeper: number;
};

/** Keeps no more than is shown: programs can make very many files with very long paths. */
async function lookThrough(walk: AsyncIterable<WalkEntry>, { folder, glob, anyCase }: Sought): Promise<Seen> {
  const seen: Seen = { newest: [], count: 0, others: [], all: [], deeper: 0 };
  // Models also write the folder into the pattern although they name it.
  const fits = (isFitting: Glob, path: string) =>
    isFitting(path) || (path.startsWith(folder) && isFitting(path.slice(folder.length)));
  const sortAndCut = () =>
    seen.newest.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1)).splice(pathsMax);
  for await (const entry of walk) {
    if (entry.type !== "file") continue;
    const { path, standsFor } = entry;
    if (standsFor !== undefined) {
      seen.deeper += standsFor;
      continue;
    }
    if (seen.all.length < candidatesMax) seen.all.push(path);
    if (fits(glob, path)) {
      seen.count += 1;
      if (seen.newest.push(entry) > 2 * pathsMax) sortAndCut();
    } else if (seen.count === 0 && seen.others.length < namesMax && anyCase !== undefined && fits(anyCase, path))
      seen.others.push(path);
  }
  sortAndCut();
  return seen;
}

const namesMax = 3;
/** Files that are looked through for a name that was meant. */
const candidatesMax = 2_000;

/** What a pattern that finds nothing may have meant. */
function describeNone(pattern: string, path: string, { all, others }: Pick<Seen, "all" | "others">): string {
  const { files } = forModels;
  const near = nearest(pattern.replaceAll(/[*?{}[\]]/g, ""), all, namesMax, {
    spellings: (candidate) => [candidate, candidate.slice(candidate.lastIndexOf("/") + 1)],
    onlyLikely: true,
  });
  return [
    files.foundNone(shortened(pattern, shownBytesMax), path),
    ...(others.length > 0 ? [files.otherCase(others)] : near.length > 0 ? [files.nearNames(near)] : []),
    files.lookAround,
  ].join(" ");
}
