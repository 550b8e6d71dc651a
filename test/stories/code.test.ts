import assert from "node:assert/strict";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ProgramPlace } from "../../src/sandbox/sandbox.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { cannotRunCode, noSandbox } from "../world/sandbox.ts";
import { filesOf, newConversation, undo } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const real = { runsCode: true, approves: true } as const;
const skip = { skip: cannotRunCode };
const python = (code: string, more: object = {}): [string, object] => ["execute_code", { code, ...more }];
const bash = (command: string, more: object = {}): [string, object] => ["run_bash_command", { command, ...more }];

/** What models are told, without what differs from run to run. */
function results(events: readonly LogEvent[]): string[] {
  return all(events, "call.finished").map(({ outcome, text }) => `${outcome}: ${withoutMarks(text)}`);
}

test(
  "what one program leaves in Python the next one finds; bash and JavaScript run beside it; a reset forgets [X1]",
  skip,
  async () => {
    await using model = await modelServer([
      calls(python("x = 41")),
      calls(python("print(x + 1)"), python("x * 2")),
      calls(bash("echo $((6 * 7)); pwd >&2"), ["execute_code", { code: "console.log(6 * 7)", lang: "js" }]),
      calls(python("print(x)", { reset: true })),
      says("done"),
    ]);
    await using yard = await startYard({ model, ...real });
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
  },
);

