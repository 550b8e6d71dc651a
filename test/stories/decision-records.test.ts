import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Append, Storage } from "../../src/storage/storage.ts";
import { firstOf, report } from "../world/company.ts";
import { inboxOf, type Said, say, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { startYard, type TestYard } from "../world/yard.ts";

const always = { verdict: "approve", always: { scope: "user" } } as const;

/** A yard whose tool `pay` asks first, and what was stored each time somebody had decided. */
async function paying(t: TestContext, answer: Parameters<typeof modelServer>[0]) {
  const decided: Append[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      if (batch.epoch === undefined && batch.events.some(({ type }) => type === "decision.made")) decided.push(batch);
      return storage.append(batch);
    },
  });
  const model: ModelServer = await modelServer(answer);
  t.after(() => model.close());
  const tools = [effectTool("pay", "unsafe", join(folderWith(t, {}), "marks"), { asks: true })];
  const yard: TestYard = await startYard({ model, tools, wrapStorage, isOneProcess: true });
  t.after(() => yard[Symbol.asyncDispose]());
  return { yard, model, decided };
}

test("with a decision is stored that nobody need answer it any more, the rule that it makes, and that there is something to do, here and wherever the rule answers [H2][H4][L2]", async (t) => {
  const { yard, decided } = await paying(t, (request) =>
    stepOf(request) === 0 ? calls(["pay", { mark: "a" }], ["pay", { mark: "a" }]) : says("done"),
  );
  const [one, two] = [await yard.start("one"), await yard.start("two")];
  for (const { id } of [one, two]) await yard.ask("go", { conversation: id });
  const [[first, second], [third, fourth]] = [await waitingIn(yard, "one"), await waitingIn(yard, "two")];
  assert.deepEqual(await say(yard, first, always), [second?.id, third?.id, fourth?.id]);
  const [rule] = await yard.engine.rules(localOwner);
  const soon = { wake: { notBefore: 0 } };
  assert.deepEqual(
    decided.map(({ number, with: rows }) => [number, { ...rows, rules: rows?.rules?.map(({ id }) => id) }]),
    [
      [one.number, { decided: [first?.id, second?.id], rules: [rule?.id], ...soon }],
      [two.number, { decided: [third?.id, fourth?.id], rules: undefined, ...soon }],
    ],
  );
  for (const { id } of [one, two]) assert.equal((await yard.whenAtRest(id)).outcome, "done");
  const made = all(await yard.events("two"), "decision.made");
  assert.deepEqual(
    made.map(({ by, rule: named, previous }) => [by, named?.id, previous]),
    [
      ["rule", rule?.id, ""],
      ["rule", rule?.id, made[0]?.hash],
    ],
  );
});

const refusals = (kind: string): readonly (readonly [Said, string])[] =>
  kind === "approval"
    ? [
        [{ verdict: "answer", answer: "yes" }, "decision_verdict_unfit"],
        [{ verdict: "edit", arguments: '{"sum":7}' }, "tool_arguments_unfit"],
        [{ verdict: "edit" }, "tool_arguments_unfit"],
        [{ verdict: "edit", arguments: '{"mark":"b"}', always: { scope: "user" } }, "rule_not_offered"],
        [{ verdict: "approve", always: { option: 99, scope: "user" } }, "rule_not_offered"],
      ]
    : [
        [{ verdict: "approve" }, "decision_verdict_unfit"],
        [{ verdict: "edit", arguments: "{}" }, "decision_verdict_unfit"],
        [always, "decision_verdict_unfit"],
        [{ verdict: "answer" }, "answer_required"],
        [{ verdict: "answer", answer: " \n" }, "answer_required"],
      ];

