import { type DoneCall, plainName } from "./facts.ts";

/** A piece of a file as `read_file` shows it. */
export type Page = {
  readonly path: string;
  readonly text: string;
  /** The last line of this piece, and how many the file has; undefined where that is not told. */
  readonly lastLine: number | undefined;
  readonly lines: number | undefined;
  /** Where to read on, with a column where this piece ends inside a line; undefined at the end of the file. */
  readonly next: { readonly offset: number; readonly column?: number | undefined } | undefined;
};

/** What was read in this turn, in order. */
export function pagesOf(done: readonly DoneCall[]): readonly Page[] {
  return succeeded(done, "read_file").map(({ result }) => pageOf(result));
}

function succeeded(done: readonly DoneCall[], tool: string): readonly DoneCall[] {
  return done.filter(({ name, failure }) => name === tool && failure === undefined);
}

function pageOf(result: string): Page {
  const head = /^=== (.+?)(?: \(([^()\n]*)\))? ===(?:\n|$)/.exec(result);
  const range = /^lines? \d+(?:–(\d+))? of (\d+)/.exec(head?.[2] ?? "");
  const more = /\n?\[more: read_file .* offset=(\d+)(?: column=(\d+))?[^\n]*\]$/.exec(result);
  const offset = numberOf(more?.[1]);
  return {
    path: plainName(head?.[1] ?? ""),
    text: result.slice(head?.[0].length ?? 0, more?.index),
    lastLine: numberOf(range?.[1]),
    lines: numberOf(range?.[2]),
    next: offset === undefined ? undefined : { offset, column: numberOf(more?.[2]) },
  };
}

function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

/** The pieces of one file as they stand in it. */
export function textOf(pages: readonly Page[]): string {
  return pages.map(({ text, next }, index) => text + (index < pages.length - 1 && !next?.column ? "\n" : "")).join("");
}

/** A line for each file and folder that was seen, files of sub-folders below theirs; `…` where not all is told. */
export function seenLines(done: readonly DoneCall[]): readonly string[] {
  const listed = new Set(listedFiles(done));
  const deeper = foundEntries(done).filter(({ path }) => !listed.has(path));
  const lines = linesOf(done, "list_files").flatMap((line) => {
    if (!/^\[(DIR|FILE|SKILL)\] /.test(line)) return [];
    const folder = folderIn(line);
    const below = folder === undefined ? [] : deeper.filter(({ path }) => path.startsWith(folder));
    return [line, ...below.map(({ path, size }) => `[FILE] ${path} (${size})`).sort()];
  });
  const isCut = [...linesOf(done, "list_files"), ...linesOf(done, "find_files")].some((line) =>
    /^\[\d+ more: /.test(line),
  );
  return isCut ? [...lines, "…"] : lines;
}

/** Paths of files: those that were listed, then those that were only found in sub-folders and elsewhere. */
export function seenFiles(done: readonly DoneCall[]): readonly string[] {
  return [...new Set([...listedFiles(done), ...foundEntries(done).map(({ path }) => path)])];
}

/** Whether there are folders, or more entries, that a list does not show. */
export function hasMore(done: readonly DoneCall[]): boolean {
  return linesOf(done, "list_files").some((line) => folderIn(line) !== undefined || /^\[\d+ more: /.test(line));
}

function listedFiles(done: readonly DoneCall[]): readonly string[] {
  const names = linesOf(done, "list_files").flatMap((line) => /^\[FILE\] (.+) \(\d+ bytes\)$/.exec(line)?.[1] ?? []);
  return names.map(plainName);
}

function foundEntries(done: readonly DoneCall[]): readonly { readonly path: string; readonly size: string }[] {
  return linesOf(done, "find_files").flatMap((line) => {
    const [, path, size] = /^(.+) \(([\d.]+ (?:bytes|KB|MB)), [^()]*\)$/.exec(line) ?? [];
    return path === undefined || size === undefined ? [] : [{ path: plainName(path), size }];
  });
}

function folderIn(line: string): string | undefined {
  const name = /^\[DIR\] +(.+)$/.exec(line)?.[1];
  return name === undefined ? undefined : plainName(name);
}

function linesOf(done: readonly DoneCall[], tool: string): readonly string[] {
  return succeeded(done, tool).flatMap(({ result }) => result.split("\n"));
}