test("a program that fails or takes too long is told to the model, and the next one runs [X1][T6]", skip, async () => {
  await using model = await modelServer();
  await using yard = await startYard({ model, ...real });
  const fail = async (seconds: number) => {
    model.answerWith([
      calls(python("kept = 1\n1 / 0"), bash("echo half; exit 7")),
      calls(bash("echo begun; sleep 600", { timeout: seconds }), python("while True: pass", { timeout: 1 })),
      calls(python("print('still here')")),
      says("done"),
    ]);
    const { events, outcome } = await yard.ask("fail");
    const told = all(events, "call.finished")
      .toSorted((a, b) => (a.call < b.call ? -1 : 1))
      .map((result) => `${result.outcome}: ${withoutMarks(result.text)}`);
    return { seconds, told, outcome };
  };
  // On a busy machine bash would take all of a short time to begin, with Python at work beside it.
  let failed = await fail(3);
  while (failed.told[2]?.includes("begun") === false && failed.seconds < 60) failed = await fail(2 * failed.seconds);
  const { seconds, outcome } = failed;
  const [broken, command, late, endless, next] = failed.told;
  assert.match(broken ?? "", /^ok: Failed \(exit code 1\)\n--- stderr\nTraceback[\s\S]*ZeroDivisionError/);
  assert.match(command ?? "", /^ok: Command failed \(exit code 7\)\nhalf\n\[exit code 7, /);
  assert.match(late ?? "", /^error: Error: Command timeout \(\d+s\)\nbegun\n/);
  assert.ok(late?.includes(`(${seconds}s)`));
  assert.match(endless ?? "", /^error: Error: Code timeout \(1s\)\n/);
  assert.match(next ?? "", /^ok: still here\n/);
  assert.equal(outcome, "done");
});

test("the time that a call asked for counts, not the shorter limit of other tools [X1][L6]", skip, async () => {
  await using model = await modelServer([calls(bash("sleep 1.5; echo slept", { timeout: 20 })), says("done")]);
  await using yard = await startYard({ model, ...real, env: { AGENTYARD_TOOL_TIMEOUT_SECONDS: "1" } });
  assert.match(results((await yard.ask("wait")).events)[0] ?? "", /^ok: slept\n\[exit code 0, \d+ s\]$/);
});

test(
  "a stopped turn ends its program at once, and what it did to files until then is in the ledger [X1][L6][W12]",
  skip,
  async () => {
    const code = "import time\nopen('outputs/a.txt', 'w').write('a')\nprint('written', flush=True)\ntime.sleep(6000)";
    await using model = await modelServer([calls(python(code)), calls(bash("echo next")), says("fine")]);
    await using yard = await startYard({ model, ...real });
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
  },
);

test("what a program says is seen while it runs, also by who comes later [X1][C3]", skip, async () => {
  const wait =
    "import os, time\nprint('one', flush=True)\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint('two')";
  await using model = await modelServer([calls(python(wait)), says("done")]);
  await using yard = await startYard({ model, ...real });
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

test(
  "undo of a turn whose code changed, made and deleted files gives back exact bytes and modes, and names what was too large [W12]",
  skip,
  async () => {
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
    await using model = await modelServer([
      ...[calls(python(before)), says("made")],
      ...[calls(python(after)), calls(bash("rm outputs/new/deep/a.txt; echo b > 'outputs/b 汉.txt'")), says("changed")],
      ...[calls(bash("true")), says("nothing")],
    ]);
    await using yard = await startYard({ model, ...real });
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
  },
);

test(
  "what a program left running ends with the turn, and what it did since is told before the turn's end [X1][W12]",
  skip,
  async () => {
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
    await using model = await modelServer([calls(bash(background)), slowly, calls(bash(look)), says("seen")]);
    await using yard = await startYard({ model, ...real });
    const { events, conversation } = await yard.ask("begin");
    const last = events.at(-2);
    assert.ok(last?.type === "file.changed", "right before the end of the turn");
    const bytes = filesOf(yard, conversation)["late.txt"]?.replace(/^\d+ /, "").length;
    assert.deepEqual(
      [last.path, last.by, last.call, last.after?.bytes],
      ["outputs/late.txt", "tool", undefined, bytes],
    );
    const next = await yard.ask("look", { conversation });
    assert.match(results(next.events).at(-1) ?? "", /^ok: seen\n0\n\[exit code 0/, "nothing writes any more");
    assert.deepEqual((await undo(yard, conversation)).restored, []);
    assert.deepEqual((await undo(yard, conversation)).restored, [{ path: "outputs/late.txt", now: "removed" }]);
  },
);

test("a conversation that is deleted takes its programs and its files along [X1][S6]", skip, async () => {
  await using model = await modelServer([calls(python("open('outputs/a.txt', 'w').write('a')")), says("done")]);
  await using yard = await startYard({ model, ...real });
  const { conversation } = await yard.ask("write");
  const folder = join(yard.data, "workspace", conversation);
  assert.ok(existsSync(join(folder, "outputs/a.txt")));
  await must(yard.client.call("deleteConversation", { params: { id: conversation } }));
  await until("its files are gone", () => !existsSync(folder));
});

test(
  "cleaning up ends what works in a folder before it goes, and the next program finds a new one [W12][X1]",
  skip,
  async () => {
    const write = (name: string) => python(`open('outputs/${name}', 'w').write('a')`);
    await using model = await modelServer([calls(write("a.txt")), says("1"), calls(write("b.txt")), says("2")]);
    await using yard = await startYard({ model, ...real });
    const { conversation } = await yard.ask("write");
    await until("its files are in the trash", async () => {
      return (await must(yard.client.call("cleanWorkspaces", { body: { days: 0 } }))).workspaces === 1;
    });
    await yard.ask("write again", { conversation });
    assert.deepEqual(Object.keys(filesOf(yard, conversation)), ["b.txt"]);
  },
);

test("a sandbox is begun with the conversation and its messages, with Python where data is to be worked on, and ended with it [X1]", async () => {
  const asked: string[] = [];
  const openSandbox = () => ({
    ...noSandbox(),
    prewarm: ({ agent }: ProgramPlace, language?: string) =>
      void asked.push(`prewarm ${agent} ${language ?? ""}`.trim()),
    reset: async ({ agent }: ProgramPlace) => void asked.push(`reset ${agent}`),
    async endTurn() {
      asked.push("end of turn");
      return [];
    },
    leave: async () => void asked.push("leave"),
  });
  await using model = await modelServer([
    ...[says("hello"), says("selected"), says("a table"), calls(python("1")), says("run"), says("again")],
  ]);
  await using yard = await startYard({ model, openSandbox });
  const id = await newConversation(yard);
  await yard.ask("hi", { conversation: id });
  await must(yard.client.upload(id, "a.csv", Buffer.from("x\n1\n")));
  const selected = { text: "look", mode: "queue", selected: ["a.csv"] } as const;
  await must(yard.engine.send(await must(yard.log.find(localOwner, id)), selected));
  await yard.whenAtRest(id);
  const body = { text: "look", mode: "queue" as const, files: ["uploads/a.csv"] };
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await yard.whenAtRest(id);
  await yard.ask("compute", { conversation: id });
  await yard.ask("and now?", { conversation: id });
  await must(yard.client.call("resetConversation", { params: { id } }));
  await must(yard.client.call("deleteConversation", { params: { id } }));
  const expected = [
    ...["prewarm root", "prewarm root", "prewarm root python", "prewarm root python", "prewarm root", "end of turn"],
    ...["prewarm root python", "reset root", "leave"],
  ];
  // Who removes the files makes sure once more that nobody works in them.
  assert.deepEqual(asked.slice(0, expected.length), expected);
});

test("without a sandbox the model is told why no code runs, and the turn goes on [X3]", async () => {
  await using model = await modelServer([calls(python("1")), says("Without code, then.")]);
  await using yard = await startYard({ model });
  const { events, answer } = await yard.ask("compute");
  assert.match(
    results(events)[0] ?? "",
    /^error: Error: sandbox_unavailable: Code cannot be run here: There is no sandbox/,
  );
  assert.equal(answer, "Without code, then.");
});

const table = "city,units\nOslo,12\nRio,\nOslo,30\n";
for (const [language, message, profile, chart] of [
  [
    "English",
    "profile it",
    /`uploads\/data\.csv`: 3 rows, 2 columns\.[\s\S]*\| units \| number \| 2 \| 1 \| 12 \| 30 \| 21 \| 21 \| 42 \|/,
    "outputs/data-chart.png",
  ],
  [
    "Chinese",
    "分析一下",
    /`uploads\/data\.csv`：共 3 行，2 列。[\s\S]*\| units \| 数字 \| 2 \| 1 \| 12 \| 30 \| 21 \| 21 \| 42 \|/,
    "outputs/data-图表.png",
  ],
] as const) {
  test(`the demo model profiles a table for real and draws a chart, in ${language} [M5][X6][X1]`, skip, async () => {
    await using yard = await startYard(real);
    const id = await newConversation(yard);
    await must(yard.client.upload(id, "data.csv", Buffer.from(table)));
    const body = { text: message, mode: "queue" as const, files: ["uploads/data.csv"] };
    await must(yard.client.call("sendMessage", { params: { id }, body }));
    const { answer, events } = await yard.whenAtRest(id);
    assert.match(answer, profile);
    if (!answer.includes(chart)) return assert.match(answer, /matplotlib/, "only where it is not installed");
    assert.deepEqual(
      all(events, "file.changed").flatMap(({ path, by }) => (by === "tool" ? path : [])),
      [chart],
    );
    assert.match(filesOf(yard, id)[chart.slice("outputs/".length)] ?? "", /^\d+ \x89PNG/);
  });
}

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
