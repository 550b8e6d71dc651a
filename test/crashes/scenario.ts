import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { Storage, StoredEvent } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { killingStorage } from "../world/killing-storage.ts";
import type { Answer, AskedRequest } from "../world/model-server.ts";
import { calls, says, stepOf } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/**
 * Three turns with everything that can be interrupted: parallel tools of all three classes, an approval, a question, a
 * cancel, and a turn after it. The person's part is repeated after a restart just as a client would: under the same ids.
 */
export const conversation = "crash";

/** A function of the request, so that a repeated request gets the same answer. */
export function scriptedAnswer(request: AskedRequest): Answer {
  const asked = String(request.body.messages.findLast((message) => message.role === "user")?.content ?? "");
  const isFirstStep = stepOf(request) === 0;
  if (asked.startsWith("first")) {
    if (!isFirstStep) return says("first done");
    return calls(
      ["look", { mark: "p" }],
      ["put", { mark: "i" }],
      ["send", { mark: "u" }],
      ["pay", { mark: "a" }],
      ["ask_human", { question: "Which?" }],
    );
  }
  if (asked.startsWith("second")) return isFirstStep ? calls(["hang", {}]) : says("second done");
  if (asked.startsWith("crash")) return isFirstStep ? calls(["die", {}]) : says("survived");
  return says("third done");
}

export type ScenarioOptions = {
  readonly data: string;
  readonly modelUrl: string;
  readonly killAfter?: number;
  /** The control: recovery is not told which calls had started. */
  readonly forgetsStarts?: boolean;
};

export async function startScenarioYard({
  data,
  modelUrl,
  killAfter,
  forgetsStarts = false,
}: ScenarioOptions): Promise<TestYard> {
  const marks = join(data, "marks.jsonl");
  const hang = defineTool({
    name: "hang",
    description: "Waits until it is stopped. For tests.",
    class: "pure",
    input: z.object({}),
    async run(_, { clock, signal }) {
      await clock.wait(60_000, signal);
      return ok({ text: "never" });
    },
  });
  const die = defineTool({
    name: "die",
    description: "Ends the process. For tests.",
    class: "pure",
    input: z.object({}),
    run() {
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => {});
    },
  });
  return startYard({
    data,
    env: { MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" },
    tools: [
      effectTool("look", "pure", marks),
      effectTool("put", "idempotent", marks),
      effectTool("send", "unsafe", marks, { delayMs: 5 }),
      effectTool("pay", "unsafe", marks, { asks: true }),
      hang,
      die,
    ],
    wrapStorage(storage) {
      const told = tellingStorage(forgetsStarts ? forgettingStorage(storage) : storage);
      return killAfter === undefined ? told : killingStorage(told, { afterAppends: killAfter });
    },
  });
}

/** Plays the person until all three turns have ended. */
export async function playScenario(yard: TestYard): Promise<void> {
  const { client } = yard;
  const made = await client.call("createConversation", { body: { id: conversation } });
  if (!made.ok && made.failure.code !== "conversation_exists") throw new Error(made.failure.code);
  await say(yard, "first");
  await untilEnded(yard, 1, async ({ decisions }) => {
    for (const { id, kind } of decisions) {
      const body =
        kind === "approval" ? { verdict: "approve" as const } : { verdict: "answer" as const, answer: "that one" };
      await client.call("decide", { params: { id: conversation, decision: id }, body });
    }
  });
  await say(yard, "second");
  await untilEnded(yard, 2, async () => {
    const isHanging = (await yard.events(conversation)).some(
      (event) => event.type === "call.started" && event.class === "pure" && event.call.endsWith("hang"),
    );
    const started = (await yard.events(conversation)).filter((event) => event.type === "turn.started").length;
    const answered = (await yard.events(conversation)).filter((event) => event.type === "message.assistant").length;
    if (isHanging || (started === 2 && answered === 3))
      await client.call("cancelTurn", { params: { id: conversation } });
  });
  await say(yard, "third");
  await untilEnded(yard, 3, async () => {});
}

export async function say(yard: TestYard, text: string): Promise<void> {
  await must(
    yard.client.call("sendMessage", { params: { id: conversation }, body: { id: `m-${text}`, text, mode: "queue" } }),
  );
}

type State = { readonly decisions: readonly { readonly id: string; readonly kind: string }[] };

/** Looks at every change; `act` does what the person would do now. */
export async function untilEnded(yard: TestYard, turns: number, act: (state: State) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  for await (const frame of yard.client.follow(conversation, { after: 0, signal: stop.signal })) {
    if (frame.frame === "delta") continue;
    const ended = (await yard.events(conversation)).filter((event) => event.type === "turn.finished").length;
    if (ended >= turns) break;
    await act(await must(yard.client.call("getState", { params: { id: conversation } })));
  }
  stop.abort();
}

/** Tells the parent what was acknowledged, in the moment it was. */
function tellingStorage(storage: Storage): Storage {
  return {
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (stored.ok)
        writeSync(
          1,
          `${JSON.stringify({ acknowledged: stored.value.lastSeq, types: batch.events.map((event) => event.type) })}\n`,
        );
      return stored;
    },
  };
}

/** What a product without a ledger would know after a crash: where a start was recorded, it reads something idle. */
function forgettingStorage(storage: Storage): Storage {
  const idle = { type: "conversation.renamed", body: '{"title":""}' };
  const forget = (event: StoredEvent) => (event.type === "call.started" ? { ...event, ...idle } : event);
  return { ...storage, read: async (number, range) => (await storage.read(number, range)).map(forget) };
}

if (process.argv[2] === "--child") {
  const options: ScenarioOptions & { crashing?: boolean } = JSON.parse(process.argv[3] ?? "{}");
  const yard = await startScenarioYard(options);
  if (options.crashing) {
    await yard.client.call("createConversation", { body: { id: conversation } });
    await say(yard, "crash me");
    await untilEnded(yard, 1, async () => {});
  } else await playScenario(yard);
  await yard.close();
  appendFileSync(join(options.data, "ended"), "1");
  process.exit(0);
}
