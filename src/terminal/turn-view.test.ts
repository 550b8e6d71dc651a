import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventOf, NewEvent } from "../protocol/events.ts";
import { type Language, wordsFor } from "../words/words.ts";
import { styleFor } from "./style.ts";
import { TurnView } from "./turn-view.ts";

function view({ isInteractive = true, isOwnReturn = false, language = "en" as Language } = {}) {
  let screen = "";
  let seq = 0;
  const answer = (text: string) => {
    screen += text;
  };
  const note = (line: string) => answer(`${screen === "" || screen.endsWith("\n") ? "" : "\n"}${line}\n`);
  const shown = new TurnView({
    console: { isInteractive, answer, note },
    words: wordsFor(language),
    style: styleFor({ color: false }),
    isOwn: (id) => id === "mine",
    isOwnReturn: () => isOwnReturn,
  });
  return {
    event(event: NewEvent) {
      seq += 1;
      shown.show({ frame: "event", event: { ...event, seq, at: 0 } });
    },
    text(text: string, offset: number, attempt = 1) {
      shown.show({ frame: "delta", turn: 1, step: 1, attempt, kind: "text", offset, text });
    },
    screen: () => screen,
  };
}

const started = (attempt: number): NewEvent => ({
  ...{ type: "step.started", turn: 1, step: 1, attempt, slot: "base", model: "m", reason: "default" },
  ...{ hash: "", bytes: 0, reused: 0 },
});
const said = (text: string, more: Pick<EventOf<"message.assistant">, "calls" | "cut"> = {}): NewEvent => ({
  ...{
    type: "message.assistant",
    turn: 1,
    step: 1,
    text,
    finish: "stop",
    usage: { input: 0, output: 0 },
    durationMs: 1,
  },
  ...more,
});
const broke: NewEvent = {
  ...{ type: "step.failed", turn: 1, step: 1, attempt: 1, kind: "network" },
  failure: { code: "model_network", params: { model: "m", server: "s", said: "reset" } },
};

test("streamed text is completed by the stored answer, never doubled [U1]", () => {
  const { event, text, screen } = view();
  event(started(1));
  text("Hello ", 0);
  text("wor", 6);
  event(said("Hello world."));
  assert.equal(screen(), "Hello world.\n");
});

test("after a gap in the stream the stored answer brings the rest [U1]", () => {
  const { event, text, screen } = view();
  event(started(1));
  text("Hello ", 0);
  text("end", 20);
  event(said("Hello big wide world end."));
  assert.equal(screen(), "Hello big wide world end.\n");
});

test("a second attempt starts on its own line, and the text of the first counts for nothing [M3]", () => {
  const { event, text, screen } = view();
  event(started(1));
  text("Hello ", 0);
  event(broke);
  event(started(2));
  event(said("Hello world."));
  assert.equal(
    screen(),
    "Hello \n! s cannot be reached or broke off: reset\n↻ Trying again (attempt 2)\nHello world.\n",
  );
});

test("an empty answer is said to be one; one that was stopped, or calls a tool, is not [U1]", () => {
  for (const isInteractive of [true, false]) {
    const { event, screen } = view({ isInteractive });
    event(said(""));
    assert.equal(screen(), "(The model gave an empty answer.)\n");
    event(said("", { cut: true }));
    event(said("", { calls: [{ id: "c", name: "now", arguments: "{}" }] }));
    assert.equal(screen(), "(The model gave an empty answer.)\n");
  }
});

test("a failure that was said is not said again; its advice is [U1]", () => {
  const { event, screen } = view({ isInteractive: false });
  event(broke);
  event({ type: "turn.finished", turn: 1, outcome: "failed", failure: broke.failure });
  assert.match(screen(), /^! s cannot be reached.+\n→ Check the base URL.+\n$/);
});

test("messages from elsewhere are shown, our own are not; without a terminal nothing streams [U1]", () => {
  const { event, text, screen } = view({ isInteractive: false });
  event({ type: "message.user", id: "mine", text: "hi", mode: "queue" });
  event({ type: "message.user", id: "theirs", text: "hello", mode: "queue" });
  text("not yet", 0);
  assert.equal(screen(), "You (elsewhere)> hello\n");
});

const state = (bytes: number) => ({ hash: "", bytes, mode: 0o644 });

