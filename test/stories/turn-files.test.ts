import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { drops, edits, filesOf, newConversation, place, puts, roughTools, undo, writes } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("files sent with a message are named in it, and the stored message is what the model reads [F3][L2]", async () => {
  await using model = await modelServer([says("I see.")]);
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  await must(yard.client.upload(id, "a.csv", Buffer.from("x,y\n1,2\n")));
  await must(yard.client.upload(id, "dot.png", onePixel));
  const files = ["uploads/a.csv", "uploads/dot.png"];
  const listed = "Uploaded files:\n- a.csv → uploads/a.csv (csv)\n- dot.png → uploads/dot.png (image)";
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "look", mode: "queue", files } }));
  const { events } = await yard.whenAtRest(id);
  const [message] = all(events, "message.user");
  const [said = "", ...more] = (message?.text ?? "").split("\n\n");
  assert.deepEqual([said, more.at(-1)], ["look", listed]);
  assert.ok(more[0]?.includes("x,y\n1,2\n"), "a small text stands in the message");
  assert.deepEqual(message?.files, [
    { path: "uploads/a.csv", name: "a.csv", type: "csv", bytes: 8, hash: hashOf("x,y\n1,2\n") },
    { path: "uploads/dot.png", name: "dot.png", type: "image", bytes: onePixel.length },
  ]);
  assert.equal(message?.images?.length, 1);
  const sent = JSON.stringify(model.asked[0]?.body.messages.at(-1)?.content);
  assert.ok(sent.includes(JSON.stringify(message?.text ?? "").slice(1, -1)), "word for word");
  assert.ok(sent.includes(onePixel.toString("base64")), "with the image");
});

test("a code file among them chooses the code model, and the small text in the message may be edited at once [M2][F2][F3]", async () => {
  await using model = await modelServer([
    calls(["edit_file", { path: "uploads/a.py", old_string: "print(1)", new_string: "print(2)" }]),
    says("done"),
  ]);
  const env = { MODEL_CODE_BASE_URL: model.url, MODEL_CODE_ID: "coder", MODEL_CODE_CONTEXT_WINDOW: "128000" };
  await using yard = await startYard({ model, env, approves: true });
  const id = await newConversation(yard);
  await must(yard.client.upload(id, "a.py", Buffer.from("print(1)\n")));
  const files = ["uploads/a.py"];
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "fix it", files } }));
  const { answer, events } = await yard.whenAtRest(id);
  assert.deepEqual(
    { answer, slots: all(events, "step.started").map(({ slot, reason }) => `${slot}: ${reason}`) },
    { answer: "done", slots: ["code: code", "code: code"] },
  );
  assert.deepEqual(filesOf(yard, id, "uploads"), { "a.py": "644 print(2)\n" });
});

test("a message with a file that is not there is refused and nothing is stored; sent twice it is stored once [F3][L2]", async () => {
  await using model = await modelServer([says("hello")]);
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  const send = (files: string[]) =>
    yard.client.call("sendMessage", { params: { id }, body: { id: "m1", text: "look", mode: "queue", files } });
  const missing = await send(["uploads/none.csv"]);
  assert.equal(missing.ok ? "" : missing.failure.code, "file_not_found");
  const outside = await send(["../secret"]);
  assert.equal(outside.ok ? "" : outside.failure.code, "path_traversal_blocked");
  assert.deepEqual(await yard.events(id), []);

  await must(yard.client.upload(id, "a.csv", Buffer.from("1")));
  const first = await must(send(["uploads/a.csv"]));
  await yard.whenAtRest(id);
  await must(yard.client.call("removeFile", { params: { id }, query: { path: "uploads/a.csv" } }));
  assert.deepEqual(await must(send(["uploads/a.csv"])), first);
  assert.equal(all(await yard.events(id), "message.user").length, 1);
});

