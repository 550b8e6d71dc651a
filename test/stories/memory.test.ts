import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const add = (yard: TestYard, fact: string) => must(yard.client.call("addMemory", { body: { fact } }));
const listed = async (yard: TestYard) => (await must(yard.client.call("listMemory"))).items;
const systemOf = (request: AskedRequest | undefined) => String(request?.body.messages[0]?.content);
const newestOf = (request: AskedRequest | undefined) => String(request?.body.messages.at(-1)?.content);

test("what an agent remembers is told to every later conversation, and the user sees who wrote it [Z4]", async () => {
  const fact = "The user wants\n  prices in euros.";
  await using model = await modelServer([calls(["remember", { fact }]), says("done"), says("hello")]);
  await using yard = await startYard({ model });
  const first = await yard.ask("remember that I want prices in euros");
  const [result] = all(first.events, "call.finished");
  assert.deepEqual(
    [result?.outcome, result?.text],
    ["ok", "Remembered; 1 memory in all. The user sees and edits them with /memory."],
  );
  const [entry] = await listed(yard);
  assert.deepEqual(
    [entry?.fact, entry?.conversation],
    ["The user wants prices in euros.", first.conversation],
    "a memory is one line",
  );
  const body = { fact: "The user wants  prices in francs." };
  await must(yard.client.call("changeMemory", { params: { memory: entry?.id ?? "" }, body }));
  const changed = { ...entry, fact: "The user wants prices in francs.", conversation: null };
  assert.deepEqual(await listed(yard), [changed], "from then on they are the user's own words");
  await must(yard.client.call("changeMemory", { params: { memory: entry?.id ?? "" }, body: { fact } }));
  await yard.ask("hello");
  assert.match(
    systemOf(model.asked.at(-1)),
    /\n\n# Memories of the user\n.*\n<user_memories>\n- The user wants prices in euros\.\n<\/user_memories>\n\n<current_datetime>/,
  );
  assert.doesNotMatch(systemOf(model.asked[0]), /# Memories of the user/);
});

test("a call that is run again writes down the same memory once and says so as the first time; from another call it is known [Z4][L2]", async () => {
  const told: unknown[] = [];
  const note = defineTool({
    ...{ name: "note", description: "Notes. For tests.", class: "idempotent", input: z.object({ fact: z.string() }) },
    async run({ fact }, { memory }) {
      told.push(await memory.add(fact));
      return ok({ text: "noted" });
    },
  });
  const twice = defineTool({
    ...{ name: "twice", description: "Notes twice. For tests.", class: "idempotent", input: z.object({}) },
    async run(_, { memory }) {
      for (const fact of ["Tea.", "Tea."]) told.push(await memory.add(fact));
      return ok({ text: "noted" });
    },
  });
  await using model = await modelServer([calls(["twice", {}]), calls(["note", { fact: "TEA." }]), says("done")]);
  await using yard = await startYard({ model, tools: [note, twice] });
  await yard.ask("note it");
  const known = (isNew: boolean) => ok({ count: 1, isNew });
  assert.deepEqual([told, (await listed(yard)).length], [[known(true), known(true), known(false)], 1]);
});

test("in a conversation that is open a changed list is told once, and what was sent before stays as it is [Z4][L3][L4]", async () => {
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model });
  const entry = await add(yard, "Likes tea.");
  const { conversation } = await yard.ask("one");
  await yard.ask("two", { conversation });
  await must(yard.client.call("changeMemory", { params: { memory: entry.id }, body: { fact: "Likes coffee." } }));
  await yard.ask("three", { conversation });
  await yard.ask("four", { conversation });
  await must(yard.client.call("forgetMemory", { params: { memory: entry.id } }));
  const { events } = await yard.ask("five", { conversation });
  assert.deepEqual(
    model.asked.map((request) => /memories have changed[^<]*/.exec(newestOf(request))?.[0].trim()),
    [
      undefined,
      undefined,
      "memories have changed. Now they are:\n- Likes coffee.",
      undefined,
      "memories have changed: there are none any more.",
    ],
  );
  assert.equal(new Set(model.asked.map(systemOf)).size, 1, "the prefix stays");
  assert.equal(all(events, "recipe.set").length, 1);
  const bytes = model.messageBytes();
  for (const [index, sent] of bytes.slice(1).entries())
    assert.ok(sent.startsWith((bytes[index] ?? "").slice(0, -1)), `request ${index + 2} begins with the one before`);
});

