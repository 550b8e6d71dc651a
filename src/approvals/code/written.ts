import { fileCharactersMax, writeFile } from "../shell/files.ts";
import { any, isUnknown, type Run, type Stream, spend, unknownStream } from "../shell/scene.ts";
import { type Argument, costOf, unknown, type Value } from "./reader.ts";

/** A call as it was read: what is called, of what, with what, and its text. */
export type Called = {
  readonly ref: string;
  readonly owner: Value | undefined;
  readonly values: readonly Value[];
  readonly args: readonly Argument[];
  readonly what: string;
};

/** A program that writes; `opened`: the files that it has open for that, and whether nothing was seen written so far. */
type Writer = { readonly run: Run; readonly opened: Map<string, boolean> };

/**
 * A file that is opened to be written. What Python's own `open` gives is followed (`keepWritten`); until something known is
 * written, and whoever else opens it, nobody knows what is in it when it is run.
 */
export function keepOpened(
  { run, opened }: Writer,
  path: Value | undefined,
  mode: Value | undefined,
  own: boolean,
): void {
  const modes = own ? (mode?.texts ?? []) : [];
  const appends = modes.length > 0 && modes.every((text) => /^[bt]*a/.test(text));
  const isNew = modes.length > 0 && modes.every((text) => /^[bt]*[wx]/.test(text));
  for (const one of pathsOf(path)) {
    if (!appends) writeFile(run, one, unknownStream, false);
    opened.set(one, isNew);
  }
}

/** Files that a program writes are judged when they are run. */
export function keepWritten(writer: Writer, { ref, owner, values, args }: Called): void {
  const [first = unknown, second = unknown, third] = values;
  if (wholeFiles.test(ref)) return keep(writer, first, textOf([second]), ref.includes("append") || hasAppending(third));
  if (/(^|\.)write_(text|bytes)$/.test(ref)) return keep(writer, owner, textOf([first]), false);
  if (ref === "file.write") return keep(writer, owner, textOf([first]), true);
  spend(writer.run.scene, args.length);
  if (ref === "file.writelines") {
    spend(writer.run.scene, costOf(first));
    return keep(writer, owner, textOf(first.items ?? [first]), true);
  }
  const file = ref === "print" ? namedBy(args, "file") : undefined;
  if (file?.ref === "file") return keep(writer, file, printed(values, args), true);
  // Whoever else has it in hand may write to it.
  const isOther = ref.startsWith("file.") && !passive.test(ref);
  const given = args.map(({ value }) => value).filter((value) => /^file(\.(?!name$)|$)/.test(value.ref ?? ""));
  for (const one of isOther && owner !== undefined ? [owner, ...given] : given)
    for (const path of pathsOf(one)) if (writer.opened.has(path)) keep(writer, { texts: [path] }, undefined, true);
}

const wholeFiles = /^(fs\.)?(write|append|output)File(Sync)?$|^Deno\.writeTextFile(Sync)?$|^Bun\.write$/;
const passive = /^file\.(read\w*|close|flush|tell|isatty|writable|seekable|name|__enter__|__exit__)$/;

/** `{ flag: "a" }` */
function hasAppending(options: Value | undefined): boolean {
  return options?.items?.some(({ texts }) => texts.some((text) => /^a[sx+]*$/.test(text))) ?? false;
}

/** Where they are known. */
function pathsOf(path: Value | undefined): readonly string[] {
  return (path?.texts ?? []).filter((text) => !isUnknown(text));
}

function keep({ run, opened }: Writer, target: Value | undefined, text: string | undefined, appends: boolean): void {
  const stream: Stream = text === undefined ? unknownStream : { text, items: [], unseen: false };
  for (const path of pathsOf(target)) {
    const isFirst = opened.get(path) === true;
    if (isFirst) opened.set(path, false);
    writeFile(run, path, stream, appends && !isFirst);
  }
}

/** All of them in a row; `undefined` where one can have several texts, as in a loop, or is not known. */
function textOf(values: readonly Value[]): string | undefined {
  let whole = "";
  for (const { texts, items } of values) {
    const [text = any] = texts;
    if (items !== undefined || texts.length !== 1 || isUnknown(text)) return undefined;
    whole += text;
    if (whole.length > fileCharactersMax) return undefined;
  }
  return whole;
}

function printed(values: readonly Value[], args: readonly Argument[]): string | undefined {
  const between = namedBy(args, "sep") ?? { texts: [" "] };
  const end = namedBy(args, "end") ?? { texts: ["\n"] };
  return textOf([...values.flatMap((value, at) => (at === 0 ? [value] : [between, value])), end]);
}

function namedBy(args: readonly Argument[], name: string): Value | undefined {
  return args.find(({ key }) => key === name)?.value;
}
