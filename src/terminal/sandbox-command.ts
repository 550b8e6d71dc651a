import type { Writable } from "node:stream";
import type { Client } from "../client/client.ts";
import type { Words } from "../words/words.ts";
import { exitCodes } from "./exit-codes.ts";
import { failureText } from "./failure-text.ts";
import { asTyped } from "./own-command.ts";
import { safeLine } from "./safe-text.ts";

export type SandboxOptions = {
  readonly client: Client;
  readonly words: Words;
  readonly output: Writable;
  /** Where it can be reached, and whose data it is. */
  readonly listening: { readonly address: string; readonly dataDir: string };
  readonly leave: AbortSignal;
};

/** Says where the sandbox is and what this machine can do, and stays until it is told to end. */
export async function serveSandbox({ client, words, output, listening, leave }: SandboxOptions): Promise<number> {
  const { service: texts } = words.terminal;
  const { address, dataDir: data } = listening;
  output.write(`${texts.listening({ address, data })}\n`);
  output.write(`${await abilities(client, words)}\n`);
  output.write(`${texts.howToEnd()}\n`);
  if (!leave.aborted) {
    const { promise, resolve } = Promise.withResolvers<void>();
    leave.addEventListener("abort", () => resolve());
    await promise;
  }
  return exitCodes.done;
}

/** What a sandbox that was really started found out, in a line. */
export async function abilities(client: Client, words: Words): Promise<string> {
  const { service: texts, gap, fullStop } = words.terminal;
  const health = await client.call("healthDetailed");
  if (!health.ok) return texts.unknown({ why: failureText(words, health.failure) });
  const { missing, degraded } = health.value.dependencies.sandbox;
  const [lack] = missing;
  if (lack !== undefined) {
    const off = texts.off({ reason: safeLine(lack.reason, 300), fix: safeLine(lack.fix, 300) });
    return asTyped(words, [off, texts.tellMore()].join(gap));
  }
  if (degraded.length === 0) return texts.full();
  const less = texts.degraded({ count: degraded.length });
  return asTyped(words, `${less}${fullStop}${gap}${texts.tellMore()}`);
}
