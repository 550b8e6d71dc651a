import assert from "node:assert/strict";
import { test } from "node:test";
import { applyIncrement } from "../../src/client/client.ts";
import { ChatDocument, ChatIncrement } from "../../src/protocol/chat.ts";
import { allFrames, type ChatYard, folded, type Streamed, startChatYard } from "../world/chat.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { modelEnv, serve } from "../world/served.ts";

/** Two model calls with a tool between them, then the answer in words, slowly enough to be cut off. */
const long = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
const script = (pace: Partial<Answer>): Answer[] => [
  { ...calls(["list_files", { path: "." }]), text: "I look first.", reasoning: "what is there?" },
  { text: long, reasoning: "so that is it", ...pace },
];

/** What two runs of the same chat cannot share. */
function plain(document: unknown): unknown {
  const { conversation_id, agent_run_id, user_message_id, assistant_message_id } = ChatDocument.parse(document);
  const ids = [conversation_id, agent_run_id, user_message_id, assistant_message_id];
  let text = JSON.stringify(document);
  for (const [index, id] of ids.entries()) text = text.replaceAll(id, `id${index}`);
  return JSON.parse(text, (key, value) => (/_time$|^ttft$/.test(key) ? 0 : value));
}

/** Takes frames until the document fits, then goes away. */
async function readUntil(streamed: Streamed, isEnough: (text: string) => boolean) {
  let document: unknown = {};
  let lastSeqId = -1;
  for await (const data of streamed.frames) {
    const frame = ChatIncrement.parse(data);
    document = applyIncrement(document, frame);
    lastSeqId = frame.seq_id;
    if (isEnough(JSON.stringify(document))) break;
  }
  return { document, lastSeqId };
}

test("a server killed in the middle of a stream and started again gives the document of an undisturbed run [C3][L2]", {
  timeout: 120_000,
}, async (t) => {
  await using undisturbed = await modelServer(script({}));
  await using quiet = await startChatYard({ model: undisturbed });
  const expected = await quiet.chat({ query: "what is there?" });
  assert.equal(expected.message.content.final_answer.answer.text, long);

  await using model = await modelServer(script({ paceMs: 40 }));
  const home = makeHome(t, { env: modelEnv(model) });
  const first = await serve(home);
  const streamed = await first.stream({ query: "what is there?" });
  const { document, lastSeqId } = await readUntil(streamed, (text) => text.includes("word7"));
  await first.kill();
  model.answerWith([says(long)].map((answer) => ({ ...answer, reasoning: "so that is it" })));
  const second = await serve(home);
  const { conversation_id } = ChatDocument.parse(document);
  const body = { conversation_id, last_seq_id: lastSeqId };
  const frames = await allFrames(await second.stream(body, { path: "chat/resume" }));
  assert.equal(ChatIncrement.parse(frames[0]).seq_id, lastSeqId + 1);
  const ended = folded(frames, document);
  assert.deepEqual(plain(ended), plain(expected));
  const again = folded(await allFrames(await second.stream({ conversation_id }, { path: "chat/resume" })));
  assert.equal(JSON.stringify(again), JSON.stringify(ended), "from the log alone, byte for byte");
});

test("a turn with a tool, reasoning and a failed attempt streams to the document that the log gives later [C3][M3]", async () => {
  await using model = await modelServer([{ text: "half of it", fault: { after: 2, kind: "break" } }, ...script({})]);
  await using world = await startChatYard({ model });
  const streamed = await world.stream({ query: "what is there?" });
  assert.equal(streamed.headers.get("content-type"), "text/event-stream");
  assert.equal(streamed.headers.get("x-accel-buffering"), "no");
  assert.equal(streamed.headers.get("cache-control"), "no-store");
  const document = ChatDocument.parse(folded(await allFrames(streamed)));
  const { final_answer, middle_answer } = document.message.content;
  assert.deepEqual([final_answer.answer.text, final_answer.thinking], [long, "so that is it"]);
  assert.deepEqual(
    middle_answer.progress.map(({ stage, status, think }) => [stage, status, think]),
    [
      ["llm", "completed", "what is there?"],
      ["skill", "completed", ""],
      ["llm", "completed", "so that is it"],
    ],
  );
  const { total_tokens, ttft, total_time } = document.message.ext;
  assert.ok(total_tokens > 0 && ttft > 0 && total_time > 0, JSON.stringify(document.message.ext));
  const { conversation_id } = document;
  const [, row] = await messages(world, conversation_id);
  assert.equal(row?.content, JSON.stringify(document.message.content));
  assert.equal(row?.ext, JSON.stringify(document.message.ext));
});

async function messages(world: ChatYard, id: string): Promise<{ content: string; ext: string }[]> {
  const { json } = await world.call("GET", `conversation/${id}`);
  return Object(json).Messages;
}