test("what tools do to files is shown in a line each; uploads are not told again [U1][W12]", () => {
  const { event, screen } = view({ isInteractive: false });
  event({ type: "file.changed", by: "upload", path: "uploads/u.csv", after: state(1) });
  event({ type: "file.changed", by: "tool", path: "outputs/a.txt", after: state(12) });
  event({ type: "file.changed", by: "tool", path: "outputs/b.txt", before: state(1), after: state(2_500_000) });
  event({ type: "file.changed", by: "tool", path: "outputs/c\u001b[2J.txt", before: state(1) });
  event({ type: "file.changed", by: "tool", workspace: "agent-7", path: "d", after: state(1) });
  event({ type: "file.changed", by: "undo", path: "outputs/e.txt", after: state(1) });
  assert.deepEqual(screen().split("\n"), [
    "  + outputs/a.txt (12 bytes)",
    "  ~ outputs/b.txt (2.4 MB)",
    "  - outputs/c␛[2J.txt",
    "  + agent-7: d (1 byte)",
    "",
  ]);
});

test("of many changes at once the first ten are shown, and how many more there are [U1]", () => {
  const { event, screen } = view({ isInteractive: false });
  const change = (name: number) => event({ type: "file.changed", by: "tool", path: `${name}`, after: state(1) });
  for (let name = 1; name <= 10; name += 1) change(name);
  event(started(1));
  for (let name = 11; name <= 22; name += 1) change(name);
  event(started(2));
  const lines = screen().trimEnd().split("\n");
  const shown = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
  assert.deepEqual(lines, [
    ...shown.map((name) => `  + ${name} (1 byte)`),
    ...["  … and 2 more", "↻ Trying again (attempt 2)"],
  ]);
});

test("a message from elsewhere is shown as it was said, with its files and without their text [U1][F3]", () => {
  const { event, screen } = view({ isInteractive: false });
  const text =
    "read\n\nText of uploads/a.md:\n```\n# A\n\nUploaded files:\n- no\n```\n\nUploaded files:\n- a.md → uploads/a.md (markdown)";
  event({ type: "message.user", id: "theirs", text, mode: "queue" });
  assert.equal(screen(), "You (elsewhere)> read\n  ↑ uploads/a.md\n");
});

const undone: readonly NewEvent[] = [
  { type: "message.user", id: "theirs", text: "write", mode: "queue" },
  { type: "turn.started", turn: 4, message: "theirs", epoch: 1 },
  { type: "turn.finished", turn: 4, outcome: "done" },
  { type: "rewound", to: 0, cause: "undo" },
  { type: "file.changed", by: "undo", path: "outputs/a.txt", before: state(3), after: state(2) },
  { type: "file.changed", by: "undo", path: "outputs/b.txt", before: state(3) },
  { type: "file.changed", by: "undo", path: "outputs/c.txt", after: state(2) },
];

test("a turn that is undone elsewhere is said to be, with what became of its files; our own is not told twice [U1][W12]", () => {
  const shown = (options: Parameters<typeof view>[0]) => {
    const { event, screen } = view({ isInteractive: false, ...options });
    for (const one of undone) event(one);
    return screen().trimEnd().split("\n").slice(1);
  };
  const files = ["~ outputs/a.txt (as before)", "- outputs/b.txt (deleted)", "~ outputs/c.txt (as before)"];
  assert.deepEqual(shown({}), ["✓ Turn 4 was undone elsewhere", ...files.map((line) => `  ${line}`)]);
  assert.equal(shown({ language: "zh" })[0], "✓ 已在别处撤销第 4 个回合");
  assert.deepEqual(shown({ isOwnReturn: true }), []);
});

test("going back elsewhere is said whatever it was, also where the turn is no longer known [U1]", () => {
  const { event, screen } = view({ isInteractive: false });
  for (const cause of ["undo", "reset", "checkpoint"] as const) event({ type: "rewound", to: 0, cause });
  assert.deepEqual(screen().trimEnd().split("\n"), [
    "✓ The last turn was undone elsewhere",
    "✓ This conversation was reset elsewhere",
    "✓ This conversation went back to an earlier place elsewhere",
  ]);
});

const refusals = {
  en: "✗ edit_file (failed) the text to be changed stands there more than once; nothing was changed",
  zh: "✗ edit_file (失败) 要修改的文字在文件里不止一处，什么都没有改变",
};
for (const language of ["en", "zh"] as const) {
  test(`what a tool refused with a text for the model is told to people in their words (${language}) [U1][P4]`, () => {
    const { event, screen } = view({ isInteractive: false, language });
    const finish = (id: string, text: string) => {
      event(said("", { calls: [{ id, name: "edit_file", arguments: "{}" }] }));
      event({ type: "call.finished", call: id, outcome: "error", text });
    };
    finish(
      "a",
      "Error: several_matches: old_string stands 8 times in outputs/a.md (lines 2, 5), so nothing was changed.",
    );
    finish("b", "Error: odd_code: who knows");
    const lines = screen().trimEnd().split("\n");
    assert.deepEqual([lines[0], lines[1]?.endsWith("Error: odd_code: who knows")], [refusals[language], true]);
  });
}

