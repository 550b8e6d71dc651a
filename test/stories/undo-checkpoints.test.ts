import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { drops, filesOf, newConversation, place, puts, rewindsMeet, roughTools, undo } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

test("going back to a place gives back the files as they were there, over all turns since [L9][W12]", async () => {
  await using model = await modelServer([
    ...[calls(puts("outputs/a.txt", "one"), puts("outputs/b.txt", "one")), says("1")],
    ...[calls(puts("outputs/a.txt", "two"), puts("outputs/c.txt", "two")), says("2")],
    ...[calls(puts("outputs/a.txt", "three"), drops("outputs/b.txt"), puts("uploads/user.csv", "3")), says("3")],
    says("4"),
  ]);
  await using yard = await startYard({ model, tools: roughTools });
  const { conversation: id } = await yard.ask("first");
  const { checkpoint } = await must(yard.client.call("saveCheckpoint", { params: { id }, body: { name: "here" } }));
  await yard.ask("second", { conversation: id });
  await must(yard.client.upload(id, "user.csv", Buffer.from("of the user")));
  await yard.ask("third", { conversation: id });
  const point = await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint } }));
  assert.deepEqual([point.checkpoint, point.name], [checkpoint, "here"]);
  assert.deepEqual(
    [filesOf(yard, id), filesOf(yard, id, "uploads")],
    [{ "a.txt": "644 one", "b.txt": "644 one" }, { "user.csv": "644 of the user" }],
  );
  const ledger = all(await yard.events(id), "file.changed").filter(({ by }) => by === "undo");
  assert.deepEqual(
    ledger.map(({ path }) => path),
    ["outputs/a.txt", "outputs/b.txt", "outputs/c.txt", "uploads/user.csv"],
  );
  await yard.ask("fourth", { conversation: id });
  const said = model.asked.at(-1)?.body.messages.filter(({ role }) => role === "user");
  assert.deepEqual(
    said?.map(({ content }) => String(content).split("\n")[0]),
    ["first", "fourth"],
  );
});

test("one can go back again from where one went back to, or undo the turn before [L9][W12]", async () => {
  await using model = await modelServer(
    ["one", "two", "three"].flatMap((content) => [calls(puts("outputs/a.txt", content)), says(content)]),
  );
  await using yard = await startYard({ model, tools: roughTools });
  const { conversation: id } = await yard.ask("first");
  await yard.ask("second", { conversation: id });
  await yard.ask("third", { conversation: id });
  const [first, second] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  const seen = [];
  for (const point of [second, first]) {
    await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: point?.checkpoint ?? 0 } }));
    seen.push(filesOf(yard, id));
  }
  await undo(yard, id);
  assert.deepEqual([...seen, filesOf(yard, id)], [{ "a.txt": "644 two" }, { "a.txt": "644 one" }, {}]);
});

test("a file that somebody changed since stays when one goes back, and the log file says so [L9][W12]", async () => {
  await using model = await modelServer([says("1"), calls(puts("outputs/a.txt", "two")), says("2")]);
  await using yard = await startYard({ model, tools: roughTools });
  const { conversation: id } = await yard.ask("first");
  await yard.ask("second", { conversation: id });
  place(yard, id, "a.txt", "mine");
  const [first] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: first?.checkpoint ?? 0 } }));
  assert.deepEqual(filesOf(yard, id), { "a.txt": "644 mine" });
  await until("the log file has it", async () =>
    /is not as it was.*outputs\/a\.txt.*changed_since/.test(JSON.stringify(await yard.logged())),
  );
});

test("while a turn runs one cannot go back, and no file is touched [L9]", async () => {
  const free: (() => void)[] = [];
  const hold = defineTool({
    ...{ name: "hold", description: "Waits. For tests.", input: z.object({}) },
    run: () => new Promise((resolve) => free.push(() => resolve(ok({ text: "on" })))),
  });
  await using model = await modelServer([
    ...[says("1"), calls(puts("outputs/a.txt", "two")), says("2")],
    ...[calls(["hold", {}]), says("3")],
  ]);
  await using yard = await startYard({ model, tools: [hold, ...roughTools] });
  const { conversation: id } = await yard.ask("first");
  await yard.ask("second", { conversation: id });
  const asked = yard.ask("third", { conversation: id });
  await until("the tool runs", () => free.length === 1);
  const [first] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  const refused = await yard.client.call("restoreCheckpoint", { params: { id, checkpoint: first?.checkpoint ?? 0 } });
  assert.equal(refused.ok ? "" : refused.failure.code, "conversation_busy");
  assert.deepEqual(filesOf(yard, id), { "a.txt": "644 two" });
  free[0]?.();
  assert.equal((await asked).answer, "3");
});

test("a message that comes in while one goes back is answered from there [L9][L7]", async () => {
  await using model = await modelServer([
    says("1"),
    calls(puts("outputs/a.txt", "two")),
    says("2"),
    says("I am here."),
  ]);
  const wrapStorage = rewindsMeet(async () => {
    await must(yard.client.call("sendMessage", { params: { id }, body: { text: "are you there?", mode: "queue" } }));
    return undefined;
  });
  await using yard = await startYard({ model, tools: roughTools, wrapStorage });
  const id = await newConversation(yard);
  await yard.ask("first", { conversation: id });
  await yard.ask("second", { conversation: id });
  const [first] = (await must(yard.client.call("listCheckpoints", { params: { id } }))).items;
  await must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: first?.checkpoint ?? 0 } }));
  assert.equal((await yard.whenAtRest(id)).answer, "I am here.");
  const heard = model.asked.at(-1)?.body.messages.slice(1);
  assert.deepEqual(
    heard?.map(({ content }) => String(content).split("\n")[0]),
    ["first", "1", "are you there?"],
  );
  assert.deepEqual(filesOf(yard, id), {});
});
