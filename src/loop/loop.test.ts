import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { z } from "zod";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { ok } from "../base/result.ts";
import { askedHash, chained, emptyHistory, foldHistory, linkOf, type OpenTurn } from "../log/log.ts";
import type { ModelFacts } from "../models/models.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { AllowRule } from "../protocol/approval.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { defineTool, openToolkit, transferName } from "../tools/tools.ts";
import { choiceOf } from "./agents.ts";
import { bouncingIn, type Deed, plainWords } from "./bouncing.ts";
import { startLimit } from "./call-limit.ts";
import { rechained } from "./copied-decisions.ts";
import { agentCatalogue } from "./hand-off.ts";
import { lastText, snippet } from "./last-text.ts";
import { keepOne, leftOver, running, said, started, waiting } from "./loop.testing.ts";
import { makeAgent } from "./make-agent.ts";
import { defaultLimits, type LoopLimits } from "./parts.ts";
import { findInterrupted } from "./recover.ts";
import { isShort } from "./result-room.ts";
import { openRules, ruleRow } from "./rules.ts";

const mail = (agent: string, to: string, text: string): Deed => ({ agent, to, words: plainWords(text) });

const work = (agent: string): Deed => ({ agent });

test("the same mail for the third time among ten is a circle, whatever numbers and blanks it has [A1]", () => {
  const ping = (n: number) => mail("a", "b", `Are you  done? (${n})`);
  assert.equal(bouncingIn([ping(1), mail("b", "a", "no"), work("b"), ping(2)]), undefined);
  const circle = [ping(1), mail("b", "a", "no"), work("b"), ping(2), mail("b", "a", "not yet"), ping(33)];
  assert.deepEqual(bouncingIn(circle), { because: "same_mail", times: 3 });
  const others = Array.from({ length: 10 }, (_, n) => mail("b", "a", `part ${"x".repeat(n)}`)).flatMap((one) => [
    one,
    work("b"),
  ]);
  assert.equal(bouncingIn([ping(1), ping(2), ...others, ping(3)]), undefined, "long ago is no circle");
});

test("twelve mails between two agents that do nothing else are a circle; any work of either begins anew [A1]", () => {
  const talk = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      n % 2 === 0 ? mail("a", "b", "x".repeat(n)) : mail("b", "a", "y".repeat(n)),
    );
  assert.equal(bouncingIn(talk(11)), undefined);
  assert.deepEqual(bouncingIn(talk(12)), { because: "only_mail", times: 12 });
  assert.equal(bouncingIn([...talk(11), work("a"), ...talk(11)]), undefined);
  assert.equal(
    bouncingIn([...talk(6), mail("c", "a", "hello"), work("c"), ...talk(5)]),
    undefined,
    "others count for themselves",
  );
  assert.equal(bouncingIn([...talk(12), work("c")]), undefined, "only mail is held back");
  const ring = Array.from({ length: 34 }, (_, n) => mail("abc"[n % 3] ?? "", "bca"[n % 3] ?? "", "x".repeat(n)));
  assert.deepEqual(bouncingIn(ring), { because: "only_mail", times: 12 }, "a third one in between makes no work of it");
});

test("the limit of a call stands still while a person is asked, and goes on afterwards [G1][L5]", async () => {
  const clock = manualClock();
  let isOver = false;
  const limit = startLimit(clock, 1_000, () => {
    isOver = true;
  });
  clock.move(600);
  await limit.without(async () => clock.move(1_000_000));
  clock.move(399);
  assert.equal(isOver, false);
  clock.move(1);
  assert.equal(isOver, true);
});

test("two questions at once stop the limit once, and a call that is over has none [G1][L5]", async () => {
  const clock = manualClock();
  const limit = startLimit(clock, 1_000, () => assert.fail("it is over"));
  await limit.without(() => limit.without(async () => clock.move(5_000)));
  await limit.without(async () => limit.end());
  clock.move(5_000);
  assert.deepEqual([limit.over.aborted, clock.timers()], [true, 0]);
});

