import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import type { EventOf, LogEvent, NewEvent } from "../protocol/events.ts";
import { type Language, wordsFor } from "../words/words.ts";
import { AgentLines } from "./agent-lines.ts";
import { printBackup } from "./backup-command.ts";
import { standingCompaction } from "./compact-command.ts";
import { styleFor } from "./style.ts";
import { TurnRecord } from "./turn-record.ts";
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
  ...{ type: "message.assistant", turn: 1, step: 1, text, finish: "stop", durationMs: 1 },
  ...{ usage: { input: 0, output: 0 }, ...more },
});

test("streamed text is completed by the stored answer, never doubled [U1]", () => {
  const { event, text, screen } = view();
  event(started(1));
  text("Hello ", 0);
  text("wor", 6);
  event(said("Hello world."));
  assert.equal(screen(), "Hello world.\n");
});

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

test("what each agent does stands in lines with its name before them, and nothing of it acts on the terminal [U1][A1][A2]", () => {
  const lines = new AgentLines({ words: wordsFor("en"), style: styleFor({ color: false }) });
  let seq = 0;
  const show = (event: NewEvent) => lines.linesOf({ ...event, seq: ++seq, at: 0 } as LogEvent);
  const spawned = { type: "agent.spawned", mode: "task", role: "painter", brief: "paint\nit" } as const;
  assert.deepEqual(show({ ...spawned, id: "task-1", name: "painter" }), ["[painter] begins: paint it"]);
  assert.deepEqual(
    show({ ...spawned, agent: "task-1", id: "worker-2", mode: "worker", context: "subagent-1a2b3c4d" }),
    ["[subagent-1a2b3c4d] begins: paint it"],
  );
  const said = { ...turnOf(1, "m", "")[1], type: "message.assistant" } as EventOf<"message.assistant">;
  const calls = [{ id: "1", name: "now", arguments: "{}" }];
  assert.deepEqual(show({ ...said, agent: "task-1", text: "one\n\n\u001B]0;evil\u0007two", calls }), [
    ...["[painter] one", "[painter] ␛]0;evil␇two", "[painter] ⚙ now {}"],
  ]);
  const long = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  const shown = show({ ...said, agent: "worker-2", text: long });
  assert.deepEqual(shown?.slice(-2), ["[subagent-1a2b3c4d] line 11", "[subagent-1a2b3c4d] …"]);
  assert.deepEqual(show({ type: "agent.mailed", to: "task-1", id: "m", text: "blue\u001B[2J" }), [
    "[root] → painter: blue␛[2J",
  ]);
  assert.deepEqual(
    show({ type: "agent.mailed", agent: "task-1", to: "root", id: "m", text: "done", kind: "result" }),
    [],
  );
  const failure = { code: "mail_in_circles", params: { from: "a", to: "b", because: "same_mail", times: 3 } };
  assert.deepEqual(show({ type: "agent.ended", agent: "task-1", id: "worker-2", outcome: "done", steps: 3 }), [
    "[subagent-1a2b3c4d] ✓ done · 3 steps",
  ]);
  assert.match(
    show({ type: "agent.ended", id: "task-1", outcome: "limit", steps: 1, failure, folder: "outputs/painter" })?.[0] ??
      "",
    /^\[painter\] ✗ .* 1 step: a and b only write to each other.* → outputs\/painter\/$/,
  );
});

function record(message: string | undefined, events: readonly NewEvent[]): TurnRecord {
  const turn = new TurnRecord(message);
  for (const [index, event] of events.entries()) turn.take({ ...event, seq: index + 1, at: 0 });
  return turn;
}

const turnOf = (turn: number, message: string, text: string): NewEvent[] => [
  { type: "turn.started", turn, message, epoch: 1 },
  {
    ...{ type: "message.assistant", turn, step: 1, text, finish: "stop", durationMs: 1 },
    usage: { input: 10, output: 2, cachedInput: turn },
  },
  { type: "turn.finished", turn, outcome: "done" },
];

test("the turn of one message is told apart from those around it [P2]", () => {
  const events = [...turnOf(1, "a", "one"), ...turnOf(2, "b", "two"), ...turnOf(3, "c", "three")];
  assert.equal(record("b", events).summary().answer, "two");
  assert.equal(record(undefined, events).summary().answer, "three");
  assert.deepEqual(record("b", events).summary().usage, { input: 10, output: 2, cached_input: 2 });
  assert.equal(record("z", events).end, undefined);
});

const summedUp = (summary: string): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary, messagesBefore: 2, messagesAfter: 1 },
});

test("/compact show prints the summary that is sent: undone it is gone, and back again when the turn around that is undone [U1][Z2]", () => {
  const events = numbered([
    summedUp("first"),
    summedUp("second"),
    summedUp(""), // Only made shorter.
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "compaction.undone", compacted: 2, by: "me" },
    { type: "compaction.undone", compacted: 1, by: "me" },
    { type: "rewound", to: 3, cause: "undo" },
    { type: "rewound", to: 1, cause: "checkpoint" },
    { type: "rewound", to: 0, cause: "reset" },
  ]);
  const shown = events.map((_, index) => standingCompaction(events.slice(0, index + 1))?.summary);
  assert.deepEqual(shown, [
    ...["first", "second", "second", "second", "first", undefined],
    ...["second", "first", undefined],
  ]);
});

test("backup: says which files are missing or were still being written, and what to do [Q3]", () => {
  const output = new PassThrough({ encoding: "utf8" });
  const parts = { input: new PassThrough(), output, errors: new PassThrough(), words: wordsFor("en") };
  const made = { path: "/yard.tar", bytes: 7, conversations: 1, files: 1, hasKey: false };
  const lacking = { ...made, leftOut: ["a", "b"], leftOutCount: 2, changing: ["log.txt"] };
  assert.equal(printBackup(lacking, { ...parts, json: false, includesKey: false }), 0);
  assert.match(
    String(output.read()),
    /! 2 could not be read and are not in it: a, b\..*\n! Written to all the time.*: log\.txt\./,
  );
});
