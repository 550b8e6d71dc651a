import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import { ChatDocument } from "../../protocol/chat.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { never, partsWith } from "../routes/handling.testing.ts";
import { answerChat } from "./answer-chat.ts";
import { chatPlaces } from "./message-numbers.ts";

const whole = { streams: false, increments: true, progress: true };
const call = { language: "en", signal: never, requestId: "q1" } as const;

/** A message whose turn has come as far as the test says. */
async function asked(...events: NewEvent[]) {
  const yard = await writtenTurn();
  await yard.append(
    { type: "message.user", id: "m", text: "how many?", mode: "queue", reply: "a", run: "r" },
    { type: "turn.started", turn: 1, message: "m", epoch: 1 },
    ...events,
  );
  const { conversation, ...view } = yard.view;
  const [place] = chatPlaces(await yard.events(), conversation);
  assert.ok(place);
  return { yard, parts: partsWith(view), answering: { conversation, place, shown: whole } };
}

const ended = (code?: string): NewEvent => ({
  ...{ type: "turn.finished", turn: 1, outcome: code === undefined ? "done" : "failed" },
  ...(code !== undefined && { failure: { code, params: { model: "m", server: "s", said: "gone" } } }),
});

test("who wants an answer whole gets its document, and of a turn that failed its failure with the document around it [C1][P4]", async () => {
  const answered = async (code?: string) => {
    const { yard, parts, answering } = await asked(ended(code));
    await using _ = yard;
    const answer = await answerChat(parts, call, answering);
    if (answer.ok) return ["ok", ChatDocument.parse(answer.value).assistant_message_id];
    return [answer.failure.code, answer.failure.params, ChatDocument.parse(answer.beside).assistant_message_id];
  };
  assert.deepEqual(await answered(), ["ok", "a"]);
  assert.deepEqual(await answered("model_network"), ["model_network", { model: "m", server: "s", said: "gone" }, "a"]);
  assert.deepEqual(await answered("of_a_later_version"), ["internal", { id: "q1" }, "a"]);
});

test("who waits for an answer while the server closes is told so, and not that there is none [C1][L6]", async () => {
  const { yard, parts, answering } = await asked();
  await using _ = yard;
  const closing = new AbortController();
  const waiting = answerChat(parts, { ...call, signal: closing.signal }, answering);
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  closing.abort();
  const answer = await waiting;
  assert.deepEqual(!answer.ok && answer.failure, makeFailure("server_closing", {}));
  assert.equal(yard.left(), 0);
});

test("a stream comes at once and is kept by nobody on its way, and a mistake in it stands in the log under its request [C3][Q1]", async () => {
  const { yard, parts, answering } = await asked(ended());
  await using _ = yard;
  const lines: string[] = [];
  const shown = { ...whole, streams: true };
  const broken = partsWith({ ...parts, logger: (line: string) => void lines.push(line) });
  const read = async (log: typeof parts.log) => {
    const answer = await answerChat({ ...broken, log }, call, { ...answering, shown });
    assert.ok(answer.ok && answer.value instanceof ReadableStream);
    assert.deepEqual(answer.headers, { "x-accel-buffering": "no", "cache-control": "no-store" });
    return new Response(answer.value).text();
  };
  assert.match(await read(parts.log), /"action":"end"/);
  assert.deepEqual(lines, []);
  const fails = () => Promise.reject(new TypeError("a mistake of ours"));
  assert.equal(await read({ ...parts.log, headOf: fails }), "");
  assert.match(lines.join("\n"), /^request q1 failed at the stream: TypeError: a mistake of ours/);
});