test("what people put into or take out of the files stands in the ledger, also while a turn runs [W12][F3]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer([{ ...says("done"), heldUntil: held.promise }]);
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("the model is asked", () => model.asked.length === 1);
  await must(yard.client.upload(id, "a.txt", Buffer.from("one")));
  await must(yard.client.upload(id, "a.txt", Buffer.from("two")));
  await must(yard.client.call("removeFile", { params: { id }, query: { path: "uploads/a.txt" } }));
  held.resolve();
  const { outcome, events } = await yard.whenAtRest(id);
  assert.equal(outcome, "done");
  assert.deepEqual(
    all(events, "file.changed").map(({ by, path, before, after }) => [by, path, before?.bytes, after?.bytes]),
    [
      ["upload", "uploads/a.txt", undefined, 3],
      ["upload", "uploads/a.txt", 3, 3],
      ["person", "uploads/a.txt", 3, undefined],
    ],
  );
});

test("reset empties temp/ and leaves all other files [L9][W1]", async () => {
  await using model = await modelServer([
    calls(writes("temp/deep/draft.txt", "x"), writes("outputs/a.txt", "y")),
    says("done"),
  ]);
  await using yard = await startYard({ model });
  const { conversation: id } = await yard.ask("go");
  await must(yard.client.call("resetConversation", { params: { id } }));
  const folder = join(yard.data, "workspace", id);
  assert.deepEqual([readdirSync(join(folder, "temp")), filesOf(yard, id)], [[], { "a.txt": "644 y" }]);
});

test("a branch has the drafts of its parent too, and undoes the turns it came with, also without the parent [L9][W12]", async () => {
  await using model = await modelServer([
    ...[calls(puts("outputs/a.txt", "one")), says("1")],
    ...[calls(puts("outputs/a.txt", "two"), puts("temp/draft.txt", "x"), drops("outputs/b.txt")), says("2")],
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const id = await newConversation(yard);
  place(yard, id, "a.txt", "zero", 0o640);
  place(yard, id, "b.txt", "b", 0o600);
  await yard.ask("first", { conversation: id });
  await yard.ask("second", { conversation: id });
  const { id: branch } = await must(yard.client.call("branchConversation", { params: { id }, body: {} }));
  assert.deepEqual(filesOf(yard, branch, "temp"), { "draft.txt": "644 x" });
  await must(yard.client.call("deleteConversation", { params: { id } }));
  await until("the parent is gone", () => !existsSync(join(yard.data, "kept", "workspace", id)));
  const steps = [];
  for (let times = 0; times < 2; times += 1) {
    const { turn, left } = await undo(yard, branch);
    steps.push({ turn, left, files: filesOf(yard, branch) });
  }
  assert.deepEqual(steps, [
    { turn: 2, left: [], files: { "a.txt": "640 one", "b.txt": "600 b" } },
    { turn: 1, left: [], files: { "a.txt": "640 zero", "b.txt": "600 b" } },
  ]);
  assert.deepEqual(filesOf(yard, branch, "temp"), {});
});

test("what a file says is known when the model has read it: a change in the same answer is made in the next [F2]", async () => {
  await using model = await modelServer([
    calls(["read_file", { path: "outputs/a.txt" }], edits("outputs/a.txt", "one", "two"), writes("outputs/b.txt", "x")),
    calls(edits("outputs/a.txt", "one", "two"), edits("outputs/b.txt", "x", "y")),
    says("done"),
  ]);
  await using yard = await startYard({ model });
  const id = await newConversation(yard);
  place(yard, id, "a.txt", "one\n");
  const { events } = await yard.ask("go", { conversation: id });
  const outcomes = new Map(all(events, "call.finished").map(({ call, outcome }) => [call, outcome]));
  const asked = all(events, "message.assistant").flatMap(({ calls = [] }) => calls);
  assert.deepEqual(
    asked.map(({ id }) => outcomes.get(id)),
    ["ok", "error", "ok", "ok", "ok"],
  );
  assert.deepEqual(filesOf(yard, id), { "a.txt": "644 two\n", "b.txt": "644 y" });
});

test("a folder that a tool removed with everything in it cannot be given back, and undo says so [W12]", async () => {
  await using model = await modelServer([calls(drops("outputs/old")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const id = await newConversation(yard);
  mkdirSync(join(yard.data, "workspace", id, "outputs/old"));
  place(yard, id, "old/a.txt", "a");
  await yard.ask("go", { conversation: id });
  const { restored, left } = await undo(yard, id);
  assert.deepEqual([restored, left], [[], [{ path: "outputs/old", why: "not_kept" }]]);
});

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
