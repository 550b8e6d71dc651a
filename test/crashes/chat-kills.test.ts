import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ChatIncrement } from "../../src/protocol/chat.ts";
import { alike, allFrames, folded } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { killedAt, modelEnv, serve } from "../world/served.ts";

// `agentyard serve` is killed in the middle, started again, and whoever chatted with it goes on.

const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");

test("a stream that was cut off by the end of the server is taken up again, and ends in the document of an undisturbed run [C3][L2]", async (t) => {
  let told = 0;
  await using model = await modelServer((request) => {
    if (stepOf(request) === 0) return { ...calls(["now", {}]), text: "Let me see. " };
    told += 1;
    // The one that is cut off never comes to its end.
    return { text: words, ...(told === 2 && { fault: { after: 25, kind: "stall" } }) };
  });
  const home = makeHome(t, { env: modelEnv(model) });
  const first = await serve(home);
  const undisturbed = folded(await allFrames(await first.stream({ query: "hi", conversation_id: "calm" })));
  const frames = await killedAt("word20", first, { query: "hi", conversation_id: "cut" });
  const last = ChatIncrement.parse(frames.at(-1));
  assert.notEqual(last.action, "end");

  const second = await serve(home);
  const wanted = { conversation_id: "cut", last_seq_id: last.seq_id };
  const rest = await allFrames(await second.stream(wanted, { path: "chat/resume" }));
  const half = folded([...frames, { seq_id: 0, key: [], content: null, action: "end" }]);
  assert.deepEqual(alike(folded(rest, half)), alike(undisturbed));
  // From nothing as well, and as one answer.
  assert.deepEqual(alike(folded(rest)), alike(undisturbed));
  const { json } = await second.call("POST", "chat/resume", { conversation_id: "cut", stream: false });
  assert.deepEqual(json, folded(rest));
});

test("a conversation that was deleted a moment before the server was killed is gone with its files after the next start [S6]", async (t) => {
  await using model = await modelServer(() => says("hello"));
  const home = makeHome(t, { env: modelEnv(model) });
  const first = await serve(home);
  await first.upload("c1", "data.csv", "a,b\n1,2\n");
  await first.chat({ query: "hi", conversation_id: "c1" });
  const deleted = await first.call("DELETE", "conversation/c1");
  await first.kill();
  assert.equal(deleted.status, 204);

  const second = await serve(home);
  const folders = join(home.folder, "data", "workspace");
  await until("its files are gone", async () => (await readdir(folders)).length === 0);
  const gone = await Promise.all([
    second.call("GET", "conversation/c1"),
    second.call("POST", "chat/completion", { query: "hi", conversation_id: "c1" }),
    second.send("GET", "/api/v1/sessions/sb-session-local/files/data.csv?conversation_id=c1"),
  ]);
  assert.deepEqual(
    gone.map(({ status }) => status),
    [404, 404, 404],
  );
});

test("a chat that is sent again under its key after the server was killed says its message once [C1][L2]", async (t) => {
  await using model = await modelServer(() => ({ text: words, paceMs: 5 }));
  const home = makeHome(t, { env: modelEnv(model) });
  const keyed = { headers: { "idempotency-key": "key-1" } };
  const first = await serve(home);
  const seen = await killedAt("word9", first, { query: "hi" }, keyed);
  const half = folded([...seen, { seq_id: 0, key: [], content: null, action: "end" }]);

  const second = await serve(home);
  const whole = folded(await allFrames(await second.stream({ query: "hi" }, keyed)));
  assert.deepEqual(idsOf(whole), idsOf(half));
  const list = await second.call("GET", "conversation");
  assert.equal(list.json.total, 1);
});

function idsOf(document: unknown): unknown {
  const { conversation_id, user_message_id, assistant_message_id, agent_run_id } = Object(document);
  return { conversation_id, user_message_id, assistant_message_id, agent_run_id };
}
