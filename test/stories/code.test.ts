import assert from "node:assert/strict";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test as testAlways } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all, until } from "../world/events.ts";
import { calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { filesOf, newConversation, undo } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// Code that models run, in real sandboxes: what they are told of it, what it does to files, and how it ends.

function test(says: string, shows: (t: TestContext) => Promise<void>): void {
  void testAlways(says, { skip: cannotRunCode }, shows);
}

const real = { runsCode: true, approves: true } as const;
let model: ModelServer;
let yard: TestYard;
before(async () => {
  model = await modelServer();
  yard = await startYard({ ...real, model });
});
after(async () => {
  await yard[Symbol.asyncDispose]();
  await model.close();
});

const python = (code: string, more: object = {}): [string, object] => ["execute_code", { code, ...more }];
const bash = (command: string, more: object = {}): [string, object] => ["run_bash_command", { command, ...more }];
const write = (path: string): [string, object] => ["write_file", { path, content: "mine\n" }];
const anew = "[Python was started anew; earlier variables are gone]";

/** What models are told, without what differs from run to run. */
function results(events: readonly LogEvent[]): string[] {
  return all(events, "call.finished").map(({ outcome, text }) => `${outcome}: ${withoutMarks(text)}`);
}

/** The same in the order of the calls, which may end in another one. */
function inOrder(events: readonly LogEvent[]): string[] {
  const asked = all(events, "message.assistant").flatMap(({ calls: made = [] }) => made.map(({ id }) => id));
  const finished = all(events, "call.finished").toSorted((a, b) => asked.indexOf(a.call) - asked.indexOf(b.call));
  return finished.map(({ outcome, text }) => `${outcome}: ${withoutMarks(text)}`);
}

/** Line by line, without the times. */
function lines(events: readonly LogEvent[]): string[][] {
  return all(events, "call.finished").map(({ text }) => withoutMarks(text).split("\n").slice(0, -1));
}

test("what one program leaves in Python the next one finds; bash and JavaScript run beside it; a reset forgets [X1]", async () => {
  model.answerWith([
    calls(python("x = 41")),
    calls(python("print(x + 1)"), python("x * 2")),
    calls(bash("echo $((6 * 7)); pwd >&2"), ["execute_code", { code: "console.log(6 * 7)", lang: "js" }]),
    calls(python("print(x)", { reset: true })),
    says("done"),
  ]);
  const { events, conversation } = await yard.ask("compute");
  // Anything may take a while on a busy machine.
  const [first, ...others] = results(events).map((text) => text.replace(/, (less than 1|\d+) s\]$/, "]"));
  const end = "[exit code 0]";
  assert.equal(first, `ok: (no output)\n${end}`);
  assert.deepEqual(others.slice(0, 4).sort(), [
    `ok: --- stdout\n42\n--- stderr\n/workspace/${conversation}\n${end}`,
    `ok: --- value\n82\n${end}`,
    `ok: 42\n${end}`,
    `ok: 42\n${end}`,
  ]);
  assert.match(
    others[4] ?? "",
    /^ok: Failed \(exit code 1\)\n--- stderr\nTraceback[\s\S]*NameError: name 'x' is not defined/,
  );
});

