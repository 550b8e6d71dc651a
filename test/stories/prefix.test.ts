import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { all } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { wires } from "../world/wires.ts";
import { must, startYard } from "../world/yard.ts";

const text = fc
  .oneof(fc.string({ maxLength: 40 }), fc.constantFrom("你好，世界", "emoji 🎉", '"quoted"\n\\', "</data>", "\u2028"))
  .filter((value) => value.trim() !== "");
const toolCall = fc.constantFrom<[string, unknown]>(
  ["now", {}],
  ["now", { timezone: "Mars/Base" }],
  ["now", '{ "timezone" :  "UTC" }'],
  ["todo_write", { todos: [{ content: "a", status: "pending" }] }],
  ["todo_read", {}],
  ["nothing", {}],
  ["now", "{broken"],
);
const answer: fc.Arbitrary<Answer> = fc.oneof(
  fc
    .record({ asked: fc.array(toolCall, { minLength: 1, maxLength: 3 }), thought: fc.option(text, { nil: undefined }) })
    .map(({ asked, thought }) => ({ ...calls(...asked), ...(thought === undefined ? {} : { reasoning: thought }) })),
  fc.record({ text, reasoning: fc.option(text, { nil: "" }) }),
);
const turn = fc.record({ question: text, steps: fc.array(answer, { maxLength: 4 }), isCancelled: fc.boolean() });

for (const wire of wires) {
  test(`${wire.api}: in any conversation each request begins with the bytes of the one before it, and the share that is reused is in the log [L3][M6]`, async () => {
    await using model = await modelServer([], wire);
    await using yard = await startYard({ model });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), async (turns) => {
        model.asked.length = 0;
        const { id } = await must(yard.client.call("createConversation", { body: {} }));
        for (const { question, steps } of turns) {
          const toolSteps = steps.filter((step) => step.calls !== undefined);
          model.answerWith([...toolSteps, says("the end")]);
          const { outcome } = await yard.ask(question, { conversation: id });
          assert.equal(outcome, "done", "nothing that was sent is refused");
        }
        isGrowing(model.messageBytes());
        const steps = all(await yard.events(id), "step.started");
        for (const [n, step] of steps.entries()) {
          const before = steps[n - 1];
          if (before !== undefined && before.attempt === 1)
            assert.equal(step.reused, before.bytes, "all of the last request is reused");
        }
        const tools = new Set(model.asked.map(({ body }) => JSON.stringify(body.tools)));
        assert.equal(tools.size, 1, "the tools are the same bytes in every request");
      }),
      { numRuns: Number(process.env.AGENTYARD_PROPERTY_RUNS ?? (wire.api === "chat" ? 8 : 3)) },
    );
  });
}

function isGrowing(requests: readonly string[]): void {
  for (const [n, request] of requests.entries())
    assert.ok(request.startsWith(requests[n - 1] ?? ""), `request ${n + 1} does not begin with request ${n}`);
}

test("the prefix stays the same across a restart of the process [L3][L2]", async () => {
  await using model = await modelServer([calls(["now", {}]), says("one"), says("two")]);
  const first = await startYard({ model });
  const { conversation } = await first.ask("hello");
  await first.close();
  await using second = await startYard({ model, data: first.data });
  await second.ask("again", { conversation });
  const [, before, after] = model.messageBytes();
  assert.ok(after?.startsWith(before ?? "?"));
});