test("a result of up to 2,000 bytes is never cut, as its characters are counted for models [M5]", () => {
  const lengths = ["a", "é", "界", "😀"].map((character) => {
    let count = 0;
    while (isShort(character.repeat(count + 1))) count += 1;
    return count;
  });
  assert.deepEqual(lengths, [2_000, 1_000, 500, 500]);
});

type Made = Extract<NewEvent, { type: "decision.made" }>;

function asked(id: string): Extract<NewEvent, { type: "decision.asked" }> {
  const body: EventBody<"decision.asked"> = { turn: 1, id, call: `call-${id}`, kind: "approval", tool: "pay", time: 1 };
  return { type: "decision.asked", ...body, hash: askedHash(body) };
}

function made(id: string, previous: string, reason?: string): Made {
  const said = { id, verdict: "reject", by: "local", argumentsHash: "0", time: 2 } as const;
  const body = { ...said, ...(reason === undefined ? {} : { reason }) };
  return { type: "decision.made", ...chained(asked(id), body, previous) };
}

test("in a branch each decision names the one before it there, with a hash of its own, and all else is as it was [H2][L9]", () => {
  const renamed: NewEvent = { type: "conversation.renamed", title: "Numbers" };
  const [first, second] = [made("a", "left behind", "too dear"), made("b", "left behind, too")];
  const [one, two] = [made("a", "", "too dear"), made("b", linkOf(made("a", "", "too dear")))];
  const copied = rechained([asked("a"), first, renamed, asked("b"), second]);
  assert.deepEqual(copied, [asked("a"), one, renamed, asked("b"), two]);
  assert.notEqual(first.hash, one.hash);
});

test("a decision that does not hold is copied as it is, and does not begin to hold; the next one names it [H2][L9]", () => {
  const forged: Made = { ...made("a", ""), verdict: "approve" };
  const unasked = made("c", "x");
  const copied = rechained([asked("a"), forged, unasked, asked("b"), made("b", "")]);
  assert.deepEqual(copied, [asked("a"), forged, unasked, asked("b"), made("b", linkOf(unasked))]);
});

const describedRole = (id: string, description: string): AgentRole => ({
  ...{ id, name: id, description, prompt: undefined, tools: undefined, slot: undefined },
});

const catalogueOf = (roles: readonly AgentRole[], isOffered: (tool: string) => boolean = () => true) =>
  agentCatalogue(emptyHistory(), { agents: () => [describedRole("general", "The main one."), ...roles] }, isOffered);

test("an agent is told of twenty others at the most, each with a line of 160 characters, and of nobody it cannot hand over to [A3]", () => {
  const many = Array.from({ length: 21 }, (_, n) => describedRole(`a${n}`, `Knows\n ${n}.`));
  const told: readonly string[] = catalogueOf(many)?.match(/\ba\d+\b/g) ?? [];
  assert.deepEqual([new Set(told).size, told.includes("a19"), told.includes("a20")], [20, true, false]);
  assert.match(catalogueOf(many) ?? "", /Knows 7\./);
  assert.equal(catalogueOf([describedRole("a", "x".repeat(400))])?.match(/x{9,}/)?.[0].length, 160);
  const some = catalogueOf(many, (tool) => tool === "transfer_to_a3") ?? "";
  assert.deepEqual([...new Set(some.match(/\ba\d+\b/g))], ["a3"]);
  assert.deepEqual([catalogueOf([]), catalogueOf(many, () => false)], [undefined, undefined]);
});

const full = failure("storage_full", {});

test("a conversation is listed by one line of at most 120 characters of what was said last, not by what a tool said [C3]", () => {
  assert.equal(snippet("  a\n\n b\tc "), "a b c");
  assert.equal(snippet("x".repeat(120)), "x".repeat(120));
  assert.equal(snippet("x".repeat(121)), `${"x".repeat(119)}…`);
  const events: NewEvent[] = [
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    ...[step(1), answer(1, ["x"])],
    { type: "call.finished", call: "x", outcome: "ok", text: "seen" },
  ];
  assert.equal(lastText(foldHistory(numbered(events))), "answer 1");
  assert.equal(lastText(foldHistory([])), "");
});

