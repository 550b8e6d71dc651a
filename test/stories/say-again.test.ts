import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutgoingMessage } from "../../src/loop/loop.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** Answers with the number of the request. */
const counting = () => {
  let count = 0;
  return modelServer(() => {
    count += 1;
    return says(`answer ${count}`);
  });
};

async function begin(yard: TestYard, ...texts: string[]) {
  const row = await must(yard.engine.create(localOwner, { id: "c" }));
  const say = async (message: Partial<OutgoingMessage> & { text: string }) => {
    await must(yard.engine.send(row, { mode: "queue", ...message }));
    return yard.whenAtRest("c");
  };
  for (const text of texts) await say({ id: `m-${text}`, text, reply: `r-${text}`, run: `run-${text}` });
  return { row, say };
}

const lastAsked = ({ asked }: { asked: { body: { messages: readonly { content: unknown }[] } }[] }) =>
  asked
    .at(-1)
    ?.body.messages.slice(1)
    .map(({ content }) => content);

test("the last answer is made anew under the same ids, with another run [C4]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  const { row } = await begin(yard, "one", "two");
  const said = await must(yard.engine.sayAgain(row, "m-two", { cause: "regenerate", run: "run-3" }));
  const { events, answer } = await yard.whenAtRest("c");
  assert.deepEqual([said.message, answer, lastAsked(model)], ["m-two", "answer 3", ["one", "answer 1", "two"]]);
  const message = all(events, "message.user").at(-1);
  assert.deepEqual(
    [message?.seq, message?.id, message?.reply, message?.run, message?.text],
    [said.seq, "m-two", "r-two", "run-3", "two"],
  );
  assert.equal(all(events, "rewound").at(-1)?.cause, "regenerate");
});

test("an earlier message is said with other words and files, and what came after it is no longer sent [C4][C2]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  const { row, say } = await begin(yard, "one", "two", "three");
  await yard.engine.files(row).write("uploads/temparea/a.py", "x");
  await must(yard.engine.sayAgain(row, "m-two", { cause: "edit", text: "TWO", selected: ["a.py"] }));
  const { events } = await yard.whenAtRest("c");
  const sent = lastAsked(model);
  assert.deepEqual([sent?.length, sent?.slice(0, 2), sent?.at(-1)], [4, ["one", "answer 1"], "TWO"]);
  assert.match(String(sent?.[2]), /- a\.py \(\/workspace\/c\/uploads\/temparea\/a\.py\)\n$/);
  assert.deepEqual(all(events, "message.user").at(-1)?.hints, ["code"]);
  await must(yard.engine.sayAgain(row, "m-two", { cause: "edit", selected: [] }));
  await yard.whenAtRest("c");
  assert.deepEqual(lastAsked(model), ["one", "answer 1", "TWO"]);
  await say({ text: "four" });
  assert.deepEqual(lastAsked(model), ["one", "answer 1", "TWO", "answer 5", "four"]);
  const gone = await yard.engine.sayAgain(row, "m-three", { cause: "regenerate" });
  assert.equal(gone.ok || gone.failure.code, "message_not_found");
  const missing = await yard.engine.sayAgain(row, "m-two", { cause: "edit", selected: ["none"] });
  assert.equal(missing.ok || missing.failure.code, "selected_file_missing");
});

test("text of files that came with a message stays behind its new words [C4][F3]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  const { row, say } = await begin(yard);
  await yard.engine.files(row).write("uploads/a.txt", "inside");
  await say({ id: "m", text: "read it", files: ["uploads/a.txt"] });
  const before = String(lastAsked(model)?.at(-1));
  await must(yard.engine.sayAgain(row, "m", { cause: "edit", text: "Read it aloud" }));
  await yard.whenAtRest("c");
  assert.equal(String(lastAsked(model)?.at(-1)), before.replace("read it", "Read it aloud"));
});

test("nothing is said again while a turn runs [C4][L7]", async () => {
  await using model = await modelServer([says("ok"), { text: "slow", fault: { after: 1, kind: "stall" } }]);
  await using yard = await startYard({ model });
  const { row } = await begin(yard, "one");
  await must(yard.engine.send(row, { text: "two", mode: "queue" }));
  const busy = await yard.engine.sayAgain(row, "m-one", { cause: "regenerate" });
  assert.equal(busy.ok || busy.failure.code, "conversation_busy");
  await must(yard.engine.cancel(row));
  await yard.whenAtRest("c");
});

test("undo, checkpoints, branch and replay work on what was said again [C4][L9]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  const { row, say } = await begin(yard, "one", "two");
  await must(yard.engine.sayAgain(row, "m-two", { cause: "regenerate" }));
  await yard.whenAtRest("c");
  const branch = await must(yard.engine.branch(row));
  await must(yard.engine.send(branch.conversation, { text: "there", mode: "queue" }));
  await yard.whenAtRest(branch.conversation.id);
  assert.deepEqual(lastAsked(model), ["one", "answer 1", "two", "answer 3", "there"]);
  const points = await yard.engine.checkpoints(row);
  assert.equal(points.length, 2);
  assert.deepEqual((await must(yard.client.call("replay", { params: { id: "c" } }))).differences, []);
  const undone = await must(yard.engine.undo(row));
  assert.equal(undone.message, "two");
  await must(yard.engine.restoreCheckpoint(row, points[0]?.checkpoint ?? 0));
  await say({ text: "three" });
  assert.deepEqual(lastAsked(model), ["one", "answer 1", "three"]);
});

test("saying it again under one id is done once, whatever came since [C4]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  const { row } = await begin(yard, "one");
  const again = (id: string, text: string) => must(yard.engine.sayAgain(row, "m-one", { cause: "edit", text, id }));
  const first = await again("k1", "ONE");
  await yard.whenAtRest("c");
  await again("k2", "1");
  const before = (await yard.whenAtRest("c")).events;
  assert.deepEqual(await again("k1", "ONE"), first);
  assert.deepEqual((await yard.whenAtRest("c")).events, before);
});

test("over HTTP a message is answered anew, in its own words or in others [C4][B1]", async () => {
  await using model = await counting();
  await using yard = await startYard({ model });
  await begin(yard, "one", "two");
  const again = (message: string, body: { text?: string }) =>
    yard.client.call("sayAgain", { params: { id: "c", message }, body });
  await must(again("m-two", {}));
  assert.equal((await yard.whenAtRest("c")).answer, "answer 3");
  await must(again("m-one", { text: "ONE" }));
  const { events } = await yard.whenAtRest("c");
  assert.deepEqual(lastAsked(model), ["ONE"]);
  assert.deepEqual(
    all(events, "rewound").map(({ cause }) => cause),
    ["regenerate", "edit"],
  );
  const refusals = await Promise.all([again("m-two", {}), again("nobody", {}), again("m-one", { text: " \n" })]);
  assert.deepEqual(
    refusals.map((answer) => (answer.ok ? "ok" : answer.failure.code)),
    ["message_not_found", "message_not_found", "message_blank"],
  );
});
