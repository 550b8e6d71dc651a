import type { Writable } from "node:stream";
import type { Failure } from "../protocol/failure.ts";
import type { Words } from "../words/words.ts";
import { exitCodes } from "./exit-codes.ts";
import { failureText } from "./failure-text.ts";
import { jsonLine } from "./format.ts";
import { safeLine } from "./safe-text.ts";

type Streams = { readonly output: Writable; readonly errors: Writable; readonly words: Words };

/** A passage that answers. What has slides has them as pages; what has neither has none. */
export type SearchedPassage = {
  readonly path: string;
  readonly page_from: number | null;
  readonly page_to: number | null;
  readonly sheet?: string;
  readonly heading: string;
  readonly score: number;
  readonly text: string;
};

/** What became of a file: `partial` where some of it could not be read. */
export type SearchedFile<Receipt> = { readonly path: string } & (
  | { readonly status: "ok" | "partial"; readonly receipt: Receipt }
  | { readonly status: "failed"; readonly failure: Failure }
);

type Answer<Receipt> = {
  readonly results: readonly SearchedPassage[];
  readonly files: readonly SearchedFile<Receipt>[];
};

/** `agentyard search QUERY PATH…`, when it is done. Answers the exit code. */
export function printSearch<Receipt>(
  { results, files }: Answer<Receipt>,
  { output, errors, words, json }: Streams & { readonly json: boolean },
): number {
  if (json) output.write(jsonLine({ results, files: files.map((file) => fileObject(file, words)) }));
  else {
    printUnread(files, { errors, words });
    const texts = results.map((passage) => shownPassage(passage, words));
    output.write(texts.length === 0 ? `${words.terminal.searching.nothing()}\n` : texts.join("\n"));
  }
  return exitCodeOfFiles(files);
}

/** One line of the answer to a file of queries. */
export function printSearchLine(
  line: { readonly id: unknown; readonly results: readonly SearchedPassage[] },
  output: Writable,
): void {
  output.write(jsonLine(line));
}

/** The files that could not be read, for people. */
export function printUnread<Receipt>(
  files: readonly SearchedFile<Receipt>[],
  { errors, words }: Pick<Streams, "errors" | "words">,
): void {
  for (const { path, ...file } of files)
    if (file.status === "failed") errors.write(`✗ ${safeLine(path, cellsMax)}: ${failureText(words, file.failure)}\n`);
}

/** Failed is only what could read nothing at all. */
export function exitCodeOfFiles<Receipt>(files: readonly SearchedFile<Receipt>[]): number {
  return files.every(({ status }) => status === "failed") ? exitCodes.failed : exitCodes.done;
}

const cellsMax = 200;

function fileObject<Receipt>(file: SearchedFile<Receipt>, words: Words) {
  if (file.status !== "failed") return file;
  const { path, status, failure } = file;
  return { path, status, error: { code: failure.code, message: failureText(words, failure) } };
}

function shownPassage({ path, page_from, page_to, sheet, heading, text }: SearchedPassage, words: Words): string {
  const { searching } = words.terminal;
  const where = page_from === null ? (sheet ?? "") : searching.pages({ from: page_from, to: page_to ?? page_from });
  const head = [path, where, heading].filter((part) => part !== "").map((part) => safeLine(part, cellsMax));
  const lines = text.split("\n").map((line) => `  ${safeLine(line, lineCellsMax)}`);
  return `${head.join(" · ")}\n${lines.join("\n")}\n`;
}

const lineCellsMax = 2_000;
