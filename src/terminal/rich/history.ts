import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { parsedObject } from "../../base/json.ts";

/** Of all folders together; when the file has twice as many lines it is written anew. */
const entriesMax = 2_000;
const entryCharactersMax = 10_000;
const fileBytesMax = 20_000_000;

type Entry = { readonly folder: string; readonly text: string };

/** What was typed in this folder, newest first, kept in a file of the user's own for the next time. */
export class History {
  readonly #file: string | undefined;
  readonly #folder: string;
  #texts: string[];

  constructor({ file, folder }: { readonly file: string | undefined; readonly folder: string }) {
    this.#file = file;
    this.#folder = folder;
    const all = file === undefined ? [] : readEntries(file);
    if (file !== undefined && all.length > 2 * entriesMax) rewrite(file, all.slice(-entriesMax));
    this.#texts = unique(all.filter((entry) => entry.folder === folder).map(({ text }) => text)).toReversed();
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** The same text again is moved to the front. */
  add(text: string): void {
    if (text.length > entryCharactersMax || text === this.#texts[0]) return;
    this.#texts = [text, ...this.#texts.filter((other) => other !== text)];
    if (this.#file === undefined) return;
    const line = `${JSON.stringify({ folder: this.#folder, text })}\n`;
    unlessRefused(this.#file, (file) => appendFileSync(file, line, { mode: 0o600 }));
  }

  /** Every word of the query stands somewhere in it. */
  search(query: string): readonly string[] {
    const words = query.toLowerCase().split(/\s+/);
    return this.#texts.filter((text) => words.every((word) => text.toLowerCase().includes(word)));
  }
}

function readEntries(file: string): Entry[] {
  const text = unlessRefused(file, (path) => (statSync(path).size > fileBytesMax ? "" : readFileSync(path, "utf8")));
  return (text ?? "").split("\n").flatMap((line) => {
    const { folder, text: typed } = parsedObject(line) ?? {};
    return typeof folder === "string" && typeof typed === "string" ? [{ folder, text: typed }] : [];
  });
}

function rewrite(file: string, entries: readonly Entry[]): void {
  const beside = `${file}.new`;
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  unlessRefused(file, () => {
    writeFileSync(beside, lines, { mode: 0o600 });
    renameSync(beside, file);
  });
}

/** The last of equal ones stays. */
function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.toReversed())].toReversed();
}

/** A history that cannot be kept, on a full or a read-only disk, is no reason to stop: it lasts until the end then. */
function unlessRefused<T>(file: string, act: (file: string) => T): T | undefined {
  try {
    return act(file);
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}
