import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { toolContext } from "../../test/world/tools.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import { builtins, errorForModel, openToolkit } from "./tools.ts";

const toolkit = openToolkit(builtins);
const base = mkdtempSync(join(tmpdir(), "agentyard-errors-"));
after(() => rmSync(base, { recursive: true, force: true }));
const { workspace } = await testWorkspace({ after() {} }, { base });
const elf = Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0", "latin1");
await workspace.write("uploads/program", elf);
await workspace.write("uploads/text.md", "one\ntwo\n");
await workspace.write(
  "uploads/large.png",
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(2 ** 23)]),
);
await workspace.write("outputs/large.txt", "many words\n".repeat(1_600_000));

/** Calls that fail, by tool: every code that the code of tools can give is provoked here. */
const provoked: Readonly<Record<string, readonly [written: string, code: string][]>> = {
  ask_human: [["{}", "tool_arguments_unfit"]],
  now: [
    ['{"timezone": "Mars/Base"}', "timezone_unknown"],
    [JSON.stringify({ timezone: "/x".repeat(5_000) }), "timezone_unknown"],
  ],
  todo_read: [
    ["{", "tool_arguments_broken"],
    [`{"a": "${"x\\n".repeat(5_000)}`, "tool_arguments_broken"],
  ],
  todo_write: [
    ["{}", "tool_arguments_unfit"],
    ['{"todos": [{"content": "a", "status": "someday"}]}', "tool_arguments_unfit"],
    [
      JSON.stringify({ todos: Array.from({ length: 201 }, () => ({ content: "a", status: "done" })) }),
      "tool_arguments_unfit",
    ],
  ],
  read_file: [
    ["{}", "tool_arguments_unfit"],
    ['{"path": "uploads/txet.md"}', "file_not_found"],
    ['{"path": "uploads"}', "not_a_file"],
    ['{"path": "uploads/program"}', "unsupported_type"],
    ['{"path": "uploads/large.png"}', "too_large"],
    ['{"path": "uploads/text.md", "offset": 9}', "tool_arguments_unfit"],
    [JSON.stringify({ path: `../${"x\n".repeat(5_000)}` }), "path_traversal_blocked"],
    [JSON.stringify({ path: "/etc/".repeat(5_000) }), "path_traversal_blocked"],
    [JSON.stringify({ path: "x".repeat(5_000) }), "path_invalid"],
  ],
  write_file: [
    ['{"path": "outputs/a.md"}', "tool_arguments_unfit"],
    ['{"path": "a.md", "content": ""}', "permission_denied"],
    ['{"path": "temp", "content": ""}', "not_a_file"],
  ],
  edit_file: [
    ['{"path": "uploads/text.md", "old_string": "", "new_string": "a"}', "tool_arguments_unfit"],
    ['{"path": "uploads/none.md", "old_string": "a", "new_string": "b"}', "file_not_found"],
    ['{"path": "uploads/program", "old_string": "a", "new_string": "b"}', "unsupported_type"],
    ['{"path": "outputs/large.txt", "old_string": "a", "new_string": "b"}', "too_large"],
  ],
  list_files: [['{"path": "uploads/text.md"}', "not_a_folder"]],
  find_files: [
    ['{"pattern": "../*"}', "path_traversal_blocked"],
    [JSON.stringify({ pattern: "{a,b}".repeat(150) }), "pattern_invalid"],
  ],
  search_file: [['{"query": ""}', "tool_arguments_unfit"]],
  get_workspace_info: [["{", "tool_arguments_broken"]],
  execute_code: [
    ["{}", "tool_arguments_unfit"],
    ['{"code": "1"}', "sandbox_unavailable"],
  ],
  run_bash_command: [
    ['{"command": "ls", "timeout": -1}', "tool_arguments_unfit"],
    ['{"command": "ls"}', "sandbox_unavailable"],
  ],
  install_packages: [
    ["{}", "tool_arguments_unfit"],
    [JSON.stringify({ skill: "x".repeat(65) }), "tool_arguments_unfit"],
  ],
  compact_context: [['{"strategy": "forget"}', "tool_arguments_unfit"]],
  remember: [
    ["{}", "tool_arguments_unfit"],
    [JSON.stringify({ fact: "a".repeat(501) }), "tool_arguments_unfit"],
  ],
  recall: [['{"query": ["a"]}', "tool_arguments_unfit"]],
  search_history: [["{}", "tool_arguments_unfit"]],
  delegate_task: [["{}", "tool_arguments_unfit"]],
  spawn_agent: [
    ['{"role": "a"}', "tool_arguments_unfit"],
    [JSON.stringify({ role: "a", task: "b", files: Array.from({ length: 101 }, () => "c") }), "tool_arguments_unfit"],
  ],
  send_message: [['{"to": "parent"}', "tool_arguments_unfit"]],
  terminate_agent: [["{}", "tool_arguments_unfit"]],
  find_tools: [["{}", "tool_arguments_unfit"]],
  use_tool: [
    ["{}", "tool_arguments_unfit"],
    ['{"name": "no_such_tool"}', "tool_not_found"],
    ['{"name": "use_tool", "arguments": "{}"}', "tool_not_found"],
    ["{", "tool_arguments_broken"],
  ],
  fetch_web: [
    ["{}", "tool_arguments_unfit"],
    ['{"url": "http://127.0.0.1/"}', "web_address_refused"],
    ['{"url": "file:///etc/passwd"}', "web_address_refused"],
    ['{"url": "https://nowhere.example/"}', "web_fetch_failed"],
  ],
  http_fetch: [
    ['{"url": "https://a.example/"}', "tool_arguments_unfit"],
    ['{"method": "GET", "url": "https://a.example/", "headers": "Host: b"}', "tool_arguments_unfit"],
    ['{"method": "POST", "url": "http://[::1]/"}', "web_address_refused"],
  ],
  web_search: [
    ['{"query": " "}', "tool_arguments_unfit"],
    ['{"query": "tides"}', "web_search_off"],
  ],
  google_search: [['{"query": "tides"}', "web_search_off"]],
  jina_reader: [
    ['{"url": "https://a.example/"}', "web_search_off"],
    ['{"url": "http://localhost/"}', "web_address_refused"],
  ],
  no_such_tool: [["{}", "tool_not_found"]],
  [`${"very_long_".repeat(1_000)}\n`]: [["{}", "tool_not_found"]],
};