test("the prompt has the newest memories that 400 tokens hold; recall finds the others [Z4]", async () => {
  await using model = await modelServer([
    calls(["recall", { query: "number 7." }], ["recall", { query: "nothing" }]),
    calls(["recall", {}]),
    says("done"),
  ]);
  await using yard = await startYard({ model });
  for (let n = 1; n <= 30; n += 1) await add(yard, `This is fact number ${n}. ${"It goes on. ".repeat(10)}`);
  const { events } = await yard.ask("what do you know?");
  const notes = /<user_memories>\n(.*)\n<\/user_memories>/s.exec(systemOf(model.asked[0]))?.[1]?.split("\n") ?? [];
  assert.ok(notes.length > 5 && notes.length < 15, `${notes.length} notes`);
  assert.match(notes.at(-1) ?? "", /^- This is fact number 30\./);
  // Two that run at once end in any order.
  const results = all(events, "call.finished").map(({ text }) => text);
  const [found, none] = results.slice(0, 2).toSorted();
  const [, , recalled] = results;
  assert.match(
    found ?? "",
    /^3 of 30 memories, newest first:\n- .* number 27\. .*\n- .* number 17\. .*\n- .* number 7\. .*$/,
  );
  assert.match(none ?? "", /^None of 30 memories has "nothing"\./);
  assert.match(recalled ?? "", /^30 memories, newest first:\n- This is fact number 30\./);
});

test("secrets are not remembered, whoever tries, and a full list says so [Z4][Q1]", async () => {
  const secret = "The key is sk-abcdefghijklmnopqrstuvwxyz123456";
  await using model = await modelServer([calls(["remember", { fact: secret }]), says("no")]);
  await using yard = await startYard({ model });
  const refused = await yard.client.call("addMemory", { body: { fact: secret } });
  assert.equal(refused.ok ? "" : refused.failure.code, "memory_secret");
  const entry = await add(yard, "Likes tea.");
  const changed = await yard.client.call("changeMemory", { params: { memory: entry.id }, body: { fact: secret } });
  assert.equal(changed.ok ? "" : changed.failure.code, "memory_secret");
  const { conversation } = await yard.ask("remember my key");
  const [open] = await waitingIn(yard, conversation);
  await say(yard, open, { verdict: "approve" });
  const { events } = await yard.whenAtRest(conversation);
  assert.match(all(events, "call.finished")[0]?.text ?? "", /^Error: memory_secret: .*tell the user/);
  assert.deepEqual(await add(yard, "likes TEA."), entry, "the same again is the same memory");
  for (let n = 2; n <= 100; n += 1) await add(yard, `Fact ${n}.`);
  const full = await yard.client.call("addMemory", { body: { fact: "One more." } });
  assert.equal(full.ok ? "" : full.failure.code, "memory_full");
  const gone = await yard.client.call("forgetMemory", { params: { memory: "none" } });
  assert.equal(gone.ok ? "" : gone.failure.code, "memory_not_found");
});

test("the memories of one user are no other's: not listed, not told, not changed [Z4][Q1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using yard = await startYard({ model });
  const other = OwnerId.parse("somebody");
  const theirs = await must(yard.engine.addMemory(other, "Somebody else likes tea."));
  await yard.ask("hello");
  assert.deepEqual(await listed(yard), []);
  assert.ok(!model.asked.some(({ text }) => text.includes("Somebody else")));
  const params = { memory: theirs.id };
  const answers = [
    await yard.client.call("changeMemory", { params, body: { fact: "mine" } }),
    await yard.client.call("forgetMemory", { params }),
  ];
  assert.deepEqual(
    answers.map((answer) => (answer.ok ? "" : answer.failure.code)),
    ["memory_not_found", "memory_not_found"],
  );
  assert.deepEqual(
    (await yard.engine.memory(other)).map(({ fact }) => fact),
    ["Somebody else likes tea."],
  );
});