test("a program that fails or takes too long is told to the model, and the next one runs [X1][T6]", async () => {
  const fail = async (seconds: number) => {
    model.answerWith([
      calls(python("kept = 1\n1 / 0"), bash("echo half; exit 7")),
      calls(bash("echo begun; sleep 600", { timeout: seconds }), python("while True: pass", { timeout: 1 })),
      calls(python("print('still here')")),
      says("done"),
    ]);
    const { events, outcome } = await yard.ask("fail");
    return { seconds, told: inOrder(events), outcome };
  };
  // On a busy machine bash would take all of a short time to begin, with Python at work beside it.
  let failed = await fail(1);
  while (failed.told[2]?.includes("begun") === false && failed.seconds < 60) failed = await fail(3 * failed.seconds);
  const { seconds, outcome } = failed;
  const [broken = "", command = "", late = "", endless = "", next = ""] = failed.told;
  assert.match(broken, /^ok: Failed \(exit code 1\)\n--- stderr\nTraceback[\s\S]*ZeroDivisionError/);
  assert.match(command, /^ok: Command failed \(exit code 7\)\nhalf\n\[exit code 7, /);
  assert.ok(late.startsWith(`error: Error: Command timeout (${seconds}s)\nbegun\n`), late);
  assert.match(endless, /^error: Error: Code timeout \(1s\)\n[\s\S]*KeyboardInterrupt/);
  assert.match(next, /^ok: still here\n/);
  assert.equal(outcome, "done");
});

test("a model whose code ended its Python is told what ended and what is gone [X1]", async () => {
  const deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
  model.answerWith([
    calls(python("import os; os._exit(0)")),
    // The time of what follows is for the code: its Python is there.
    calls(python("1")),
    calls(python(deaf, { timeout: 1 })),
    calls(python("2")),
    says("done"),
  ]);
  assert.deepEqual(lines((await yard.ask("end")).events), [
    ["Failed (the code ended Python itself: exit code 0). Variables are gone.", "(no output)"],
    ["--- value", "1", anew],
    ["Error: Code timeout (1s)", "(no output)", "[Python was ended; its variables are gone]"],
    ["--- value", "2", anew],
  ]);
});

test("the time that a call asked for counts, not the shorter limit of other tools [X1][L6]", async () => {
  model.answerWith([calls(bash("sleep 1.1; echo slept", { timeout: 20 })), says("done")]);
  await using hasty = await startYard({ ...real, model, env: { AGENTYARD_TOOL_TIMEOUT_SECONDS: "1" } });
  assert.match(results((await hasty.ask("wait")).events)[0] ?? "", /^ok: slept\n\[exit code 0, \d+ s\]$/);
});

testAlways("without a sandbox the model is told why no code runs, and the turn goes on [X3]", async () => {
  model.answerWith([calls(python("1")), says("Without code, then.")]);
  await using bare = await startYard({ model });
  const { events, answer } = await bare.ask("compute");
  assert.match(
    results(events)[0] ?? "",
    /^error: Error: sandbox_unavailable: Code cannot be run here: There is no sandbox/,
  );
  assert.equal(answer, "Without code, then.");
});

test("what a program says is seen while it runs, also by who comes later [X1][C3]", async () => {
  const wait =
    "import os, time\nprint('one', flush=True)\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint('two')";
  model.answerWith([calls(python(wait)), says("done")]);
  const id = await newConversation(yard);
  const first = await watch(yard, id, "go");
  await until("the first line is seen", () => first.output() === "one\n");
  const later = await watch(yard, id);
  await until("who comes later sees it too", () => later.output() === "one\n");
  const found = await yard.log.find(localOwner, id);
  assert.ok(found.ok);
  await yard.workspaces.ofConversation(found.value).write("temp/go", "");
  const { events } = await yard.whenAtRest(id);
  assert.match(results(events)[0] ?? "", /^ok: one\ntwo\n/);
  await Promise.all([first.stop(), later.stop()]);
});

test("a stopped turn ends its program at once, and what it did to files until then is in the ledger [X1][L6][W12]", async () => {
  const code = "import time\nopen('outputs/a.txt', 'w').write('a')\nprint('written', flush=True)\ntime.sleep(6000)";
  model.answerWith([calls(python(code)), calls(bash("echo next")), says("fine")]);
  const id = await newConversation(yard);
  const seen = await watch(yard, id, "go");
  await until("the program has said something", () => seen.output().includes("written\n"));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  const { events } = await yard.whenAtRest(id);
  await seen.stop();
  assert.deepEqual(
    {
      outcome: all(events, "call.finished")[0]?.outcome,
      changed: all(events, "file.changed").map(({ path, by, before }) => ({ path, by, before })),
      end: all(events, "turn.finished")[0]?.outcome,
    },
    { outcome: "cancelled", changed: [{ path: "outputs/a.txt", by: "tool", before: undefined }], end: "cancelled" },
  );
  const next = await yard.ask("and now?", { conversation: id });
  assert.equal(next.answer, "fine");
  assert.deepEqual((await undo(yard, id)).restored, []);
  assert.deepEqual((await undo(yard, id)).restored, [{ path: "outputs/a.txt", now: "removed" }]);
});

test("a model that prints bytes, writes where it may not and uses the path that code knows is told what to do [X1][R1]", async () => {
  const id = await newConversation(yard);
  const full = `/workspace/${id}/outputs/t.txt`;
  model.answerWith([
    calls(bash("head -c 300000 /dev/urandom"), python("open('t.txt', 'w')")),
    calls(python(`open('${full}', 'w').write('text')`)),
    calls(["read_file", { path: full }], ["python", { code: "```python\n1 + 1\n```" }]),
    says("done"),
  ]);
  const [bytes = "", refused = "", , path = "", value = ""] = inOrder(
    (await yard.ask("go", { conversation: id })).events,
  );
  assert.match(
    bytes,
    /\n\[binary output, or not UTF-8, about 29\d(\.\d)? KB, in temp\/output-\w+-stdout\.txt\]\n\[exit/,
  );
  assert.ok(bytes.length < 400, `${bytes.length} characters`);
  assert.match(refused, /\n\[Write into outputs\/ or temp\/: /);
  assert.match(path, /^error: Error: path_traversal_blocked: .*Call read_file with \{"path": "outputs\/t\.txt"\}/);
  assert.match(value, /^ok: --- value\n2\n/);
});

test("a file of the user that only a program has touched is not replaced before the model saw it [F2][X1]", async () => {
  model.answerWith([
    calls(bash("echo extra >> uploads/notes.txt; echo made > outputs/made.txt; touch uploads/other.txt")),
    calls(write("uploads/notes.txt"), write("outputs/made.txt"), write("uploads/other.txt")),
    calls(write("uploads/notes.txt")),
    says("done"),
  ]);
  const id = await newConversation(yard);
  for (const name of ["notes.txt", "other.txt"]) await must(yard.client.upload(id, name, Buffer.from("the user's\n")));
  const [, ...told] = inOrder((await yard.ask("note", { conversation: id })).events);
  const unseen = (path: string) => new RegExp(`^error: Error: conflict: ${path} has content that you have not seen`);
  assert.match(told[0] ?? "", unseen("uploads/notes.txt"));
  assert.match(told[0] ?? "", /the user's\nextra/);
  assert.match(told[1] ?? "", /^ok: Success: File written to outputs\/made\.txt .*, replaced$/);
  assert.match(told[2] ?? "", unseen("uploads/other.txt"));
  assert.match(told[3] ?? "", /^ok: Success: File written to uploads\/notes\.txt .*, replaced$/);
});

test("undo of a turn whose code changed, made and deleted files gives back exact bytes and modes, and names what was too large [W12]", async () => {
  const large = 21 * 1024 * 1024;
  const before = [
    "import os",
    "open('outputs/blob.bin', 'wb').write(bytes([0, 255, 13, 10, 200]))",
    "open('outputs/run.sh', 'w').write('#!/bin/sh\\r\\necho old\\n'); os.chmod('outputs/run.sh', 0o750)",
    "open('outputs/gone.txt', 'w').write('not quite'); os.chmod('outputs/gone.txt', 0o600)",
    `open('outputs/large.bin', 'wb').write(bytes(${large}))`,
  ].join("\n");
  const after = [
    "import os",
    "open('outputs/blob.bin', 'ab').write(b'more'); os.chmod('outputs/run.sh', 0o644); os.remove('outputs/gone.txt')",
    "os.makedirs('outputs/new/deep'); open('outputs/new/deep/a.txt', 'w').write('new')",
    "open('outputs/large.bin', 'r+b').write(b'x')",
  ].join("\n");
  model.answerWith([
    ...[calls(python(before)), says("made")],
    ...[calls(python(after)), calls(bash("rm outputs/new/deep/a.txt; echo b > 'outputs/b 汉.txt'")), says("changed")],
    ...[calls(bash("true")), says("nothing")],
  ]);
  const { conversation } = await yard.ask("make");
  const { "large.bin": _, ...files } = filesOf(yard, conversation);
  await yard.ask("change everything", { conversation });
  assert.deepEqual(Object.keys(filesOf(yard, conversation)), ["b 汉.txt", "blob.bin", "large.bin", "run.sh"]);

  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual(restored, [
    { path: "outputs/b 汉.txt", now: "removed" },
    { path: "outputs/blob.bin", now: "as_before" },
    { path: "outputs/gone.txt", now: "as_before" },
    { path: "outputs/new/deep/a.txt", now: "removed" },
    { path: "outputs/run.sh", now: "as_before" },
  ]);
  assert.deepEqual(left, [{ path: "outputs/large.bin", why: "not_kept" }]);
  const { "large.bin": __, ...now } = filesOf(yard, conversation);
  assert.deepEqual(now, files);

  const next = await yard.ask("look again", { conversation });
  const undone = next.events.findLastIndex(({ type }) => type === "rewound");
  assert.deepEqual(
    all(next.events.slice(undone), "file.changed").filter(({ by }) => by === "tool"),
    [],
    "what undo gave back is no change of the next program",
  );
});

test("what a program left running ends with the turn, and what it did since is told before the turn's end [X1][W12]", async () => {
  const background = "(while true; do echo more >> outputs/late.txt; sleep 0.01; done) > /dev/null 2>&1 & echo begun";
  /** It has written since its call has ended, for only then the model is asked. */
  const hasWritten = async () => {
    const written = () => globSync("workspace/*/outputs/late.txt", { cwd: yard.data }).map(bytesIn).at(0) ?? 0;
    const bytesIn = (path: string) => statSync(join(yard.data, path)).size;
    const before = written();
    await until("it writes on", () => written() > before);
  };
  const slowly = { text: "it goes on", heldAt: (part: number) => (part === 0 ? hasWritten() : undefined) };
  const look = "echo seen; grep -l '[l]ate.txt' /proc/[0-9]*/cmdline 2>/dev/null | wc -l";
  model.answerWith([calls(bash(background)), slowly, calls(bash(look)), says("seen")]);
  const { events, conversation } = await yard.ask("begin");
  const last = events.at(-2);
  assert.ok(last?.type === "file.changed", "right before the end of the turn");
  const bytes = filesOf(yard, conversation)["late.txt"]?.replace(/^\d+ /, "").length;
  assert.deepEqual([last.path, last.by, last.call, last.after?.bytes], ["outputs/late.txt", "tool", undefined, bytes]);
  const next = await yard.ask("look", { conversation });
  assert.match(results(next.events).at(-1) ?? "", /^ok: seen\n0\n\[exit code 0/, "nothing writes any more");
  assert.deepEqual((await undo(yard, conversation)).restored, []);
  assert.deepEqual((await undo(yard, conversation)).restored, [{ path: "outputs/late.txt", now: "removed" }]);
});

test("the demo model profiles a table for real and draws a chart [M5][X6][X1]", async () => {
  await using demo = await startYard(real);
  const id = await newConversation(demo);
  await must(demo.client.upload(id, "data.csv", Buffer.from("city,units\nOslo,12\nRio,\nOslo,30\n")));
  const body = { text: "profile it", mode: "queue" as const, files: ["uploads/data.csv"] };
  await must(demo.client.call("sendMessage", { params: { id }, body }));
  const { answer, events } = await demo.whenAtRest(id);
  const profile =
    /`uploads\/data\.csv`: 3 rows, 2 columns\.[\s\S]*\| units \| number \| 2 \| 1 \| 12 \| 30 \| 21 \| 21 \| 42 \|/;
  assert.match(answer, profile);
  const chart = "outputs/data-chart.png";
  if (!answer.includes(chart)) return assert.match(answer, /matplotlib/, "only where it is not installed");
  assert.deepEqual(
    all(events, "file.changed").flatMap(({ path, by }) => (by === "tool" ? path : [])),
    [chart],
  );
  assert.match(filesOf(demo, id)["data-chart.png"] ?? "", /^\d+ \x89PNG/);
});

/** Follows a conversation and keeps what programs say; sends a message first where there is one. */
async function watch(yard: TestYard, id: string, text?: string) {
  const stop = new AbortController();
  let output = "";
  const watching = (async () => {
    for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
      if (frame.frame === "output") output += frame.text;
  })();
  if (text !== undefined)
    await must(yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue" } }));
  return {
    output: () => output,
    async stop() {
      stop.abort();
      await watching;
    },
  };
}

// Code in answers. By its address: its types are those of a browser, which the rest of the house does not have.
const file = new URL("../../web/src/markdown/highlight.ts", import.meta.url);
type Highlight = (code: string, language: string) => readonly { text: string; kind: string | undefined }[] | undefined;
const { highlight }: { highlight: Highlight } = await import(file.href);

testAlways("code in an answer has the colours of its language, and of another one inside of it [B1]", () => {
  const coloured = highlight('const a = 1; // "one"', "ts")?.filter(({ kind }) => kind !== undefined);
  assert.deepEqual(coloured, [
    { text: "const", kind: "keyword" },
    { text: "1", kind: "number" },
    { text: '// "one"', kind: "comment" },
  ]);
  const page = highlight("<p><script>let a;</script>", "svg") ?? [];
  assert.equal(page.find(({ text }) => text === "let")?.kind, "keyword");
  assert.equal(page.find(({ text }) => text === " a;")?.kind, undefined);
  assert.equal(highlight("a", "klingon"), undefined);
});

testAlways("code that is nested as deep as it can be shown with colours loses no word [B1]", () => {
  const code = '"${'.repeat(10_000);
  assert.equal(
    highlight(code, "bash")
      ?.map(({ text }) => text)
      .join(""),
    code,
  );
});
