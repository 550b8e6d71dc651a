import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { inboxOf, say, toldResults, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

/** In each turn the model pays what the user's message says, `a b` in one answer, and then ends. */
function payingModel(): Promise<ModelServer> {
  return modelServer((request) => {
    if (stepOf(request) > 0) return says("done");
    const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    const marks = /pay ([a-z ]+)/.exec(asked)?.[1]?.trim().split(" ") ?? [];
    return calls(...marks.map((mark): [string, unknown] => ["pay", { mark }]));
  });
}

async function place(t: TestContext) {
  const data = folderWith(t, {});
  const model = await payingModel();
  t.after(() => model.close());
  return { data, model, tools: [effectTool("pay", "unsafe", join(data, "marks"), { asks: true })] };
}

test("what is allowed always in a conversation is not asked again there, also after a restart, but elsewhere [H2]", async (t) => {
  const parts = await place(t);
  const first = await startYard(parts);
  const { conversation } = await first.ask("pay a");
  const [open] = await waitingIn(first, conversation);
  assert.deepEqual(open?.always?.[0]?.match, "call");
  assert.deepEqual(await say(first, open, { verdict: "approve", always: { scope: "conversation" } }), []);
  await first.whenAtRest(conversation);
  await first[Symbol.asyncDispose]();

  await using yard = await startYard(parts);
  const again = await yard.ask("pay a", { conversation });
  assert.deepEqual([again.status, again.answer], ["idle", "done"]);
  const [rule] = (await must(yard.client.call("listRules"))).items;
  assert.deepEqual(
    { tool: rule?.tool, scope: rule?.scope, conversation: rule?.conversation, by: rule?.by, match: rule?.match },
    { tool: "pay", scope: "conversation", conversation, by: "local", match: open?.always?.[0] },
  );
  assert.match(rule?.id ?? "", /^[0-9a-f]{8}$/);
  const countIn = async (id: string) =>
    (await must(yard.client.call("listRules", { query: { conversation: id } }))).items;
  const { id: elsewhere } = await must(yard.client.call("createConversation", { body: {} }));
  assert.deepEqual([await countIn(conversation), await countIn(elsewhere)], [[rule], []]);
  const made = all(again.events, "decision.made");
  assert.deepEqual(
    made.map(({ by, verdict, rule: stored }) => ({ by, verdict, rule: stored })),
    [
      { by: "local", verdict: "approve", rule },
      { by: "rule", verdict: "approve", rule },
    ],
  );
  assert.equal(made[1]?.previous, made[0]?.hash);
  assert.equal((await yard.ask("pay b", { conversation })).status, "waiting");
  assert.equal((await yard.ask("pay a")).status, "waiting");
  assert.deepEqual([(await inboxOf(yard)).map((decision) => decision.arguments)], [['{"mark":"b"}', '{"mark":"a"}']]);
});

test("a rule for all conversations counts in all of them at once, answers what waits, and ends when it is revoked [H2]", async (t) => {
  await using yard = await startYard(await place(t));
  const waiting = await yard.ask("pay a");
  const elsewhere = await yard.ask("pay a b");
  const [open] = await waitingIn(yard, waiting.conversation);
  const [other] = await waitingIn(yard, elsewhere.conversation);
  assert.deepEqual(await say(yard, open, { verdict: "approve", always: { scope: "user" } }), [other?.id]);
  assert.equal((await yard.whenAtRest(waiting.conversation)).answer, "done");
  assert.deepEqual(
    (await yard.whenAtRest(elsewhere.conversation)).events.flatMap((event) =>
      event.type === "decision.made" ? [event.by] : [],
    ),
    ["rule"],
  );
  assert.deepEqual([(await inboxOf(yard)).map((decision) => decision.arguments)], [['{"mark":"b"}']]);
  assert.equal((await yard.ask("pay a")).status, "idle");

  const [rule] = (await must(yard.client.call("listRules", { query: { conversation: elsewhere.conversation } }))).items;
  const params = { rule: rule?.id ?? "" };
  await must(yard.client.call("revokeRule", { params }));
  assert.equal((await yard.ask("pay a")).status, "waiting");
  const twice = await yard.client.call("revokeRule", { params });
  assert.equal(twice.ok ? "" : twice.failure.code, "rule_not_found");
  assert.deepEqual((await must(yard.client.call("listRules"))).items, []);
});

test("a new rule answers what else it covers in the same conversation, in one moment [H2]", async (t) => {
  await using yard = await startYard(await place(t));
  const { conversation } = await yard.ask("pay a b a a");
  const [first, second, third, fourth] = await waitingIn(yard, conversation);
  const also = await say(yard, third, { verdict: "approve", always: { scope: "conversation" } });
  assert.deepEqual(also, [first?.id, fourth?.id]);
  await yard.whenAtRest(conversation);
  assert.deepEqual([(await waitingIn(yard, conversation)).map(({ id }) => id)], [[second?.id]]);
  assert.deepEqual(await say(yard, second, { verdict: "reject", reason: "no" }), []);
  const { events } = await yard.whenAtRest(conversation);
  const made = all(events, "decision.made");
  assert.deepEqual(
    made.map(({ id, by, verdict }) => [id, by, verdict]),
    [
      [third?.id, "local", "approve"],
      [first?.id, "rule", "approve"],
      [fourth?.id, "rule", "approve"],
      [second?.id, "local", "reject"],
    ],
  );
  assert.deepEqual([made.map(({ previous }) => previous)], [["", ...made.slice(0, -1).map(({ hash }) => hash)]]);
});

test("equal requests are answered together, whatever the answer is [H2]", async (t) => {
  const parts = await place(t);
  await using yard = await startYard(parts);
  const { conversation } = await yard.ask("pay a a b a");
  const [first, second, other, last] = await waitingIn(yard, conversation);
  assert.deepEqual(await say(yard, first, { verdict: "reject", reason: "too dear", equal: true }), [
    second?.id,
    last?.id,
  ]);
  assert.deepEqual(await say(yard, other, { verdict: "edit", arguments: '{"mark":"c"}', equal: true }), []);
  await yard.whenAtRest(conversation);
  const rejected = /^Error: tool_rejected: The user rejected pay: too dear\./;
  const told = toldResults(parts.model.asked.at(-1)?.body ?? { messages: [] });
  assert.equal(told.length, 4);
  for (const index of [0, 1, 3]) assert.match(told[index] ?? "", rejected);
  assert.equal(told[2], "pay left c");
});

test("only rules that a decision offers can be stored, with an approval, and up to a number [H2]", async (t) => {
  const parts = await place(t);
  await using yard = await startYard({
    ...parts,
    wrapStorage: (storage) => ({
      ...storage,
      async listRules(owner, where) {
        const rows = await storage.listRules(owner, where);
        const filler = { owner: localOwner, id: "x", number: undefined, body: "{}", at: 0 };
        return rows.length > 0 ? Array.from({ length: where.limit }, () => rows[0] ?? filler) : rows;
      },
    }),
  });
  const { conversation } = await yard.ask("pay a b");
  const [open, other] = await waitingIn(yard, conversation);
  const scope = "user" as const;
  const offered = open?.always?.length ?? 0;
  assert.equal(await say(yard, open, { verdict: "approve", always: { option: offered, scope } }), "rule_not_offered");
  assert.equal(await say(yard, open, { verdict: "reject", always: { scope } }), "rule_not_offered");
  assert.deepEqual(await say(yard, open, { verdict: "approve", always: { scope } }), []);
  // From here on the user has as many as there may be.
  assert.equal(await say(yard, other, { verdict: "approve", always: { scope } }), "rules_full");
  assert.deepEqual(await say(yard, other, { verdict: "approve" }), []);
});

test("what the operator forbids is never run: not by the model, not by an edit, not by a rule [H1][H2]", async (t) => {
  const parts = await place(t);
  await mkdir(join(parts.data, "config"), { recursive: true });
  const rules = "global: {risk_patterns: {high: {patterns: [poison], action: deny, reason: poison is out}}}\n";
  await writeFile(join(parts.data, "config", "hitl_rules.yaml"), rules);
  await using yard = await startYard(parts);
  const { conversation, status } = await yard.ask("pay poison a");
  assert.equal(status, "waiting");
  const [open, ...others] = await waitingIn(yard, conversation);
  assert.deepEqual([open?.arguments, others.length], ['{"mark":"a"}', 0]);
  assert.equal(await say(yard, open, { verdict: "edit", arguments: '{"mark":"poison"}' }), "tool_denied");
  assert.deepEqual(await say(yard, open, { verdict: "approve", always: { scope: "user" } }), []);
  const { events } = await yard.whenAtRest(conversation);
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure }) => [outcome, failure?.code]),
    [
      ["rejected", "tool_denied"],
      ["ok", undefined],
    ],
  );
  const [denied] = toldResults(parts.model.asked.at(-1)?.body ?? { messages: [] });
  assert.match(
    denied ?? "",
    /^Error: tool_denied: The rules of this installation do not allow pay: poison is out \(config\/hitl_rules\.yaml:1\)\. /,
  );
});