test("a rule that cannot be read allows nothing and is named in the log file; one of a conversation counts there alone [H2][O1]", async (t) => {
  const rule: AllowRule = {
    ...{ id: "3fa1b2c4", tool: "pay", scope: "conversation", conversation: "c", at: 1, by: "local" },
    match: { match: "findings", covers: [{ kind: "packages", pattern: "pip install *" }] },
  };
  let isFull = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    dropRule: async (...given) => (isFull ? full : real.dropRule(...given)),
  });
  const { parts, start, real, warned } = await leftOver(t, { wrap });
  const [row, other] = [await start("c"), await start("d")];
  assert.equal(ruleRow(localOwner, { ...rule, scope: "user" }, row).number, undefined);
  const put = (id: string, at: number, of: object | string, place: number | undefined = row.number) =>
    real.putRule({ owner: localOwner, id, number: place, at, body: typeof of === "string" ? of : JSON.stringify(of) });
  await Promise.all([put("a", 3, "{"), put("b", 2, { ...rule, scope: "all" }), put(rule.id, 1, rule)]);
  const { rules, revokeRule } = openRules(parts);
  assert.deepEqual([await rules(localOwner, row), await rules(localOwner, other)], [[rule], []]);
  const why = "a rule that somebody made cannot be read";
  assert.deepEqual(warned, [
    [why, { rule: "a", owner: localOwner }],
    [why, { rule: "b", owner: localOwner }],
  ]);
  isFull = true;
  assert.deepEqual(await revokeRule(localOwner, rule.id), full);
  isFull = false;
  assert.deepEqual(await revokeRule(localOwner, rule.id), ok(undefined));
  assert.deepEqual(await revokeRule(localOwner, rule.id), failure("rule_not_found", { id: rule.id }));
  await Promise.all(
    Array.from({ length: 501 }, (_, at) => put(`${at}`, 9 + at, { ...rule, scope: "user" }, undefined)),
  );
  assert.equal((await rules(localOwner)).length, 500);
});

const ageMsMax = 1_000;

const approvalAsked: NewEvent = {
  ...{ type: "decision.asked", turn: 1, id: "d1", call: "c", tool: "look", kind: "approval", arguments: "{}" },
};

type Left = Awaited<ReturnType<typeof leftOver>>;

type Options = Parameters<typeof findInterrupted>[1];

async function found({ parts }: Left, lookedAt?: Map<number, number>, options: Options = { ageMsMax }) {
  const all: [string, boolean][] = [];
  for await (const { conversation, isOld } of findInterrupted(parts, options, lookedAt))
    all.push([conversation.id, isOld]);
  return all;
}

test("a turn that lies longer back than it may is old, one that is just as long back is not, and a message that waits never is [L2]", async (t) => {
  const left = await leftOver(t);
  await left.start("a", ...running);
  await left.start("b", waiting);
  left.clock.move(1);
  await left.start("c", ...running);
  left.clock.move(ageMsMax);
  assert.deepEqual(await found(left), [
    ["a", true],
    ["b", false],
    ["c", false],
  ]);
});

test("a turn in which a person is asked is left to that person, unless somebody has something to do in it; without a turn nobody is asked [L2][H4][A1]", async (t) => {
  const left = await leftOver(t);
  const asking = [...running, step(1), answer(1, ["c"]), approvalAsked];
  const helper: NewEvent = { type: "agent.spawned", id: "a", mode: "task", role: "writer", brief: "write" };
  await left.start("a", ...asking);
  await left.start("b", ...asking, helper);
  await left.start("c", ...asking, { type: "turn.finished", turn: 1, outcome: "done" });
  assert.deepEqual(await found(left), [
    ["b", false],
    ["c", false],
  ]);
});

async function maker(t: TestContext, more: readonly NewEvent[] = [], conversation: object = {}) {
  const kept = await keepOne(t, { before: [said("m1"), started, ...more] });
  const { budgets } = defaultLimits;
  const limits: LoopLimits = {
    ...{ ...defaultLimits, budgets: { ...budgets, conversation: { ...budgets.conversation, ...conversation } } },
  };
  const make = (
    call: string,
    wanted: { mode?: "task" | "worker" | "handoff"; name?: string; budget?: object } = {},
  ) => {
    const made = makeAgent(
      kept.tenure.root,
      { ...kept.parts, limits },
      {
        ...{ mode: "task", role: "writer", brief: "write", call, ...wanted },
      },
    );
    return made.ok ? made.value : made.failure;
  };
  return { ...kept, make };
}

