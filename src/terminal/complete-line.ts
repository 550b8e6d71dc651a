import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { unfinishedMention, writtenMentions } from "./file-mentions.ts";
import type { Complete } from "./line-editor.ts";
import { type LocalPlace, targetsOf } from "./local-files.ts";
import type { KnownMentions } from "./mentions.ts";

const namesShownMax = 60;

/** Tab: a `/` command from its beginning, a `#` file from its folder, what can be named with `@`. */
export function lineCompleter(
  commands: (line: string) => string[],
  place: LocalPlace,
  known: Pick<KnownMentions, "complete">,
): Complete {
  return (line) => {
    const named = known.complete(line);
    if (named !== undefined) return [named.candidates, named.begun];
    const files = mentionPaths(line, place);
    return files === undefined ? [commands(line), line] : [[...files.written], files.begun];
  };
}

/** The files that a begun `#` could name, as they are written; undefined where none was begun. */
export function mentionPaths(
  line: string,
  place: LocalPlace,
): { readonly begun: string; readonly written: readonly string[] } | undefined {
  const mention = unfinishedMention(line);
  if (mention === undefined) return undefined;
  const paths = pathsFrom(mention.path, place).slice(0, namesShownMax);
  return { begun: line.slice(mention.start), written: writtenMentions(paths, mention.quote) };
}

/** Paths that begin so, folders with their slash; hidden ones only when asked for. */
function pathsFrom(path: string, place: LocalPlace): string[] {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const begun = path.slice(folder.length);
  for (const target of targetsOf(`${folder}x`, place)) {
    const entries = entriesOf(dirname(target)).filter(
      ({ name }) => name.startsWith(begun) && (begun !== "" || !name.startsWith(".")),
    );
    if (entries.length > 0) return entries.map(({ name, isFolder }) => `${folder}${name}${isFolder ? "/" : ""}`);
  }
  return [];
}

function entriesOf(folder: string): { name: string; isFolder: boolean }[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch {
    return []; // Nothing there that could be named.
  }
}
