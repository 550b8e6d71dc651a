import { type DoneCall, plainName } from "./facts.ts";

/** A piece of a file as `read_file` shows it. */
export type Page = {
  readonly path: string;
  readonly text: string;
  /** The last line of this piece, and how many the file has; undefined where that is not told. */
  readonly lastLine: number | undefined;
  readonly lines: number | undefined;
  /** Where to read on; undefined at the end of the file. */
  readonly next: number | undefined;
};

/** What was read in this turn, in order. */
export function pagesOf(done: readonly DoneCall[]): readonly Page[] {
  return done.filter(({ name }) => name === "read_file").map(({ result }) => pageOf(result));
}

function pageOf(result: string): Page {
  const head = /^=== (.+?)(?: \((?:lines? \d+(?:–(\d+))? of (\d+))?[^\n]*\))? ===(?:\n|$)/.exec(result);
  const more = /\n?\[more: read_file .* offset=(\d+)[^\n]*\]$/.exec(result);
  return {
    path: plainName(head?.[1] ?? ""),
    text: result.slice(head?.[0].length ?? 0, more?.index),
    lastLine: numberOf(head?.[2]),
    lines: numberOf(head?.[3]),
    next: numberOf(more?.[1]),
  };
}

function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

/** The lines of `list_files` that name something. */
export function listedLines(done: readonly DoneCall[]): readonly string[] {
  const lists = done.filter(({ name, failure }) => name === "list_files" && failure === undefined);
  return lists.flatMap(({ result }) => result.split("\n").filter((line) => /^\[(DIR|FILE|SKILL)\] /.test(line)));
}

/** The files among them, as paths. */
export function listedFiles(done: readonly DoneCall[]): readonly string[] {
  const names = listedLines(done).flatMap((line) => /^\[FILE\] (.+) \(\d+ bytes\)$/.exec(line)?.[1] ?? []);
  return names.map(plainName);
}
