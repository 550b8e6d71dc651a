import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool, type FormAnswer, type FormAsked } from "../../src/tools/tools.ts";
import { lastOf } from "../world/company.ts";
import { inboxOf } from "../world/decisions.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
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
