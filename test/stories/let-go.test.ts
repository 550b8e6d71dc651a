import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool, type FormAnswer, type FormAsked } from "../../src/tools/tools.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { inboxOf, say } from "../world/decisions.ts";
import { until } from "../world/events.ts";
import { countListeners } from "../world/listeners.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const form: FormAsked = { question: "Which colour?", fields: [{ name: "colour", kind: "text", required: true }] };

/** Shows how far it is, and asks a person when it may. */
function asker(answers: FormAnswer[], mayAsk: Promise<void> = Promise.resolve()) {
  return defineTool({
    ...{ name: "wonder", description: "Asks for a colour. For tests.", class: "pure", input: z.object({}) },
    async run(_, { show, askForm }) {
      show("half of it");
      await mayAsk;
      answers.push(await askForm(form));
      return ok({ text: "it is known" });
    },
  });
}

test("when a turn is over, who comes later hears nothing of what was written and shown in it, and nobody listens any more [C3][X1][A2]", async () => {
  const listeners = countListeners();
  const answers: FormAnswer[] = [];
  await using model = await modelServer((request) => {
    const isWorker = firstOf(request).startsWith("part");
    if (stepOf(request) === 0) return calls(isWorker ? ["wonder", {}] : ["delegate_task", { task: "part 1" }]);
    return says(isWorker ? report("done") : "all done");
  });
  await using yard = await startYard({ model, tools: [asker(answers)], ...listeners.options });
  listeners.watchLive(yard);
  const row = await yard.start("c");
  const body = { text: "go", mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id: row.id }, body }));
  await until("somebody is asked", async () => (await inboxOf(yard)).length > 0);
  const [decision, ...others] = await inboxOf(yard);
  const [, worker] = await yard.engine.agentTree(row);
  assert.deepEqual([decision?.path, decision?.question, others], [["root", worker?.id], "Which colour?", []]);
  assert.deepEqual(await say(yard, decision, { verdict: "answer", answer: "colour: green" }), []);
  const { answer } = await yard.whenAtRest(row.id);
  assert.deepEqual([answer, answers], ["all done", [{ action: "accept", content: { colour: "green" } }]]);
  await until("nobody listens", () => listeners.held() === 0);
  const heard: unknown[] = [];
  yard.engine.live(row.number, (frame) => heard.push(frame))();
  assert.deepEqual(heard, []);
});

test("a tool that was stopped asks nobody any more, also not in the turn that runs next [L6][G1][H4]", async () => {
  const answers: FormAnswer[] = [];
  const mayAsk = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  await using model = await modelServer((request) =>
    lastOf(request).text === "go" ? calls(["wonder", {}]) : { ...says("fine"), heldUntil: end.promise },
  );
  await using yard = await startYard({ model, tools: [asker(answers, mayAsk.promise)] });
  const { id } = await yard.start("c");
  const send = (text: string) =>
    must(yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue" } }));
  await send("go");
  await until("it works", async () => (await yard.events(id)).some(({ type }) => type === "call.started"));
  await send("something else");
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await until("the next turn runs", () => model.asked.length === 2);
  mayAsk.resolve();
  await until("it has asked", () => answers.length === 1);
  assert.deepEqual([answers, await inboxOf(yard)], [[{ action: "cancel" }], []]);
  end.resolve();
  assert.equal((await yard.whenAtRest(id)).answer, "fine");
});
