import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import { emptyHistory, foldHistory, type History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { NewEvent } from "../protocol/events.ts";
import { builtins, openToolkit, toolBytes } from "../tools/tools.ts";
import { builtInAgents, forModels } from "../words/words.ts";
import { instructionsPart, recipeEvent, requestOf } from "./context.ts";
import { notesPart, ownPartsOf, systemPrompt } from "./prompt.ts";
import { roomOf } from "./room.ts";
import { defaultWindowLimits as limits, tokenStatus } from "./tokens.ts";

const toolkit = openToolkit(builtins);

const startedAt = Date.UTC(2026, 10, 15, 6, 12, 59);

const sizes = ["full", "small"] as const;

type Size = (typeof sizes)[number];

const budgets: Readonly<Record<Size, { prompt: number; prefix: number }>> = {
  full: { prompt: 1_000, prefix: 5_000 },
  small: { prompt: 470, prefix: 2_000 },
};

const exampleTokensMax = 120;

const sentencesMax = 45;

const promptOf = (size: Size) => systemPrompt(toolkit.offered(size), size, startedAt).system;

const exampleOf = (size: Size) => /\n\n# Example\n.*?(?=\n\n)/s.exec(promptOf(size))?.[0] ?? "";

for (const size of sizes) {
  test(`the ${size} prompt keeps to its budget of tokens and of rules [R1]`, () => {
    const rules = promptOf(size).replace(exampleOf(size), "");
    const tokens = {
      prompt: estimateTokens(rules),
      prefix: estimateTokens(promptOf(size)) + estimateTokens(toolBytes(toolkit.offered(size))),
    };
    assert.ok(tokens.prompt <= budgets[size].prompt, `${tokens.prompt} tokens`);
    assert.ok(tokens.prefix <= budgets[size].prefix, `${tokens.prefix} tokens with the tools`);
    assert.ok(estimateTokens(exampleOf(size)) <= exampleTokensMax);
    const sentences = rules.match(/[^.;:\n]+[.;:](\s|$)/g) ?? [];
    assert.ok(sentences.length <= sentencesMax, `${sentences.length} sentences`);
  });

  test(`the ${size} prompt names only tools that are offered with it [R1]`, () => {
    const offered = toolkit.offered(size).map((tool) => tool.name);
    const known = [...offered, "system_reminder", "current_datetime", "in_progress"];
    const named = promptOf(size).match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [];
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });

  test(`the ${size} prompt and its tools are what was last looked at [R1][L3]`, () => {
    assertKnown(`${size}.txt`, [promptOf(size), ...toolkit.offered(size).map(described)].join("\n\n"));
  });
}

test("the prompt of the agent for short questions is what was last looked at [R1][A3]", () => {
  const { prompt, tools } = builtInAgents.simple;
  const offered = toolkit.only(tools).offered("full");
  const { system } = systemPrompt(offered, "full", startedAt, {}, { prompt, callerPart: "Answer in JSON." });
  assertKnown("simple.txt", [system, ...offered.map(({ name }) => name)].join("\n\n"));
});

test("a section that needs a tool is left out where the tool is not offered [R1]", () => {
  for (const size of sizes) {
    const prompt = systemPrompt([], size, startedAt).system;
    for (const { name } of builtins.filter((tool) => tool.name.includes("_"))) assert.ok(!prompt.includes(name), name);
    assert.doesNotMatch(prompt, /# Example|`now`/);
  }
});

test("the prompt ends with the minute in which the conversation began [L3]", () => {
  for (const size of sizes)
    assert.match(promptOf(size), /\n\n<current_datetime>2026-11-15 06:12 UTC<\/current_datetime>$/);
});

function described({ name, description, parameters }: (typeof builtins)[number]): string {
  return `--- ${name}\n${description}\n${JSON.stringify(parameters, null, 1)}`;
}

/** Texts for models are changed knowingly: nobody here can see what a change does to a model. */
function assertKnown(name: string, text: string): void {
  const folder = join(import.meta.dirname, "../../test/data/prompts");
  const file = join(folder, name);
  if (process.env.UPDATE_PROMPTS === "1") {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const advice = `what models read has changed (test/data/prompts/${name}): write a line about it into the page on prompts in docs/decisions, then run UPDATE_PROMPTS=1 node --test src/context/prompt.test.ts`;
  assert.ok(known === `${text}\n`, `${advice}\n${firstDifference(known, `${text}\n`)}`);
}

function firstDifference(known: string, text: string): string {
  const [before, now] = [known.split("\n"), text.split("\n")];
  const line = now.findIndex((words, index) => words !== before[index]);
  return `line ${line + 1}\n- ${before[line] ?? ""}\n+ ${now[line] ?? ""}`;
}

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

const now = { at: 5_000, size: "full" } as const;

const told = (text: string) => ({ path: "uploads/AGENTS.md", hash: "h", text });

/** A history whose recipe is that of these parts, and the event that set it. */
function begun(parts: Partial<Parameters<typeof recipeEvent>[2]> = {}): { history: History; event: NewEvent } {
  const event = recipeEvent(foldHistory([]), toolkit, { ...now, ...parts }) ?? assert.fail("the first is always set");
  return { history: foldHistory(numbered([event])), event };
}

test("what every request starts with is set once, and anew where something of it has changed, by its cause [L3][Z3][A3]", () => {
  const [first, other] = [told("Answer in verse."), told("Answer in prose.")];
  const own = { instructions: { ...first, text: first.text } };
  const plain = begun();
  const setNow = ({ history }: ReturnType<typeof begun>, parts: object) => {
    const event = recipeEvent(history, toolkit, { ...now, at: 9_000, ...parts });
    return event?.type === "recipe.set" ? [event.cause, event.role, event.startedAt] : undefined;
  };
  assert.deepEqual(plain.event.type === "recipe.set" && [plain.event.cause, plain.event.startedAt], ["start", 5_000]);
  assert.equal(setNow(plain, {}), undefined);
  const draw = { name: "draw", description: "Draws.", parameters: {} };
  assert.deepEqual(setNow(plain, { functions: [draw] }), ["tools_changed", undefined, 5_000]);
  assert.deepEqual(setNow(plain, { callerPart: "Answer in JSON." }), ["prompt_changed", undefined, 5_000]);
  assert.deepEqual(setNow(plain, { own }), ["instructions_changed", undefined, 5_000]);
  assert.equal(setNow(begun({ own }), { own }), undefined);
  const replaced = { own: { instructions: other }, functions: [draw] };
  assert.deepEqual(setNow(begun({ own }), replaced), ["instructions_changed", undefined, 5_000]);
  const handed = { role: "writer", prompt: "You write." };
  const { event } = begun(handed);
  assert.equal(event.type === "recipe.set" && event.cause, "start");
  assert.deepEqual(setNow(plain, handed), ["hand_off", "writer", 5_000]);
  assert.deepEqual(setNow(begun(handed), {}), ["hand_back", undefined, 5_000]);
  assert.deepEqual(setNow(begun(handed), { ...handed, functions: [draw] }), ["tools_changed", "writer", 5_000]);
});

test("a request is the frozen prompt and its tools, then the history as it stands [L3]", () => {
  const { history, event } = begun({ functions: [{ name: "draw", description: "Draws.", parameters: {} }] });
  const said = { role: "user", text: "hi" } as const;
  history.messages.push(said);
  const { messages, tools } = requestOf(history);
  assert.deepEqual(messages, [{ role: "system", text: event.type === "recipe.set" && event.system }, said]);
  assert.equal(tools.at(-1)?.name, "draw");
  assert.deepEqual(requestOf({ ...history, recipe: undefined }), { messages: [said], tools: [] });
});

test("of a long file of instructions the beginning is in force, a tenth of the window and never more than 8,000 tokens [Z3]", () => {
  const shown = (letters: number, windowTokens: number) => {
    const part = instructionsPart(told("x".repeat(letters)), windowTokens);
    return [part?.text.match(/x+/)?.[0].length, part?.cut === true];
  };
  assert.deepEqual(shown(4_000, 10_000), [4_000, false]);
  assert.deepEqual(shown(4_001, 10_000), [4_000, true]);
  assert.deepEqual(shown(40_000, 1_000_000), [32_000, true]);
  assert.equal(instructionsPart(told(" \n"), 10_000), undefined);
});