/** What the loop says of a call that gave no result of its own. */
const loopFailures: readonly Failure[] = [
  makeFailure("tool_arguments_cut", { tool: "todo_write" }),
  makeFailure("tool_failed", { tool: "find_invoice", said: "there is no invoice 17.\n" }),
  makeFailure("tool_crashed", { tool: "now" }),
  makeFailure("tool_timeout", { tool: "now", seconds: 120 }),
  makeFailure("tool_cancelled", { tool: "now" }),
  makeFailure("tool_interrupted", { tool: "now" }),
  makeFailure("tool_rejected", { tool: "now", why: ": not today" }),
  makeFailure("tool_denied", { tool: "now", why: "no clocks here" }),
  makeFailure("decision_broken", { id: "0123456789ab" }),
  makeFailure("tool_not_run", { tool: "now", why: forModels.stepLimit }),
  makeFailure("tool_repeated", { tool: "now", times: 5 }),
];

test("every tool is made to fail [R1]", () => {
  assert.deepEqual([builtins.map((tool) => tool.name).filter((name) => provoked[name] === undefined)], [[]]);
});

test("each way to fail has the code that belongs to it [R1]", async () => {
  const expected = Object.values(provoked).flatMap((rows) => rows.map(([, code]) => code));
  assert.deepEqual([(await provokeAll()).map((reason): string => reason.code)], [expected]);
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

test("a full path of the kind that code prints is refused with the path to use instead [R1][W6]", async () => {
  const refused = async (path: string) => errorForModel(await provoke("read_file", JSON.stringify({ path })));
  const said = 'Call read_file with {"path": "outputs/t.txt"}, or the tool you need with that path.';
  for (const path of ["/workspace/outputs/t.txt", "/workspace/0f3a/outputs/t.txt"])
    assert.equal(
      await refused(path),
      `Error: path_traversal_blocked: The path ${path} leads out of the workspace. Paths of file tools are relative: this one is outputs/t.txt. ${said}`,
    );
  assert.match(await refused("/workspace/c1/uploads/a&b.csv"), /Call read_file with \{"path": "uploads\/a&b\.csv"\}/);
  for (const path of ["/workspace/c1/outputs/../x", "/workspace/x", "/outputs/a", `/workspace/temp/${"x".repeat(300)}`])
    assert.match(await refused(path), /Use relative paths without/, path);
});

/** A call of a tool, the tools to choose from, or a word to the user. One on demand speaks of nobody but itself. */
function hasNextStep(text: string): boolean {
  const offered = builtins.map((tool) => tool.name);
  const [, called = ""] = /\bCall (\w+) (?:again )?with\b/.exec(text) ?? [];
  const [, choice = ""] = /\bUse one of: ([\w, ]+)\.$/.exec(text) ?? [];
  const isChoice = choice.split(", ").every((name) => offered.includes(name));
  return toolkit.find(called) !== undefined || isChoice || /\b(ask|tell) the user\b/i.test(text);
}

async function provokeAll(): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const [name, rows] of Object.entries(provoked)) {
    for (const [written] of rows) failures.push(await provoke(name, written));
  }
  return failures;
}

async function provoke(name: string, written: string): Promise<Failure> {
  const found = toolkit.open({ id: "1", name, arguments: written });
  const end = found.ok ? await found.value.opened.run(toolContext({ workspace })) : found;
  assert.ok(!end.ok, `${name} ${written.slice(0, 60)} did not fail`);
  return end.failure;
}
