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
    const all: WalkEntry[] = [];
    for await (const entry of walk.value) if (entry.type === "file") all.push(entry);

    // Models also write the folder into the pattern although they name it.
    const folder = `${listedPath(path)}/`;
    const fits = (isFitting: Glob, entry: WalkEntry) =>
      isFitting(entry.path) || (entry.path.startsWith(folder) && isFitting(entry.path.slice(folder.length)));
    const found = all.filter((entry) => fits(glob.value, entry));
    const { files } = forModels;
    if (found.length === 0) {
      const anyCase = compileGlob(pattern, { ignoresCase: true });
      const others = anyCase.ok ? all.filter((entry) => fits(anyCase.value, entry)) : [];
      return ok({ text: describeNone(pattern, path, { all, others }) });
    }
    const now = clock.now();
    const lines = found
      .sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1))
      .map((entry) => files.found(entry.path, files.size(entry.bytes), files.age(now - entry.modifiedAt)));
    const { shown, left } = fitEntries(lines, { countMax: pathsMax, bytesMax: outputBytesMax });
    return ok({ text: [...shown, ...(left > 0 ? [files.foundMore(left)] : [])].join("\n") });
  },
});

const namesMax = 3;
/** Files that are looked through for a name that was meant. */
const candidatesMax = 2_000;

/** What a pattern that finds nothing may have meant. */
function describeNone(pattern: string, path: string, seen: { all: WalkEntry[]; others: WalkEntry[] }): string {
  const { files } = forModels;
  const pathsOf = (entries: readonly WalkEntry[], countMax: number) =>
    entries.slice(0, countMax).map((entry) => entry.path);
  const others = pathsOf(seen.others, namesMax);
  const near = nearest(pattern.replaceAll(/[*?{}[\]]/g, ""), pathsOf(seen.all, candidatesMax), namesMax, {
    spellings: (candidate) => [candidate, candidate.slice(candidate.lastIndexOf("/") + 1)],
    onlyLikely: true,
  });
  return [
    files.foundNone(shortened(pattern, shownBytesMax), path),
    ...(others.length > 0 ? [files.otherCase(others)] : near.length > 0 ? [files.nearNames(near)] : []),
    files.lookAround,
  ].join(" ");
}
