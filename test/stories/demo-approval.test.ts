import assert from "node:assert/strict";
import { test } from "node:test";
import { inboxOf, say } from "../world/decisions.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

async function conversationWith(yard: TestYard, name: string): Promise<string> {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(id, name, Buffer.from("n\n1\n")));
  return id;
}

async function uploadsOf(yard: TestYard, id: string): Promise<string[]> {
  const { items } = await must(yard.client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  return items.flatMap(({ name, type }) => (type === "file" ? [name] : []));
}

test("the demo model deletes an upload only after it was approved, in both languages [M5][H1][H2]", {
  skip: cannotRunCode,
}, async () => {
  await using yard = await startYard({ runsCode: true });
  for (const [prompt, told] of [
    ["delete uploads/x.csv", /I deleted `uploads\/x\.csv`/],
    ["删除 uploads/x.csv", /已删除 `uploads\/x\.csv`/],
  ] as const) {
    const conversation = await conversationWith(yard, "x.csv");
    assert.equal((await yard.ask(prompt, { conversation })).status, "waiting");
    const [open, ...others] = await inboxOf(yard);
    assert.deepEqual(
      [open?.tool, open?.arguments, open?.findings?.map(({ kind }) => kind), others.length],
      ["run_bash_command", '{"command":"rm -- uploads/x.csv"}', ["delete"], 0],
    );
    assert.deepEqual(await uploadsOf(yard, conversation), ["x.csv"]);
    assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
    assert.match((await yard.whenAtRest(conversation)).answer, told);
    assert.deepEqual(await uploadsOf(yard, conversation), []);
  }
});
