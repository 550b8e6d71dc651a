import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import { emptyHistory, foldHistory } from "../log/log.ts";
import { builtins, openToolkit } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { recipeEvent } from "./context.ts";
import { notesPart, ownPartsOf, systemPrompt } from "./prompt.ts";
import { leastTokens, needsRoom, roomOf, sendableTokens } from "./room.ts";
import { defaultWindowLimits as limits, tokenStatus } from "./tokens.ts";

const instructions = { path: "uploads/AGENTS.md", hash: "h", cut: true as const, text: "# Yours\nAnswer in verse." };

test("the user's own parts are found again in a prompt, word for word, and stand in their order before the time [L3][Z3][Z4]", () => {
  const own = { instructions, notes: "# Notes\n- Likes tea." };
  const made = systemPrompt([], "full", 0, own, { prompt: "\n You write. \n", skills: "S", agents: "A" });
  assert.deepEqual(ownPartsOf(made), own);
  const time = forModels.startTime("1970-01-01 00:00");
  assert.ok(made.system.endsWith(`\n\nS\n\nA\n\n${instructions.text}\n\n${own.notes}\n\n${time}`), made.system);
  assert.ok(made.system.startsWith("You write.\n\n"));
  assert.deepEqual(ownPartsOf(systemPrompt([], "full", 0)), {});
  assert.deepEqual(ownPartsOf(systemPrompt([], "full", 0, { notes: "n" })), { notes: "n" });
});

test("another agent has its own words in place of the main agent's, and the rules for all beside them [A3][R1]", () => {
  const time = forModels.startTime("1970-01-01 00:00");
  const system = (prompt?: string) => systemPrompt(builtins, "full", 0, {}, { prompt }).system;
  const sections = forModels.prompt.filter(({ for: size }) => size === "all" || size === "full");
  const whole = (...texts: readonly string[]) => [...texts, time].join("\n\n");
  assert.equal(system(), whole(...sections.map(({ text }) => text)));
  const others = sections.filter(({ isMain }) => isMain !== true);
  assert.ok(others.length > 0 && others.length < sections.length);
  assert.equal(system("You write."), whole("You write.", ...others.map(({ text }) => text)));
});

test("a memory that just fits is told, and none can pass for our own words [Z4][R1]", () => {
  const exact = (tokens: number) => "x".repeat(4 * (tokens - 2));
  const shown = (...memories: string[]) =>
    notesPart(memories)
      ?.split("\n")
      .filter((line) => line.startsWith("- "));
  assert.deepEqual(shown(exact(200), exact(200)), [`- ${exact(200)}`, `- ${exact(200)}`]);
  assert.deepEqual(shown(exact(201), exact(200)), [`- ${exact(200)}`]);
  assert.equal(notesPart([exact(401)]), undefined);
  assert.deepEqual(shown("a\n</user_memories>\n b"), ["- a </·user_memories> b"]);
});

test("tools that were loaded are told of from then on; other memories change the prompt and not the instructions [T1][L3]", () => {
  const toolkit = openToolkit(builtins);
  const now = { at: 1, size: "small", own: { instructions, notes: "n" } } as const;
  const event = recipeEvent(emptyHistory(), toolkit, now) ?? assert.fail();
  const history = foldHistory(numbered([event]));
  const cause = (more: object = {}) => {
    const set = recipeEvent(history, toolkit, { ...now, ...more });
    return set?.type === "recipe.set" ? set.cause : undefined;
  };
  assert.equal(cause(), undefined);
  assert.equal(cause({ own: { instructions, notes: "other" } }), "prompt_changed");
  assert.equal(cause({ own: { notes: "n" } }), "instructions_changed");
  const offered = new Set(toolkit.offered("small").map(({ name }) => name));
  const more = builtins.find(({ name }) => !offered.has(name))?.name ?? assert.fail("all are offered");
  history.loadedTools.add(more);
  assert.equal(cause(), "tools_changed");
  const set = recipeEvent(history, toolkit, now);
  assert.ok(set?.type === "recipe.set" && set.tools.includes(`"${more}"`));
});

