import type { Readable } from "node:stream";

/** The lines of a stream, ended by line feeds only: U+2028 and its like are text. */
export async function* readLines(input: Readable): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const text of decoded(input)) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) yield line.endsWith("\r") ? line.slice(0, -1) : line;
  }
  if (rest !== "") yield rest;
  return undefined;
}

/** All of a stream as text. */
export async function readAll(input: Readable): Promise<string> {
  let all = "";
  for await (const text of decoded(input)) all += text;
  return all;
}

async function* decoded(input: Readable): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of input) {
    yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
  return undefined;
}
