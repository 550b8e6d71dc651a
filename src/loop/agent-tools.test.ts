import assert from "node:assert/strict";
import { after, test } from "node:test";
import { z } from "zod";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { ok } from "../base/result.ts";
import { type AgentSelf, emptyHistory, type History, type OpenTurn } from "../log/log.ts";
import type { ModelFacts } from "../models/models.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { defineTool, openToolkit, transferName } from "../tools/tools.ts";
import { functionsOf, tellsOf, toolkitOf } from "./agent-tools.ts";
import { actingRole, choiceOf, mainRoleOf, roleNamed, roleOf } from "./agents.ts";
import { describeBudget } from "./budgets.ts";
import { defaultLimits } from "./parts.ts";

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

/** Whoever works here: the main agent, or one that another made, after it was handed over to these. */
function whose(self?: Pick<AgentSelf, "mode">, ...stack: readonly string[]): History {
  const history = emptyHistory();
  for (const one of stack) history.stack.push({ id: one, role: one, brief: "", isActing: true });
  const about = { id: "a1", role: "general", name: "a1", brief: "", parent: "root", path: ["root", "a1"] };
  return self === undefined ? history : { ...history, self: { ...about, ...self } };
}
const has = (history: History) => {
  const tools = toolkitOf(history, parts, localOwner);
  return names.filter((name) => tools.find(name) !== undefined);
};
const without = (...left: readonly string[]) => names.filter((name) => !left.includes(name));

test("each agent has its tools and can hand over to every other, not to itself; a worker gives nothing away, and a task sees nothing of other conversations [A1][A2][A3]", () => {
  assert.deepEqual(has(whose()), without("transfer_to_general"));
  assert.deepEqual(has(whose(undefined, "painter")), without("transfer_to_painter"));
  const coders = ["look", "search_history", "transfer_to_general", "transfer_to_painter"];
  assert.deepEqual(has(whose(undefined, "painter", "coder")), coders);
  assert.deepEqual(has(whose({ mode: "worker" })), without("transfer_to_general", ...forOthers));
  assert.deepEqual(has(whose({ mode: "task" })), without("transfer_to_general", "search_history"));
  assert.deepEqual(
    has(whose({ mode: "task" }, "coder")),
    without("search_history").filter((name) => coders.includes(name)),
  );
});

test("a function of a caller that is called like a tool the agent is told of, by any of its names, is left out, and of two of one name the first counts [C5]", () => {
  const given = ["look", "see", "rare", "mine", "mine", "transfer_to_general"].map((name, index) => ({
    ...{ name, description: `${index}`, parameters: {} },
  }));
  const talk = talkOf([]);
  const message: NewEvent = {
    type: "message.user",
    id: "m1",
    text: "go",
    mode: "queue",
    program: { functions: given },
  };
  talk.add(message, { type: "turn.started", turn: 1, message: "m1", epoch: 1 });
  const kept = () =>
    functionsOf(talk.history, parts, localOwner).map(({ name, description }) => `${name} ${description}`);
  assert.deepEqual(kept(), ["rare 2", "mine 3", "transfer_to_general 5"]);
  talk.add({ type: "tool.loaded", tool: "rare" });
  assert.deepEqual(kept(), ["mine 3", "transfer_to_general 5"]);
  assert.deepEqual(functionsOf(emptyHistory(), parts, localOwner), []);
  const [general = role(""), coder = role("")] = roles;
  const told = (agent: AgentRole, name: string) => tellsOf(agent, parts, { owner: localOwner, name });
  assert.deepEqual([told(general, "see"), told(general, "rare"), told(coder, "read_file")], [true, false, false]);
});

test("the agent that works is the one that was handed over to last and has begun; one that is gone from the settings is played by the main one [A3]", () => {
  const history = whose(undefined, "painter");
  history.stack.push({ id: "c", role: "coder", brief: "", isActing: false });
  assert.deepEqual(
    [actingRole(history), roleOf(history, parts).id, actingRole(whose())],
    ["painter", "painter", undefined],
  );
  assert.equal(roleOf(whose(undefined, "nobody"), parts).id, "general");
  const coders = { ...whose(), agent: { role: "coder" } };
  assert.deepEqual([mainRoleOf(coders, parts).id, roleOf(coders, parts).id], ["coder", "coder"]);
  assert.equal(mainRoleOf({ agent: { role: "nobody" } }, { agents: () => roles.toReversed() }).id, "general");
  const none = { agents: () => [] };
  assert.deepEqual(mainRoleOf(coders, none), role("general", { description: "" }));
  assert.deepEqual([roleNamed(parts, "coder")?.id, roleNamed(parts, "nobody")], ["coder", undefined]);
});

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

test("the budget of a conversation says who set it, what its turn has, and names each model without a price once [A4]", () => {
  const [model] = models.list();
  if (model === undefined) return assert.fail("there is a model");
  const known = { ...model, id: "known" };
  const limits = { ...defaultLimits, prices: { known: { input: 1, output: 1 } } };
  const given = { limits, clock, models: { ...models, list: () => [model, known, model] } };
  const { history, add } = talkOf([{ said: "go", steps: [["seen"]], answer: "done" }]);
  const { by, set, turn, unpriced } = describeBudget(history, given);
  assert.deepEqual([by, set, turn, unpriced], ["settings", {}, null, ["m"]]);
  add({ type: "budget.set", limits: { steps: 7 }, by: "person" });
  const { history: open } = talkOf([{ said: "go", steps: [["seen"]] }]);
  const told = describeBudget(history, given);
  assert.deepEqual(
    [told.by, told.set, told.limits.steps, told.spent.steps, told.left.steps],
    ["person", { steps: 7 }, 7, 2, 5],
  );
  assert.deepEqual(describeBudget(open, given).turn?.spent.steps, 1);
});
