import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ChatIncrement } from "../../src/protocol/chat.ts";
import { alike, allFrames, folded } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, stepOf } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { killedAt, modelEnv, serve } from "../world/served.ts";

const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
const keyed = { headers: { "idempotency-key": "key-1" } };

test("after a server was killed, a stream that was cut off ends in the document of an undisturbed run, a chat that is sent again under its key says its message once, and a conversation that was deleted is gone with its files [C1][C3][L2][S6]", async (t) => {
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
  await first.upload("gone", "data.csv", "a,b\n1,2\n");
  const deleted = await first.call("DELETE", "conversation/gone");
  assert.equal(deleted.status, 204);
  const frames = await killedAt("word20", first, { query: "hi", conversation_id: "cut" }, keyed);
  const last = ChatIncrement.parse(frames.at(-1));
  assert.notEqual(last.action, "end");

  const second = await serve(home);
  const folders = join(home.folder, "data", "workspace");
  await until("its files are gone", async () => (await readdir(folders)).every((name) => !name.startsWith("gone")));
  assert.equal((await second.call("GET", "conversation/gone")).status, 404);
  const wanted = { conversation_id: "cut", last_seq_id: last.seq_id };
  const rest = await allFrames(await second.stream(wanted, { path: "chat/resume" }));
  const half = folded([...frames, { seq_id: 0, key: [], content: null, action: "end" }]);
  assert.deepEqual(alike(folded(rest, half)), alike(undisturbed));
  // From nothing as well, and as one answer.
  assert.deepEqual(alike(folded(rest)), alike(undisturbed));
  const { json } = await second.call("POST", "chat/resume", { conversation_id: "cut", stream: false });
  assert.deepEqual(json, folded(rest));
  const again = folded(await allFrames(await second.stream({ query: "hi", conversation_id: "cut" }, keyed)));
  assert.deepEqual(idsOf(again), idsOf(half));
  assert.equal((await second.call("GET", "conversation")).json.total, 2);
});

function idsOf(document: unknown): unknown {
  const { conversation_id, user_message_id, assistant_message_id, agent_run_id } = Object(document);
  return { conversation_id, user_message_id, assistant_message_id, agent_run_id };
}