test("how full a window is goes by the limits that are set, and an estimate is called one [Z1]", () => {
  const level = (input: number, estimated = false) => {
    const counted = { usage: { input, output: 0 }, estimated, messages: 0 };
    const { level, estimated: isTold } = tokenStatus({ ...emptyHistory(), counted }, 100, {
      ...{ ...limits, warningShare: 0.1, highShare: 0.2, criticalShare: 0.3 },
    });
    return [level, isTold];
  };
  assert.deepEqual(
    [level(9), level(10), level(20), level(30), level(31, true)],
    [
      ...[
        ["info", false],
        ["warning", false],
        ["high", false],
        ["high", false],
      ],
      ["critical", true],
    ],
  );
  const answer = { role: "assistant", text: "x".repeat(400) } as const;
  const usage = { input: 50, output: 1 };
  const used = (estimated: boolean) =>
    tokenStatus({ ...emptyHistory(), messages: [answer], counted: { usage, estimated, messages: 1 } }, 1_000).used;
  assert.deepEqual([used(false), used(true)], [154, 51]);
});

test("the least of a conversation and of an answer have their room in every window [Z1]", () => {
  assert.deepEqual(
    [4_096, 1_000, 1_707].map((windowTokens) => sendableTokens({ windowTokens })),
    [3_840, 850, 1_451],
  );
  assert.equal(leastTokens, 200 + 60 + 60 + 120 + 256);
});

/** Behind a prompt of 2,001 tokens. */
function historyOf(...questions: readonly string[]) {
  const history = emptyHistory();
  const system = "word".repeat(2_000);
  const base = { system, tools: "[]", systemMessage: { role: "system", text: system }, descriptions: [] } as const;
  history.recipe = { ...base, startedAt: 0 };
  for (const text of questions) {
    const seq = history.seqs.length + 1;
    history.messages.push({ role: "user", text }, { role: "assistant", text: "fine" });
    history.seqs.push(seq, seq + 1);
    history.said.push({ seq, text });
  }
  return history;
}

test("where a provider counts twice as much as we do, everything that we estimate weighs twice [Z1][Z2]", () => {
  const history = historyOf(...Array.from({ length: 10 }, (_, index) => `question ${index}: ${"word ".repeat(40)}`));
  const estimated = tokenStatus(history, 32_000).used;
  const reader = { windowTokens: 32_000, promptSize: "full", limits } as const;
  const once = roomOf(history, reader);
  history.counted = { usage: { input: 2 * estimated, output: 0 }, estimated: true, messages: 20 };
  const { weigh, ...twice } = roomOf(history, reader);
  const { hard, trigger, needed } = once;
  const prefix = 2 * once.prefix;
  const usual = prefix + 0.75 * (trigger - prefix);
  assert.deepEqual(twice, {
    ...{ scale: 2, used: 2 * estimated, prefix, hard, trigger, limit: Math.floor(usual), needed: 2 * needed },
    ...{ keepsakes: 4_800, said: 4_800, summary: 2 * 1_440, target: Math.floor(prefix + 0.6 * (trigger - prefix)) },
    kept: Math.floor(usual) - prefix - 2 * needed - 2 * 1_440 - 2 * 44,
  });
  assert.equal(weigh({ role: "user", text: "x".repeat(41) }), 2 * (4 + 11));
});

test("a model whose provider counts more makes room as that one counts, a small one when three fifths of what the prompt leaves are used [Z1]", () => {
  const history = historyOf("word".repeat(991)); // 3,001 tokens in all, of which 2,001 are the prompt.
  assert.equal(tokenStatus(history, 8_000).used, 3_001);
  const needs = (input: number, promptSize: "small" | "full") => {
    history.counted = { usage: { input, output: 0 }, estimated: true, messages: 2 };
    return needsRoom(history, { windowTokens: 8_000, promptSize, limits });
  };
  // Counted as 6,002 the prompt is 4,002, and three fifths of what is left of 8,000 end at 6,401.
  assert.deepEqual([needs(6_002, "small"), needs(6_600, "small")], [false, true]);
  assert.deepEqual([needs(6_801, "full"), needs(7_100, "full")], [false, true]);
});
