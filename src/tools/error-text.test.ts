import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import { builtins, errorForModel, openToolbox, type ToolContext } from "./tools.ts";

const toolbox = openToolbox(builtins);

/** Calls that fail, by tool: every code that the code of tools can give is provoked here. */
const provoked: Readonly<Record<string, readonly [written: string, code: string][]>> = {
  ask_human: [
    ["{}", "tool_arguments_unfit"],
    ['{"question": "   "}', "tool_arguments_unfit"],
    ['{"question": "Which?", "required": "perhaps"}', "tool_arguments_unfit"],
  ],
  now: [
    ['{"timezone": "Mars/Base"}', "timezone_unknown"],
    [JSON.stringify({ timezone: "/x".repeat(5_000) }), "timezone_unknown"],
    ['{"timezone": ["UTC"]}', "tool_arguments_unfit"],
  ],
  todo_read: [
    ["{", "tool_arguments_broken"],
    [`{"a": "${"x\\n".repeat(5_000)}`, "tool_arguments_broken"],
  ],
  todo_write: [
    ["{}", "tool_arguments_unfit"],
    ['{"todos": [{"content": "a", "status": "someday"}]}', "tool_arguments_unfit"],
    ['{"todos": [{}, {}, {}, {}, {}]}', "tool_arguments_unfit"],
    [JSON.stringify({ todos: [{ content: "a".repeat(2_001), status: "done" }] }), "tool_arguments_unfit"],
    [
      JSON.stringify({ todos: Array.from({ length: 201 }, () => ({ content: "a", status: "done" })) }),
      "tool_arguments_unfit",
    ],
  ],
  no_such_tool: [["{}", "tool_not_found"]],
  [`${"very_long_".repeat(1_000)}\n`]: [["{}", "tool_not_found"]],
};

/** What the loop says of a call that gave no result of its own. */
const loopFailures: readonly Failure[] = [
  makeFailure("tool_arguments_cut", { tool: "todo_write" }),
  makeFailure("tool_crashed", { tool: "now" }),
  makeFailure("tool_timeout", { tool: "now", seconds: 120 }),
  makeFailure("tool_cancelled", { tool: "now" }),
  makeFailure("tool_interrupted", { tool: "now" }),
  makeFailure("tool_rejected", { tool: "now", why: ": not today" }),
  makeFailure("tool_not_run", { tool: "now", why: forModels.stepLimit }),
  makeFailure("tool_repeated", { tool: "now", times: 5 }),
];

test("every tool is made to fail, and so is every failure that tools and the loop can give [R1]", async () => {
  assert.deepEqual(
    builtins.map((tool) => tool.name).filter((name) => provoked[name] === undefined),
    [],
  );
  const seen = new Set([...(await provokeAll()), ...loopFailures].map((reason): string => reason.code));
  const inTools = codesIn("tools/**/*.ts", /\b(?:failure|makeFailure)\(\s*"(\w+)"/g);
  const inLoop = codesIn("loop/*.ts", /"(tool_[a-z_]+)"/g);
  assert.deepEqual(
    [...inTools, ...inLoop].filter((code) => !seen.has(code)),
    [],
    "provoke these too",
  );
});

test("each way to fail has the code that belongs to it [R1]", async () => {
  const expected = Object.values(provoked).flatMap((rows) => rows.map(([, code]) => code));
  assert.deepEqual(
    (await provokeAll()).map((reason): string => reason.code),
    expected,
  );
});

test("an error tells a model in one short line what happened and what to do next, and nothing of the machine [R1][Q1]", async () => {
  for (const reason of [...(await provokeAll()), ...loopFailures]) {
    const text = errorForModel(reason);
    assert.ok(text.startsWith(`Error: ${reason.code}: `), text);
    assert.ok(text.length <= 600, `${text.length} characters: ${text}`);
    assert.match(text, /^[^\n]+\.$/, "one line, ended");
    assert.doesNotMatch(text, /\n\s+at |\.ts\b|node:|undefined|\{\w+\}|(^|[\s"'(])\/(work|root|home|usr|tmp)\//, text);
    assert.ok(hasNextStep(text), `no next step: ${text}`);
  }
});

/** A call of an offered tool, the tools to choose from, or a word to the user. */
function hasNextStep(text: string): boolean {
  const offered = toolbox.offered("full").map((tool) => tool.name);
  const [, called = ""] = /\bCall (\w+) (?:again )?with\b/.exec(text) ?? [];
  const [, choice = ""] = /\bUse one of: ([\w, ]+)\.$/.exec(text) ?? [];
  const isChoice = choice.split(", ").every((name) => offered.includes(name));
  return offered.includes(called) || isChoice || /\b(ask|tell) the user\b/i.test(text);
}

async function provokeAll(): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const [name, rows] of Object.entries(provoked)) {
    for (const [written] of rows) failures.push(await provoke(name, written));
  }
  return failures;
}

async function provoke(name: string, written: string): Promise<Failure> {
  const found = toolbox.open({ id: "1", name, arguments: written });
  const end = found.ok ? await found.value.opened.run(context) : found;
  assert.ok(!end.ok, `${name} ${written.slice(0, 60)} did not fail`);
  return end.failure;
}

const context: ToolContext = {
  signal: new AbortController().signal,
  clock: systemClock,
  ids: systemIds,
  key: "key",
  todos: [],
  decision: undefined,
};

function codesIn(glob: string, pattern: RegExp): string[] {
  const folder = join(import.meta.dirname, "..");
  const files = globSync(glob, { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
  assert.ok(files.length > 0, glob);
  const source = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  return Array.from(source.matchAll(pattern), ([, code = ""]) => code);
}
