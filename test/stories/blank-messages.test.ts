import assert from "node:assert/strict";
import { test } from "node:test";
import { modelServer, says } from "../world/model-server.ts";
import { dot } from "../world/torture-plan.ts";
import { newConversation } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

test("a message that nobody can see is not taken, with a word on why; an image or a file may come with one [Z3][P1]", async () => {
  await using model = await modelServer(() => says("I see."));
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  for (const text of [" ", "\n \t", "\u200b", "\u3000\u2060", "\u0007"]) {
    const sent = await yard.client.call("sendMessage", { params: { id }, body: { text } });
    assert.deepEqual([sent.ok, !sent.ok && sent.failure.code], [false, "message_blank"], JSON.stringify(text));
  }
  assert.equal(model.asked.length, 0);
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: " ", images: [dot] } }));
  assert.equal((await yard.whenAtRest(id)).outcome, "done");
  await must(yard.client.upload(id, "a.txt", Buffer.from("text")));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: " ", files: ["uploads/a.txt"] } }));
  assert.equal((await yard.whenAtRest(id)).outcome, "done");
});
