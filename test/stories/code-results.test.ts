import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { filesOf, newConversation } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

const skip = { skip: cannotRunCode };
const python = (code: string): [string, object] => ["execute_code", { code }];
const bash = (command: string): [string, object] => ["run_bash_command", { command }];
const write = (path: string): [string, object] => ["write_file", { path, content: "mine\n" }];

/** What models are told, in the order of their calls. */
function results(events: readonly LogEvent[]): string[] {
  const asked = all(events, "message.assistant").flatMap(({ calls: made = [] }) => made.map(({ id }) => id));
  const finished = all(events, "call.finished").toSorted((a, b) => asked.indexOf(a.call) - asked.indexOf(b.call));
  return finished.map(({ outcome, text }) => `${outcome}: ${withoutMarks(text)}`);
}

test(
  "a file of the user that only a program has touched is not replaced before the model saw it [F2][X1]",
  skip,
  async () => {
    await using model = await modelServer([
      calls(bash("echo extra >> uploads/notes.txt; echo made > outputs/made.txt; touch uploads/other.txt")),
      calls(write("uploads/notes.txt"), write("outputs/made.txt"), write("uploads/other.txt")),
      calls(write("uploads/notes.txt")),
      says("done"),
    ]);
    await using yard = await startYard({ model, runsCode: true, approves: true });
    const id = await newConversation(yard);
    for (const name of ["notes.txt", "other.txt"])
      await must(yard.client.upload(id, name, Buffer.from("the user's\n")));
    const [, ...told] = results((await yard.ask("note", { conversation: id })).events);
    const unseen = (path: string) => new RegExp(`^error: Error: conflict: ${path} has content that you have not seen`);
    assert.match(told[0] ?? "", unseen("uploads/notes.txt"));
    assert.match(told[0] ?? "", /the user's\nextra/);
    assert.match(told[1] ?? "", /^ok: Success: File written to outputs\/made\.txt .*, replaced$/);
    assert.match(told[2] ?? "", unseen("uploads/other.txt"));
    assert.match(told[3] ?? "", /^ok: Success: File written to uploads\/notes\.txt .*, replaced$/);
  },
);

test("a model that filled its workspace can empty it again [X4][X1]", skip, async () => {
  await using model = await modelServer([
    calls(bash("head -c 9000000 /dev/zero > outputs/z; ls outputs")),
    calls(bash("ls outputs")),
    calls(bash("rm outputs/z")),
    calls(python("open('outputs/ok.txt', 'w').write('ok')")),
    says("done"),
  ]);
  await using yard = await startYard({
    model,
    runsCode: true,
    approves: true,
    env: { AGENTYARD_WORKSPACE_BYTES_MAX: "8388608" },
  });
  const { events, conversation } = await yard.ask("fill");
  const [filled, ...told] = results(events);
  // Whether it came to its own end or was ended depends on the machine.
  assert.match(filled ?? "", /holds more than it may|no room left in the workspace/);
  assert.deepEqual(
    told.map((text) => [text.includes("[exit code 0, "), text.includes("holds more than it may")]),
    [
      [true, true],
      [true, false],
      [true, false],
    ],
  );
  assert.deepEqual(Object.keys(await filesOf(yard, conversation)), ["ok.txt"]);
});

test(
  "programs of one answer run side by side, and their files are told as those of all of them [X1]",
  skip,
  async () => {
    const meets = (own: string, other: string) =>
      bash(`touch outputs/${own}; until [ -e outputs/${other} ]; do sleep 0.02; done`);
    await using model = await modelServer([
      calls(meets("a", "b"), meets("b", "a")),
      calls(bash("echo > temp/c")),
      says("ok"),
    ]);
    await using yard = await startYard({ model, runsCode: true, approves: true });
    const [first = "", second = "", alone = ""] = results((await yard.ask("meet")).events);
    const lines = [first, second].flatMap((text) => text.split("\n").filter((line) => /^(Files|\+)/.test(line)));
    assert.deepEqual([...new Set(lines)].toSorted(), [
      ...["+ outputs/a (0 bytes)", "+ outputs/b (0 bytes)", "Files (also by programs that ran at the same time):"],
    ]);
    assert.match(alone, /\nFiles:\n\+ temp\/c \(1 bytes\)$/);
  },
);

test(
  "a model that prints bytes, writes where it may not and uses the path that code knows is told what to do [X1][R1]",
  skip,
  async () => {
    await using model = await modelServer();
    await using yard = await startYard({ model, runsCode: true, approves: true });
    const id = await newConversation(yard);
    const full = `/workspace/${id}/outputs/t.txt`;
    model.answerWith([
      calls(bash("head -c 300000 /dev/urandom"), python("open('t.txt', 'w')")),
      calls(python(`open('${full}', 'w').write('text')`)),
      calls(["read_file", { path: full }], ["python", { code: "```python\n1 + 1\n```" }]),
      says("done"),
    ]);
    const [bytes = "", refused = "", , path = "", value = ""] = results(
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
  },
);