test("a verdict that does not fit what was asked is refused and nothing is stored; what was decided once stays so, whatever is said next [H2][H3]", async (t) => {
  const asks = calls(["pay", { mark: "a" }], ["ask_human", { question: "Which?", required: true }]);
  const { yard } = await paying(t, (request) => (stepOf(request) === 0 ? asks : says("done")));
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const open = await waitingIn(yard, "c");
  assert.deepEqual(open.map(({ kind }) => kind).toSorted(), ["approval", "question"]);
  for (const decision of open)
    for (const [said, code] of refusals(decision.kind))
      assert.deepEqual(await say(yard, decision, said), code, `${decision.kind}: ${JSON.stringify(said)}`);
  const [known] = open;
  const unknown = known && { ...known, id: "no-such" };
  for (const said of [{ verdict: "reject" }, { verdict: "edit", arguments: "{}" }, always] as const)
    assert.deepEqual(await say(yard, unknown, said), "decision_not_found");
  assert.deepEqual([all(await yard.events("c"), "decision.made"), await waitingIn(yard, "c")], [[], open]);
  const approval = open.find(({ kind }) => kind === "approval");
  const question = open.find(({ kind }) => kind === "question");
  assert.deepEqual(await say(yard, approval, { verdict: "reject" }), []);
  for (const said of [{ verdict: "approve" }, { verdict: "edit", arguments: '{"mark":"b"}' }, always] as const)
    assert.deepEqual(await say(yard, approval, said), "decision_already_made");
  assert.deepEqual(await say(yard, question, { verdict: "reject", reason: "none of them" }), []);
  const { events, outcome } = await yard.whenAtRest("c");
  assert.deepEqual(
    [outcome, all(events, "decision.made").map(({ verdict, reason }) => [verdict, reason])],
    [
      "done",
      [
        ["reject", undefined],
        ["reject", "none of them"],
      ],
    ],
  );
});

test("what an agent that works for another asks is decided like the rest, edited and for all equal ones, and the record names the agent [H2][A2]", async (t) => {
  const isWorker = (request: AskedRequest) => firstOf(request).startsWith("part");
  const { yard, model } = await paying(t, (request) => {
    if (stepOf(request) > 0) return says(report("done"));
    if (isWorker(request)) return calls(["pay", { mark: "a" }]);
    return calls(["delegate_task", { task: "part 1" }], ["delegate_task", { task: "part 2" }]);
  });
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const open = await inboxOf(yard);
  assert.equal(open.length, 2);
  const [first, second] = open;
  assert.deepEqual(await say(yard, first, { verdict: "edit", arguments: '{"mark":"b"}', equal: true }), [second?.id]);
  const { events, outcome } = await yard.whenAtRest("c");
  const made = all(events, "decision.made").map(({ id, agent, arguments: edited }) => [id, agent, edited]);
  const asked = all(events, "decision.asked").map(({ id, agent }) => [id, agent, '{"mark":"b"}']);
  assert.deepEqual(
    [outcome, made.toSorted(), made.every(([, agent]) => agent !== undefined)],
    ["done", asked.toSorted(), true],
  );
  const told = model.asked.filter(isWorker).map(({ body }) => String(body.messages.at(-1)?.content));
  assert.equal(told.filter((text) => text === "pay left b").length, 2);
});

test("what the operator forbids while a person still thinks is not done, though they then approve it [H1][H2][P5]", async (t) => {
  const data = folderWith(t, {});
  let changed: Config | undefined;
  const tools = [effectTool("pay", "unsafe", join(data, "marks"), { asks: true })];
  await using model = await modelServer((request) =>
    stepOf(request) === 0 ? calls(["pay", { mark: "poison" }]) : says("done"),
  );
  await using yard = await startYard({ model, data, tools, reload: async () => changed, isOneProcess: true });
  await yard.start("c");
  await yard.ask("go", { conversation: "c" });
  const [open] = await waitingIn(yard, "c");
  mkdirSync(join(data, "config"));
  const rules = "global: {risk_patterns: {high: {patterns: [poison], action: deny, reason: poison is out}}}\n";
  writeFileSync(join(data, "config", "hitl_rules.yaml"), rules);
  const place = { cwd: data, homeDir: data, programDir: data, flags: {} };
  const loaded = await loadConfig({ env: { AGENTYARD_DATA: data }, ...place });
  assert.ok(loaded.ok);
  changed = { ...yard.config, approvals: loaded.value.approvals };
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  const { events } = await yard.whenAtRest("c");
  const ends = all(events, "call.finished").map(({ outcome, failure }) => [outcome, failure?.code]);
  assert.deepEqual([ends, existsSync(join(data, "marks"))], [[["rejected", "tool_denied"]], false]);
});
