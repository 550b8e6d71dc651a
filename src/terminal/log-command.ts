import type { Writable } from "node:stream";
import type { Result } from "../base/result.ts";
import type { CallAnswer, Client, ClientFailure } from "../client/client.ts";
import type { Words } from "../words/words.ts";
import { exitCodes, exitReasonOf } from "./exit-codes.ts";
import { commandFailureText } from "./failure-text.ts";
import { findConversation } from "./find-conversation.ts";
import { formatTime, jsonLine } from "./format.ts";
import { safeLine } from "./safe-text.ts";

export type LogOptions = {
  readonly client: Client;
  readonly words: Words;
  readonly output: Writable;
  readonly errors: Writable;
  readonly id: string;
  readonly json: boolean;
};

type Page = Result<CallAnswer<"readEvents">, ClientFailure>;

/** `agentyard log ID`: every event of a conversation, one a line. */
export async function printLog(options: LogOptions): Promise<number> {
  const { client, output, json } = options;
  const found = await findConversation(client, { id: options.id }, options.words.terminal);
  if (!found.ok) return refuse(options, found.failure);
  let next: number | null = 0;
  while (next !== null) {
    const page: Page = await client.call("readEvents", {
      params: { id: found.value.id },
      query: { after: next, limit: 1000 },
    });
    if (!page.ok) return refuse(options, page.failure);
    for (const event of page.value.items) output.write(json ? jsonLine(event) : `${eventLine(event)}\n`);
    next = page.value.next;
  }
  return exitCodes.done;
}

/** `agentyard replay ID`: whether this program would do the same again. */
export async function printReplay(options: LogOptions): Promise<number> {
  const { client, words, output, json } = options;
  const found = await findConversation(client, { id: options.id }, words.terminal);
  const replayed = found.ok ? await client.call("replay", { params: { id: found.value.id } }) : found;
  if (!replayed.ok) return refuse(options, replayed.failure);
  const { turns, steps, differences } = replayed.value;
  const { replay } = words.terminal;
  const count = differences.length;
  const title = count === 0 ? replay.same({ turns, steps }) : replay.differences({ count, turns, steps });
  const lines = [
    title,
    ...differences.map(({ seq, what, recorded, now }) => {
      const told = { recorded: safeLine(recorded, 80), now: safeLine(now, 80) };
      return `  ${seq}: ${replay.difference[what](told)}`;
    }),
  ];
  output.write(json ? jsonLine(replayed.value) : `${lines.join("\n")}\n`);
  return count === 0 ? exitCodes.done : exitCodes.failed;
}

function eventLine({ seq, at, type, ...body }: { seq: number; at: number; type: string }): string {
  return `${String(seq).padStart(5)}  ${formatTime(at)}  ${type.padEnd(18)}  ${safeLine(JSON.stringify(body), 160)}`;
}

function refuse({ words, errors }: LogOptions, failure: Parameters<typeof commandFailureText>[1]): number {
  errors.write(`✗ ${commandFailureText(words, failure)}\n`);
  return exitCodes[exitReasonOf(failure.code)];
}
