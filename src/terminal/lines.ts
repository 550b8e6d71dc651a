import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";

const readyWithinMs = 300;

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

/**
 * The same where it may be somebody else's input that stays open: undefined unless something comes, or it ends, at once.
 * What has begun is read to its end.
 */
export async function readIfReady(input: Readable, clock: Clock): Promise<string | undefined> {
  const begun = Promise.withResolvers<boolean>();
  const onBegun = () => begun.resolve(true);
  // What has come is read first: on a busy machine the time may be over before anybody could look.
  const forget = clock.after(readyWithinMs, () => setImmediate(() => begun.resolve(false)));
  const events = ["readable", "end", "close", "error"];
  for (const event of events) input.once(event, onBegun);
  const isReady = await begun.promise;
  forget();
  for (const event of events) input.off(event, onBegun);
  if (isReady) return input.readableEnded || input.destroyed ? "" : readAll(input);
  input.destroy();
  return undefined;
}

async function* decoded(input: Readable): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of input) {
    yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
  return undefined;
}
