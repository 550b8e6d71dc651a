import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import { applyIncrement } from "../../client/client.ts";
import { ChatDocument, ChatIncrement } from "../../protocol/chat.ts";
import type { NewEvent } from "../../protocol/events.ts";
import type { ToolCall } from "../../protocol/message.ts";
import { chatPlaces } from "./message-numbers.ts";
import { chatStream } from "./stream.ts";

const usage = { input: 10, output: 2 };
const message: NewEvent = { type: "message.user", id: "m", text: "how many?", mode: "queue", reply: "a", run: "r" };
const step = (number: number, attempt = 1): NewEvent => ({
  ...{ type: "step.started", turn: 1, step: number, attempt, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
});
const answered = (number: number, text: string, ...calls: ToolCall[]): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: number, text, finish: "stop", usage, durationMs: 1, firstTokenMs: 4 },
  ...(calls.length === 0 ? {} : { calls }),
});
const finished: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };

/** A turn whose first answer is about to be written. */
async function begun() {
  const yard = await writtenTurn();
  await yard.append(message, { type: "turn.started", turn: 1, message: "m", epoch: 1 }, step(1));
  yard.begin({ turn: 1, step: 1, attempt: 1 });
  const [place] = chatPlaces(await yard.events(), yard.view.conversation);
  assert.ok(place);
  const view = { ...yard.view, place, needsProgress: true, language: "en" } as const;
  return { ...yard, view };
}

type Options = { isIncremental?: boolean; lastSeqId?: number; needsProgress?: boolean };

function openStream({ view }: Pick<Awaited<ReturnType<typeof begun>>, "view">, options: Options = {}) {
  const { isIncremental = true, lastSeqId, needsProgress = true } = options;
  const closing = new AbortController();
  const faults: unknown[] = [];
  const onThrown = (error: unknown) => faults.push(error);
  const { signal } = closing;
  const stream = chatStream({ ...view, needsProgress }, { isIncremental, lastSeqId, signal, onThrown });
  return { stream, closing, faults };
}

/** All of a stream: what its frames make, with their numbers, and the longest of them. */
async function readAll(stream: ReadableStream<Uint8Array>, from: unknown = {}) {
  let document = from;
  const frames: ChatIncrement[] = [];
  let longest = 0;
  for (const [, id, data = ""] of (await new Response(stream).text()).matchAll(/^id: (\d+)\ndata: (.*)$/gm)) {
    const frame = ChatIncrement.parse(JSON.parse(data));
    assert.equal(id, String(frame.seq_id));
    longest = Math.max(longest, Buffer.byteLength(data));
    frames.push(frame);
    document = applyIncrement(document, frame);
  }
  return { document, frames, longest };
}

test("an answer comes as its document, then as what changes, then as the end [C3]", async () => {
  await using yard = await begun();
  const { stream } = openStream(yard, { needsProgress: false });
  const reader = stream.getReader();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  const first = await text();
  assert.deepEqual(
    [...first.matchAll(/^id: (\d)\ndata: (.*)\n\n/gm)].map(([, id, data]) => [Number(id), JSON.parse(data ?? "").key]),
    [
      [0, ["conversation_id"]],
      [1, ["agent_run_id"]],
      [2, ["user_message_id"]],
      [3, ["assistant_message_id"]],
      [4, ["message"]],
      [5, ["error"]],
    ],
  );
  yard.say("so ");
  const key = '["message","content","final_answer","answer","text"]';
  assert.equal(await text(), `id: 6\ndata: {"seq_id":6,"key":${key},"content":"so ","action":"append"}\n\n`);
  yard.clock.move(15_000);
  assert.equal(await text(), ": ping\n\n");
  await yard.append(answered(1, "so many"), finished);
  yard.endAnswer();
  const ext = (name: string, value: number) => ({ key: ["message", "ext", name], content: value, action: "upsert" });
  const rest = (await text()) + (await text());
  assert.deepEqual(
    [...rest.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "")),
    [
      { key: JSON.parse(key), content: "many", action: "append" },
      ext("total_time", 15),
      ext("total_tokens", 12),
      ext("ttft", 4),
      { key: [], content: null, action: "end" },
    ].map((frame, index) => ({ seq_id: 7 + index, ...frame })),
  );
  assert.equal((await reader.read()).done, true);
  assert.equal(yard.left(), 0);
});

async function readDocuments(stream: ReadableStream<Uint8Array>): Promise<{ id: number; data: string }[]> {
  const text = await new Response(stream).text();
  return [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data = ""]) => ({ id: Number(id), data }));
}

test("a conversation that is deleted ends its stream with the error and the end [C3][S6]", async () => {
  await using other = await begun();
  const read = readAll(openStream(other).stream);
  await new Promise((resolve) => setImmediate(resolve));
  await other.remove();
  const gone = await read;
  assert.equal(ChatDocument.parse(gone.document).error?.error_code, "AgentAPP.Conversation.NotFound");
  assert.deepEqual(
    gone.frames.slice(-2).map(({ key, action }) => [key, action]),
    [
      [["error"], "upsert"],
      [[], "end"],
    ],
  );
});

test("whole documents come less often the longer they are [C3]", async () => {
  await using yard = await begun();
  const { stream } = openStream(yard, { isIncremental: false, needsProgress: false });
  const read = readDocuments(stream);
  const piece = "x".repeat(50);
  for (let n = 0; n < 10_000; n += 1) {
    yard.say(piece);
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await yard.append(answered(1, piece.repeat(10_000)), finished);
  const documents = await read;
  const total = documents.reduce((sum, { data }) => sum + data.length, 0);
  assert.ok(total < 40 * 500_000, `${total} characters for a text of 500,000`);
  assert.ok(documents.length > 50, `${documents.length}`);
});