test("a program is shown by its first line, with its time, its end and the files it made [X1][T6][U1]", () => {
  const { event, screen } = view();
  const run = (id: string, name: string, input: object) => ({ id, name, arguments: JSON.stringify(input) });
  const calls = [
    run("1", "execute_code", { code: "\nimport pandas\nprint(1)", language: "python" }),
    run("2", "execute_code", { code: "console.log(1)", language: "javascript" }),
    run("3", "run_bash_command", { command: "false" }),
    run("4", "execute_code", {}),
  ];
  const finished = (call: string, text: string): NewEvent => ({
    ...{ type: "call.finished", call, outcome: "ok", text, durationMs: 1_200 },
  });
  event(said("", { calls }));
  for (const { id } of calls) event({ type: "call.started", call: id, class: "unsafe", attempt: 1 });
  event({ type: "file.changed", path: "outputs/a.png", by: "tool", call: "1", after: { bytes: 12, mode: 0o644 } });
  event(finished("1", "1\n[exit code 0, 1 s]"));
  event(finished("2", "Failed (ended by SIGSEGV)\n(no output)"));
  event(finished("3", "Command failed (exit code 1)\n(no output)"));
  assert.equal(
    screen(),
    [
      "⚙ execute_code import pandas …",
      "⚙ execute_code javascript: console.log(1)",
      "⚙ run_bash_command false",
      "⚙ execute_code {}",
      "  + outputs/a.png (12 bytes)",
      "✓ execute_code 1.2 s",
      "! execute_code 1.2 s (ended by SIGSEGV)",
      "! run_bash_command 1.2 s (exit code 1)",
      "",
    ].join("\n"),
  );
});

const asked = (id: string, text: string): NewEvent => ({ type: "message.user", id, text, mode: "queue" });
const compacted = {
  type: "compacted",
  turn: 1,
  strategy: "trim",
  upTo: 0,
  summary: "",
  messagesBefore: 1,
  messagesAfter: 1,
} as const;

test("a message of the person that was cut for the model is told, once, with how much and what to do [Z2][U1]", () => {
  const { event, screen } = view();
  event(asked("mine", "x".repeat(60_000)));
  event({ type: "turn.started", turn: 1, message: "mine", epoch: 1 });
  const trims = [{ seq: 2, text: "x".repeat(8_000) }];
  event({ ...compacted, trims, window: { model: "m", tokens: 4_000 } });
  event({ ...compacted, trims });
  assert.equal(
    screen(),
    `✂ Old results were shortened
  ! Your message was too long for the model: about 52000 of its 60000 characters are left out. Send a long text as a file: #PATH
  ! m refused this as too long: its window is taken for 4000 tokens from now on.
✂ Old results were shortened
`,
  );
});

test("where older messages were summed up the person is told how to see and undo it [Z2][U1]", () => {
  const { event, screen } = view({ language: "zh" });
  event({ ...compacted, strategy: "compact", summary: "s", upTo: 1, kept: { standing: 1, said: 4 }, by: "window" });
  assert.equal(
    screen(),
    `✂ 上下文已压缩：1 → 1 条消息
  原文保留：1 条长期指示、4 条您的消息
  /compact show 显示代替较早消息的内容 · /compact undo 重新发送它们
`,
  );
});

test("a call that you rejected says so to you, and where code cannot run the next step is named [H2][X1][P4]", () => {
  const called = (name: string) => said("", { calls: [{ id: "c", name, arguments: "{}" }] });
  const ended = (outcome: "rejected" | "error", failure: EventOf<"call.finished">["failure"]): NewEvent => ({
    ...{ type: "call.finished", call: "c", outcome, text: "Error: …", failure },
  });
  const { event, screen } = view({ language: "zh" });
  event(called("mark"));
  event(ended("rejected", { code: "tool_rejected", params: { tool: "mark", why: ": 太危险" } }));
  event(called("execute_code"));
  event(ended("error", { code: "sandbox_start_failed", params: { why: "start_failed" } }));
  assert.equal(
    screen(),
    `✗ mark (被拒绝) 您已拒绝：太危险
✗ execute_code (失败) 沙箱无法启动。
→ 请重试；\`agentyard doctor\` 会说明问题，日志文件里有细节。
`,
  );
});
