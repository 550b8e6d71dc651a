import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import type { ToolCall } from "../../protocol/message.ts";
import { documentOf } from "./document.ts";
import { firstProgress } from "./first-document.ts";
import type { ChatPlace } from "./message-numbers.ts";

// What the document of a turn shows of it, value by value.

const place: ChatPlace = {
  message: { type: "message.user", id: "m", text: "how many?", mode: "queue", seq: 1, at: 1_000 },
  ...{ index: 1, reply: "a", runId: "r", agent: { id: "general", name: "general" } },
  ...{ isAnswered: true, isWithdrawn: false },
};
const options = { place, needsProgress: true, language: "en" } as const;

type Timed = readonly [at: number, event: NewEvent];
const shown = (...events: readonly Timed[]) => {
  const logged = events.map(([at, event], index): LogEvent => ({ ...event, seq: index + 2, at }));
  return documentOf("c", options, logged);
};

const step = (number: number, attempt = 1): NewEvent => ({
  ...{ type: "step.started", turn: 1, step: number, attempt, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
});
const answered = (number: number, text: string, more: object = {}): NewEvent => ({
  ...{ type: "message.assistant", turn: 1, step: number, text, finish: "stop", usage: { input: 10, output: 2 } },
  ...{ durationMs: 1, ...more },
});
const call = (id: string, args: string): ToolCall => ({ id, name: "look", arguments: args });
const started = (id: string): NewEvent => ({ type: "call.started", call: id, class: "pure", attempt: 1 });
const ran = (id: string, text: string, outcome: "ok" | "error" | "rejected" = "ok"): NewEvent => ({
  ...{ type: "call.finished", call: id, outcome, text },
});
const asked = (id: string, about: string, more: object = {}): NewEvent => ({
  ...{ type: "decision.asked", turn: 1, id, call: about, kind: "approval", tool: "look", ...more },
});
const made = (id: string, verdict: "approve" | "reject" | "edit", more: object = {}): NewEvent => ({
  ...{ type: "decision.made", id, verdict, by: "me", argumentsHash: "", previous: "", ...more },
});
const finished = (outcome: "done" | "limit" | "cancelled" = "done", more: object = {}): NewEvent => ({
  ...{ type: "turn.finished", turn: 1, outcome, ...more },
});

test("each step and each call is shown with its times, its tokens, what it was given and what came of it [C3][C4]", () => {
  const calls = [call("c1", '{"path":"a.csv","n":null,"of":[1],"in":{"b":2}}'), call("c2", "broken"), call("c3", "")];
  const cached = { input: 10, output: 2, cachedInput: 4 };
  const { content, ext } = shown(
    [3_000, step(1)],
    [4_000, answered(1, "I look.", { reasoning: "hm", calls, usage: cached, firstTokenMs: 40 })],
    [4_100, started("c1")],
    [5_000, ran("c1", '{"rows":[1,2]}')],
    [5_100, ran("c2", "no such file", "error")],
    [5_200, ran("c3", '<data source="a" mark="x1">\n[]\n</data mark="x1">', "rejected")],
    [6_000, step(2)],
    [8_500, answered(2, "Two.", { firstTokenMs: 7 })],
    [8_600, finished()],
  ).message;
  const skill = (args: object[]) => ({ type: "TOOL", name: "look", args, checked: true });
  const item = (id: string, stage: "llm" | "skill", start_time: number, more: object) => ({
    ...firstProgress({ id, agent_name: "general", stage, skill_info: null, start_time }),
    ...{ status: "completed", ...more },
  });
  const tokens = (cached_tokens: number) => ({
    ...{ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    prompt_tokens_details: { cached_tokens, uncached_tokens: 10 - cached_tokens },
  });
  const first = [
    { name: "path", value: "a.csv", type: "string" },
    { name: "n", value: null, type: "null" },
    { name: "of", value: [1], type: "array" },
    { name: "in", value: { b: 2 }, type: "object" },
  ];
  const broken = [{ name: "arguments", value: "broken", type: "string" }];
  assert.deepEqual(content.middle_answer.progress, [
    item("r-1", "llm", 3_000, { answer: "I look.", think: "hm", end_time: 4_000, token_usage: tokens(4) }),
    item("r-1-1", "skill", 4_100, { answer: { rows: [1, 2] }, skill_info: skill(first), end_time: 5_000 }),
    item("r-1-2", "skill", 4_000, {
      ...{ answer: "no such file", skill_info: skill(broken), end_time: 5_100, status: "failed" },
    }),
    item("r-1-3", "skill", 4_000, { answer: [], skill_info: skill([]), end_time: 5_200, status: "failed" }),
    item("r-2", "llm", 6_000, { answer: "Two.", end_time: 8_500, token_usage: tokens(0) }),
  ]);
  assert.deepEqual([content.final_answer.answer.text, content.final_answer.thinking], ["Two.", ""]);
  // The wait before the first step counts for whoever waits for the first word.
  assert.deepEqual([ext.ttft, ext.total_tokens, ext.total_time], [2_040, 24, 5.5]);
});

test("a call that was asked about is shown with what was decided: left as it was, with other arguments, or not done [C4][H2]", () => {
  const calls = ["c1", "c2", "c3"].map((id) => call(id, '{"path":"a.csv"}'));
  const begun: Timed[] = [
    [2_000, step(1)],
    [2_100, answered(1, "", { calls })],
  ];
  const questions = ["1", "2", "3"].map((id): Timed => [2_200, asked(`d${id}`, `c${id}`)]);
  const of = (...events: readonly Timed[]) => {
    const { content, ext } = shown(...begun, ...events).message;
    const skills = content.middle_answer.progress.slice(1).map(({ interrupted, skill_info }) => {
      return [interrupted, skill_info?.checked, skill_info?.args[0]?.value];
    });
    return { skills, asks: ext.interrupt_info?.handle.resume_token };
  };
  const open = [true, false, "a.csv"];
  assert.deepEqual(of(...questions), { skills: [open, open, open], asks: "d1" });
  const first: Timed = [2_300, made("d1", "approve")];
  assert.deepEqual(of(...questions, first), { skills: [[false, true, "a.csv"], open, open], asks: "d2" });
  const second: Timed = [2_400, made("d2", "edit", { arguments: '{"path":"b.csv"}' })];
  const third: Timed = [2_500, made("d3", "reject")];
  const decided = [
    [false, true, "a.csv"],
    [false, true, "b.csv"],
    [false, false, "a.csv"],
  ];
  assert.deepEqual(of(...questions, first, second, third), { skills: decided, asks: undefined });
  const anew: Timed = [2_300, asked("d4", "c1", { instead: "d1" })];
  assert.deepEqual(of(...questions, anew).asks, "d2", "asked anew, it stands behind the others");
});

test("a question comes with all that the agent said about it, and a call with its own arguments [C4][H3]", () => {
  const begun: Timed[] = [
    [2_000, step(1)],
    [2_100, answered(1, "", { calls: [call("c1", '{"n":1}')] })],
  ];
  const about = { kind: "question", question: "Which city?", context: "two have one", default: "Bonn", required: true };
  const { content, ext } = shown(...begun, [2_200, asked("d1", "c1", about)]).message;
  assert.deepEqual(content.final_answer.answer.ask, {
    ...{ id: "d1", question: "Which city?", context: "two have one", default: "Bonn", required: true },
  });
  assert.deepEqual(ext.interrupt_info?.data, {
    ...{ tool_name: "look", tool_description: "two have one", tool_args: [{ key: "n", value: 1, type: "number" }] },
    interrupt_config: { requires_confirmation: true, confirmation_message: "Which city?" },
  });
  const plain = shown(...begun, [2_200, asked("d1", "c1", { kind: "question", question: "?" })]).message;
  assert.deepEqual(plain.content.final_answer.answer.ask, {
    ...{ id: "d1", question: "?", context: "", default: "", required: false },
  });
});

test("a turn that ends without an answer shows the last words that the agent said [C3][L4]", () => {
  const calls = [call("c1", "{}")];
  const words: Timed[] = [
    [2_000, step(1)],
    [2_100, answered(1, "I look.", { reasoning: "hm", calls })],
    [2_200, ran("c1", "nothing")],
    [2_300, step(2)],
    [2_400, answered(2, "", { reasoning: "and now?", calls })],
    [2_500, ran("c1", "nothing")],
  ];
  const { content, ext } = shown(...words, [2_600, finished("limit")]).message;
  assert.deepEqual([content.final_answer.answer.text, content.final_answer.thinking], ["I look.", "hm"]);
  assert.equal(ext.error, null);
  const stopped = shown(...words, [2_600, step(3)], [2_700, finished("cancelled")]).message;
  assert.equal(stopped.content.final_answer.answer.text, "I look.");
  const last = stopped.content.middle_answer.progress.at(-1);
  assert.deepEqual([last?.id, last?.status, last?.end_time], ["r-3", "failed", 2_700]);
});

test("a step that is tried again is shown as running, with nothing of what failed [C3][M3]", () => {
  const failure = { code: "model_network", params: { model: "m", server: "s", said: "gone" } };
  const failed: NewEvent = {
    ...{ type: "step.failed", turn: 1, step: 1, attempt: 1, kind: "network", failure, textSeen: "It w" },
  };
  const before = shown([2_000, step(1)], [2_100, failed]);
  const after = shown([2_000, step(1)], [2_100, failed], [2_200, step(1, 2)]);
  assert.deepEqual(
    [before, after].map(({ message: { content } }) => {
      const items = content.middle_answer.progress.map(({ answer, status, end_time }) => [answer, status, end_time]);
      return [content.final_answer.answer.text, ...items];
    }),
    [
      ["It w", ["It w", "failed", 2_100]],
      ["", ["", "processing", 0]],
    ],
  );
});

test("a long result and a long argument are shown as text, which can be cut anywhere [C3]", () => {
  const list = (length: number) => JSON.stringify(["x".repeat(length - 4)]);
  const [longest, longer] = [list(8_000), list(8_001)];
  const calls = [call("c1", `{"a":${longest},"b":${longer}}`), call("c2", "{}")];
  const { progress } = shown(
    [2_000, step(1)],
    [2_100, answered(1, "", { calls })],
    [2_200, ran("c1", longest)],
    [2_300, ran("c2", longer)],
  ).message.content.middle_answer;
  assert.deepEqual(
    progress.slice(1).map(({ answer }) => answer),
    [JSON.parse(longest), longer],
  );
  assert.deepEqual(
    progress[1]?.skill_info?.args.map(({ value, type }) => [value, type]),
    [
      [JSON.parse(longest), "array"],
      [longer, "array"],
    ],
  );
});