const nameOf = (made: object) => ("name" in made ? made.name : made);

test("an agent has a name fit for a path, of forty characters at the most, unlike the others' and unlike those that mean somebody else [A1][W2]", async (t) => {
  const { make } = await maker(t);
  const named = (call: string, name: string) => nameOf(make(call, { name }));
  assert.deepEqual(
    [
      named("a", "  Ärzte & 医生 no. 7! "),
      named("b", "../.."),
      named("c", "Root"),
      named("d", "user"),
      named("e", "parent"),
    ],
    ["ärzte-医生-no-7", "task", "root-2", "user-2", "parent-2"],
  );
  assert.equal(named("f", "x".repeat(50)), "x".repeat(40));
  assert.deepEqual(
    [named("g", "x".repeat(41)), named("h", "x".repeat(41))],
    [`${"x".repeat(40)}-2`, `${"x".repeat(40)}-3`],
  );
  assert.equal(named("h", "x".repeat(41)), `${"x".repeat(40)}-3`, "run again it is the same one");
});

const clock = manualClock();

const models = await baseModel(clock, 128_000);

after(() => models.close());

const role = (id: string, more: Partial<AgentRole> = {}): AgentRole => ({
  ...{ id, name: id, description: id, prompt: undefined, tools: undefined, slot: undefined, ...more },
});

const roles = [role("general"), role("coder", { tools: ["look", "search_history"], slot: "code" }), role("painter")];

const forOthers = ["delegate_task", "call_agent", "spawn_agent", "send_message", "terminate_agent"];

const names = ["look", "read_file", "search_history", "rare", ...forOthers, ...roles.map(transferName)];

const kit = openToolkit(
  names.map((name) =>
    defineTool({
      ...{ name, description: name, input: z.object({}), run: () => ok({ text: name }) },
      ...(name === "look" ? { aliases: ["see"] } : {}),
      isOnDemand: name === "rare",
    }),
  ),
);

const parts = { toolkit: () => kit, agents: () => roles, models };

test("the model of a step is chosen by what the message prefers, shows and is about, then by the agent; images that join count, but not for the last word [M2][A3]", () => {
  const facts: ModelFacts[] = [];
  const choosing = {
    ...parts,
    models: {
      ...models,
      choose(given: ModelFacts) {
        facts.push(given);
        return models.choose(given);
      },
    },
  };
  const talk = talkOf([{ said: "draw it", steps: [] }]);
  const { turn } = talk.history;
  if (turn === undefined) return assert.fail("a turn runs");
  const now = { ...talk.history, turn, agent: { role: "coder" } };
  const chosen = (more: Partial<typeof now> = {}, how?: { isFinal: boolean }) => {
    choiceOf({ ...now, ...more }, choosing, how);
    return facts.pop();
  };
  const usual = { preferred: "code", hasImages: false, hasCode: false, task: "draw it", final: false };
  assert.deepEqual(chosen(), usual);
  assert.deepEqual(chosen({ turn: { ...turn, slot: "reasoning" } })?.preferred, "reasoning");
  const about: OpenTurn = { ...turn, message: { ...turn.message, hints: ["code"] } };
  assert.deepEqual(chosen({ turn: about })?.hasCode, true);
  const seen = { ...usual, preferred: undefined, hasImages: true };
  assert.deepEqual(chosen({ turn: { ...turn, hasImages: true } }), seen);
  const image = { mime: "image/png", base64: "AA==" };
  const joins = (mode: "steer" | "queue", images = [image]) => {
    const waiting = talkOf([]);
    waiting.add({ type: "message.user", id: "m2", text: "see", mode, images });
    return { queue: waiting.history.queue };
  };
  assert.deepEqual(chosen(joins("steer")), seen);
  assert.deepEqual([chosen(joins("queue")), chosen(joins("steer", []))], [usual, usual]);
  assert.deepEqual(chosen(joins("steer"), { isFinal: true }), { ...usual, final: true });
});
