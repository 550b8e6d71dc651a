import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { estimateTokens } from "../models/models.ts";
import { builtins, openToolkit, toolBytes } from "../tools/tools.ts";
import { builtInAgents, forModels, selectedMessage } from "../words/words.ts";
import { systemPrompt } from "./prompt.ts";

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

  test(`the ${size} prompt is plain ASCII, shouts at nobody and does not contradict itself [R1]`, () => {
    const prompt = promptOf(size);
    assert.match(prompt, /^[\x20-\x7e\n]+$/);
    assert.doesNotMatch(prompt, /\b([A-Z]{2,}\s+){4}[A-Z]{2,}\b|!/);
    const after = (word: string) =>
      Array.from(prompt.matchAll(new RegExp(`\\b${word} (\\w+)`, "gi")), ([, next]) => next);
    assert.deepEqual(
      after("always").filter((next) => after("never").includes(next)),
      [],
    );
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

const selected = ["/workspace/c1/uploads/temparea/data.csv", "/workspace/c1/uploads/temparea/a\tb.csv"];

test("the prompt of the agent for short questions is what was last looked at [R1][A3]", () => {
  const { prompt, tools } = builtInAgents.simple;
  const offered = toolkit.only(tools).offered("full");
  const { system } = systemPrompt(offered, "full", startedAt, {}, { prompt, callerPart: "Answer in JSON." });
  assertKnown("simple.txt", [system, ...offered.map(({ name }) => name)].join("\n\n"));
});

test("what reminders and results say is what was last looked at [R1]", () => {
  const todo = { content: "read the report", status: "in_progress", priority: "high" };
  const texts = [
    forModels.reminder([forModels.dateNow("2026-11-15")]),
    forModels.todosOpen([todo, { ...todo, status: "pending", priority: "medium" }], 3),
    forModels.todosStillOpen(4, "read the report"),
    forModels.tokens(75, "warning", false),
    forModels.tokens(75, "warning", true),
    forModels.tokensHalf(60),
    forModels.tokensFree(20),
    forModels.sameResultAgain("now", 3),
    forModels.finalize,
    forModels.finalizeAtLimit(100),
    forModels.partLeftOut(900, 1_000),
    forModels.todosUpdated([todo, { ...todo, status: "completed" }]),
    forModels.oneActiveTodo,
    forModels.noAnswer,
    forModels.defaultAnswer("a.csv"),
    forModels.ignoredArguments("colour, size"),
    forModels.emptyResult,
    forModels.noResult,
    forModels.callerPart("Answer in JSON."),
    forModels.inputs(['- colour: "red"']),
    selectedMessage({ root: "/workspace/c1/uploads/temparea/", session: "sess-me", files: selected }),
    ...fileTexts(),
    ...codeTexts(),
    ...compactTexts(),
    ...memoryTexts(),
    ...Object.entries(forModels.nextSteps).map(([code, next]) => `${code}: ${next}`),
  ];
  assertKnown("notes.txt", texts.map((text) => text.trim()).join("\n\n"));
});

function memoryTexts(): string[] {
  const { memory } = forModels;
  const [path, facts] = ["temp/results/3-1-look.txt", ["Likes tea.", "Pays in euros."]] as const;
  const hit = { at: "2026-11-15 06:12", text: "line 1\nline 2" };
  return [
    forModels.data({ source: "uploads/a.csv", mark: "0a1b2c", text: "x,y" }),
    forModels.partInFile({ missing: 900, sizeBytes: 1_000, path, next: { line: 1, column: 51 } }),
    forModels.partInFile({ missing: 900, sizeBytes: 1_000, path, next: { line: 7, column: 1 } }),
    memory.instructions({ path: "uploads/AGENTS.md", text: "Answer in verse.", isCut: true }),
    ...[memory.notes(facts), memory.notesNow(facts), memory.notesNow([])],
    ...[memory.remembered(1), memory.remembered(2), memory.knownAlready(2)],
    ...[
      memory.memories(facts, 2),
      memory.memories(facts, 9),
      memory.memoriesLeft(7),
      memory.noMemories,
      memory.noMemoryWith("x", 9),
    ],
    [memory.hits(1, 1), memory.hit({ ...hit, where: memory.here, who: memory.who.user })].join("\n"),
    memory.hit({ ...hit, where: memory.other("0f3a", "Zoo"), who: memory.who.result("look") }),
    ...[memory.noHits(["a", "b"], 3), memory.stopped],
  ];
}

function compactTexts(): string[] {
  const { compact } = forModels;
  const asked = { language: "en", strategy: "compact", words: 700 } as const;
  const [history, previous] = [
    { mark: "0a1b2c3d", text: compact.line("user", "Go on.") },
    { mark: "0a1b2c3d", text: "..." },
  ];
  return [
    compact.summariser(asked),
    compact.summariser({ ...asked, language: "zh" }),
    compact.summariser({ ...asked, strategy: "summarize" }),
    compact.ask({ history, previous, focus: "the prices", dropped: 3 }),
    ...[compact.head.en, compact.head.zh, compact.leftOut(12, true), compact.leftOut(12, false)],
    ...[compact.summedUp({ mark: "0a1b2c", text: "..." }).text, compact.wordForWord],
    ...[...Object.values(compact.sections), compact.words("Go on."), compact.words("Go on.", "0a1b2c")],
    ...[compact.notRepeated(3, true), compact.notRepeated(3, false), compact.file("a.csv", ["made", "read"])],
    compact.decision({ verdict: compact.verdict.reject, tool: "run_bash_command", about: "rm", word: "no" }),
    compact.gap({ left: 900, all: 1_000, file: undefined }),
    compact.gap({ left: 900, all: 1_000, file: "temp/results/3-look.txt" }),
    ...[compact.imagesGone(1), compact.imagesGone(2), compact.nothingToDo(3), compact.noSummary],
    compact.report({
      before: { messages: 40, tokens: 900 },
      after: { messages: 11, tokens: 300 },
      strategy: "compact",
    }),
  ];
}

function fileTexts(): string[] {
  const { files } = forModels;
  const differences = [
    { kind: "line_numbers" },
    { kind: "escapes" },
    { kind: "indentation", line: 4 },
    { kind: "case", line: 4 },
    { kind: "characters", line: 4, column: 7, there: "2", wanted: "3" },
  ] as const;
  return [
    files.unseen("outputs/a.md", "write_file"),
    files.unseen("outputs/a.md", "write_file", { isWhole: false }),
    files.unseen("outputs/a.md", "edit_file"),
    files.several("outputs/a.md", "3", "1, 5, 9"),
    [files.notFound("outputs/a.md"), files.alreadyThere(7), files.nearest].join(" "),
    files.nothingNear("outputs/a.md"),
    files.nothingNearInPart("outputs/a.md"),
    ...differences.map(files.differs),
    files.copyAgain,
    files.copyPart,
    files.nothingThere("outputs/a.md"),
    files.unsure("outputs/a.md", "gb18030"),
    files.same,
    files.lost("too_large"),
    files.converted("gb18030"),
    files.likeness.blanks,
    files.likeness.characters,
    files.unwritten,
    files.relative("outputs/a.md"),
    files.more("outputs/a.md", 2, 50_001),
    files.hitsLeft(3),
  ];
}

function codeTexts(): string[] {
  const { code } = forModels;
  const place = { path: "outputs/a.csv", bytes: 1_500 };
  const cut = { cutBytes: 900, path: "temp/output-1.txt" };
  return [
    [code.failed.execute_code(1), code.failed.run_bash_command(2), code.signalled("SIGSEGV"), code.killed].join("\n"),
    [code.timeout.execute_code(60), code.timeout.run_bash_command(30)].join("\n"),
    [code.outOfMemory, code.diskFull, code.lost].join("\n"),
    [code.pythonEnded("SIGSEGV"), code.pythonEnded(code.exitCode(0)), code.pythonLost].join("\n"),
    [
      code.cut("stderr", { ...cut, keptBytes: 16 * 2 ** 20 }),
      code.cut("stderr", { cutBytes: 9, path: undefined }),
    ].join("\n"),
    [code.stdout, code.stderr, code.value, code.nothing, code.cut("stdout", cut)].join("\n"),
    [code.ended(0, 120), code.ended(undefined, 2_500), code.reset].join("\n"),
    [code.binary(99_000, "temp/output-1.txt"), code.binary(900, undefined), code.readOnly].join("\n"),
    [code.overLimit, code.filesOfAll].join("\n"),
    [code.files, code.made(place), code.changed(place) + code.notKept, code.removed("temp/b")].join("\n"),
    [code.made(place) + code.figure, code.made(place) + code.figureShown, code.more(3)].join("\n"),
  ];
}

test("a section that needs a tool is left out where the tool is not offered [R1]", () => {
  for (const size of sizes) {
    const prompt = systemPrompt([], size, startedAt).system;
    for (const { name } of builtins.filter((tool) => tool.name.includes("_"))) assert.ok(!prompt.includes(name), name);
    assert.doesNotMatch(prompt, /# Example|`now`/);
  }
});

test("a section says which tools it names [R1]", () => {
  for (const { text, needs } of forModels.prompt) {
    const named = builtins.filter(({ name }) => new RegExp(name === "now" ? /`now`|: now with/ : name).test(text));
    assert.deepEqual(
      named.map((tool) => tool.name),
      needs,
      text,
    );
  }
});

test("the prompt ends with the minute in which the conversation began [L3]", () => {
  for (const size of sizes)
    assert.match(promptOf(size), /\n\n<current_datetime>2026-11-15 06:12 UTC<\/current_datetime>$/);
});

test("the instruction for the last answer is short [L1][R1]", () => {
  for (const text of [forModels.finalize, forModels.finalizeAtLimit(100)]) assert.ok(estimateTokens(text) <= 80);
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
