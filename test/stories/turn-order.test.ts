import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool, type Tool } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const threeTouches = [
  calls(["touch", { file: "a", mark: 1 }], ["touch", { file: "b", mark: 2 }], ["touch", { file: "a", mark: 3 }]),
  says("done"),
];

test("calls on the same file run one after another as they were asked for, those on others beside them [L5][W11]", async () => {
  const seen: string[] = [];
  // The first call ends only when the one on the other file has begun.
  const tool = touching(seen, ({ mark }) => until("b has begun", () => mark !== 1 || seen.includes("+b2")));
  await using model = await modelServer(threeTouches);
  await using yard = await startYard({ model, tools: [tool] });
  const { answer, events } = await yard.ask("go");
  assert.deepEqual([answer, seen.filter((mark) => mark[1] === "a")], ["done", ["+a1", "-a1", "+a3", "-a3"]]);
  const results = model.asked[1]?.body.messages.filter((message) => message.role === "tool");
  assert.deepEqual(
    results?.map(({ content }) => content),
    ["touched a1", "touched b2", "touched a3"],
  );
  assert.equal(all(events, "call.finished").length, 3);
});

test("a call behind one that waits for a person waits too, and runs whatever the person says [L5][H2]", async () => {
  for (const verdict of ["approve", "reject"] as const) {
    const seen: string[] = [];
    await using model = await modelServer([
      calls(["touch", { file: "a", mark: 1, asks: true }], ["touch", { file: "a", mark: 2 }]),
      says("done"),
    ]);
    await using yard = await startYard({ model, tools: [touching(seen)] });
    const asked = await yard.ask("go");
    assert.deepEqual([asked.status, seen], ["waiting", []]);
    const { items } = await must(yard.client.call("listDecisions"));
    assert.equal(items.length, 1);
    const params = { id: asked.conversation, decision: items[0]?.id ?? "" };
    await must(yard.client.call("decide", { params, body: { verdict } }));
    const { answer } = await yard.whenAtRest(asked.conversation);
    const ran = verdict === "approve" ? ["+a1", "-a1", "+a2", "-a2"] : ["+a2", "-a2"];
    assert.deepEqual([answer, seen], ["done", ran]);
  }
});

test("a call behind one that cannot be read runs at once [L5]", async () => {
  const seen: string[] = [];
  await using model = await modelServer([
    calls(["touch", { file: "a" }], ["touch", { file: "a", mark: 2 }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: [touching(seen)] });
  const { answer } = await yard.ask("go");
  assert.deepEqual([answer, seen], ["done", ["+a2", "-a2"]]);
});

test("when the turn is stopped, a call that waited behind another has not run [L5][L6]", async () => {
  const seen: string[] = [];
  const tool = touching(seen, ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
  await using model = await modelServer(threeTouches);
  await using yard = await startYard({ model, tools: [tool] });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await send(yard, id);
  await until("both files are touched", () => seen.length === 2);
  await must(yard.client.call("cancelTurn", { params: { id } }));
  const { outcome, events } = await yard.whenAtRest(id);
  const outcomes = new Map(all(events, "call.finished").map(({ call, outcome }) => [call, outcome]));
  const ids = all(events, "message.assistant")[0]?.calls?.map((call) => outcomes.get(call.id));
  assert.deepEqual([outcome, ids?.at(-1), seen.includes("+a3")], ["cancelled", "not_run", false]);
});

test("after a restart calls on the same file still run in their order [L5][L2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-order-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const seen: string[] = [];
  const asked = [calls(["touch", { file: "a", mark: 1 }], ["touch", { file: "a", mark: 2 }]), says("done")];
  await using model = await modelServer(asked);
  const stuck = touching(seen, ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
  const id = "order";
  {
    await using yard = await startYard({ model, data, tools: [stuck] });
    await must(yard.client.call("createConversation", { body: { id } }));
    await send(yard, id);
    await until("the first call has begun", () => seen.length === 1);
  }
  seen.length = 0;
  await using yard = await startYard({ model, data, tools: [touching(seen)] });
  const { answer } = await yard.whenAtRest(id);
  assert.deepEqual([answer, seen], ["done", ["+a1", "-a1", "+a2", "-a2"]]);
});

type Touch = { readonly mark: number; readonly signal: AbortSignal };

/** Notes when it begins and ends; calls with the same `file` are to be kept apart. */
function touching(seen: string[], meanwhile: (touch: Touch) => Promise<unknown> = async () => {}): Tool {
  return defineTool({
    name: "touch",
    description: "Touches a file. For tests.",
    class: "idempotent",
    input: z.object({ file: z.string(), mark: z.number(), asks: z.boolean().optional() }),
    order: ({ file }) => file,
    ask: ({ asks }) => (asks ? { kind: "approval", reason: "it touches", risk: "medium" } : undefined),
    async run({ file, mark }, { signal }) {
      seen.push(`+${file}${mark}`);
      await meanwhile({ mark, signal });
      if (signal.aborted) await new Promise(() => {});
      seen.push(`-${file}${mark}`);
      return ok({ text: `touched ${file}${mark}` });
    },
  });
}

async function send(yard: TestYard, id: string): Promise<void> {
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
}
