import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { OwnerId } from "../../src/protocol/ids.ts";
import { until } from "../world/events.ts";
import { cannotStart, isRoot } from "./sandbox-guests.ts";
import { openGround, report, told } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

const real = { skip: cannotStart };

test(
  "Python remembers between executions until it is reset, and a report has all that is promised [X1]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    assert.deepEqual(told(await report(ground, place, "python", "x = 41")), {
      ...{ how: "done", exitCode: 0, stdout: "", stderr: "" },
    });
    const second = await report(ground, place, "python", "print(x + 1)\nopen('outputs/a.csv', 'w').write('1,2')\nx");
    assert.deepEqual(
      { ...told(second), value: second.value, changes: second.changes.map(({ path, after }) => [path, after?.bytes]) },
      { how: "done", exitCode: 0, stdout: "42\n", stderr: "", value: "41", changes: [["outputs/a.csv", 3]] },
    );
    assert.ok(second.endedAt >= second.startedAt && second.metrics.memoryPeakBytes > 0);
    await ground.sandbox.reset(place);
    assert.match((await report(ground, place, "python", "x")).stderr.text, /NameError/);
    assert.equal(ground.provider.opened(), 1);
  },
);

test(
  "two users with two conversations each see nothing of each other, whatever they do at once [X4][S5]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const places = await Promise.all(
      [alice, bob].flatMap((owner) => ["c1", "c2"].map((id) => ground.place(id, owner))),
    );
    const secret = (index: number) => `secret-${index}`;
    await Promise.all(
      places.map((place, index) =>
        report(ground, place, "python", `v = "${secret(index)}"; open("outputs/${secret(index)}", "w").write(v)`),
      ),
    );
    const look = `
import os
found = []
for folder, _, files in os.walk("/workspace"):
    found += files
print(sorted(n for n in found if n.startswith("secret")), v, len([p for p in os.listdir("/proc") if p.isdigit()]) < 6)`;
    const seen = await Promise.all(places.map((place) => report(ground, place, "python", look)));
    assert.deepEqual(
      seen.map(({ stdout }) => stdout.text),
      places.map((_, index) => `['${secret(index)}'] ${secret(index)} True\n`),
    );
    assert.equal(ground.provider.opened(), 4);
  },
);

test(
  "twenty executions at once in a new conversation start one guest and all have their say [X1][X4]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const reports = await Promise.all(
      Array.from({ length: 20 }, (_, index) => report(ground, place, "bash", `echo ${index}`)),
    );
    assert.deepEqual(
      reports.map(({ stdout }) => stdout.text),
      Array.from({ length: 20 }, (_, index) => `${index}\n`),
    );
    assert.deepEqual([ground.provider.opened(), ground.sandbox.load()], [1, { guests: 1, running: 0, waiting: 0 }]);
  },
);

test(
  "long output is shown by its beginning and end, and all of it lies in a file that is not the program's [X1]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const code = "print('é' * 50_000); open('outputs/mine.txt', 'w').close()";
    const { stdout, stderr, changes } = await report(ground, place, "python", code, { shownBytesMax: 1001 });
    assert.deepEqual(stderr, { text: "", cutBytes: 0, path: undefined });
    assert.equal(stdout.text, `${"é".repeat(250)}\n[…]\n${"é".repeat(249)}\n`);
    assert.equal(stdout.cutBytes, 100_001 - 500 - 499);
    assert.match(stdout.path ?? "", /^temp\/output-[0-9a-f]{32}-stdout\.txt$/);
    assert.equal(
      unwrap((await place.workspace?.read(stdout.path ?? "")) ?? stop()).bytes.toString(),
      `${"é".repeat(50_000)}\n`,
    );
    assert.deepEqual(
      changes.map(({ path }) => path),
      ["outputs/mine.txt"],
    );
    assert.deepEqual(await ground.sandbox.endTurn(place), []);
  },
);

test(
  "what a program left in the background ends with the turn, and what it did until then is told [X1][W12]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const code = "(sleep 0.2; echo late > outputs/late.txt; touch temp/on; exec sleep 100) >/dev/null 2>&1 &";
    assert.deepEqual((await report(ground, place, "bash", code)).changes, []);
    await until("it has written", async () => (await place.workspace?.stat("temp/on"))?.ok === true);
    const changes = await ground.sandbox.endTurn(place);
    assert.deepEqual(
      changes.map(({ path }) => path),
      ["outputs/late.txt", "temp/on"],
    );
    assert.equal((await report(ground, place, "bash", "pgrep sleep || echo none")).stdout.text, "none\n");
  },
);

test("programs end with their time, with their caller's signal, and when they are killed [X1]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  assert.equal((await report(ground, place, "bash", "sleep 100", { timeoutMs: 200 })).how, "timeout");
  const controller = new AbortController();
  const wanted = { language: "bash", code: "echo on; sleep 100", timeoutMs: 20_000 } as const;
  const cancelled = unwrap(await ground.sandbox.run(place, { ...wanted, signal: controller.signal }));
  for await (const { text } of cancelled.output) if (text === "on\n") controller.abort();
  assert.deepEqual(told(await cancelled.report), { how: "cancelled", exitCode: undefined, stdout: "on\n", stderr: "" });
  const killed = unwrap(await ground.sandbox.run(place, wanted));
  for await (const _ of killed.output) killed.kill();
  assert.equal((await killed.report).how, "killed");
});

test("an execution that is cancelled before its turn came never starts [X1]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const signal = AbortSignal.abort();
  assert.equal((await report(ground, place, "bash", "echo on", { signal })).how, "cancelled");
  assert.equal(ground.provider.opened(), 0);
});

test("a guest that crashed is replaced at the next use [X1][X4]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const memory = "x = []\nwhile True: x.append(bytearray(10_000_000))";
  const { how } = await report(ground, place, "python", memory);
  // Without control groups Python itself is told that there is no more, and goes on.
  assert.ok(["out_of_memory", "lost", ...(isRoot ? [] : ["done"])].includes(how), how);
  assert.equal((await report(ground, place, "python", "print(1)")).stdout.text, "1\n");
});

test("leaving a conversation ends its guests and programs, and those of no other [S6]", real, async (t) => {
  const ground = await openGround(t);
  const [left, other] = [await ground.place("c1"), await ground.place("c2")];
  const wanted = { language: "bash", code: "echo on; sleep 100", timeoutMs: 20_000 } as const;
  const [first, second] = [
    unwrap(await ground.sandbox.run(left, wanted)),
    unwrap(await ground.sandbox.run(other, wanted)),
  ];
  for await (const _ of first.output) break;
  await ground.sandbox.leave(left.row.number);
  assert.equal((await first.report).how, "cancelled");
  assert.deepEqual(ground.sandbox.load(), { guests: 1, running: 1, waiting: 0 });
  second.kill();
  assert.equal((await second.report).how, "killed");
});

test("a stopped session ends programs and never files; the next use revives it under its id [S1]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const created = unwrap(await ground.sandbox.sessions.create(alice, { dialect: "seed" }));
  assert.deepEqual([created.id, created.status, created.generation], ["sb-session-alice", "running", 1]);
  assert.deepEqual(await ground.sandbox.sessions.create(alice, { dialect: "seed" }), {
    ok: false,
    failure: { code: "session_exists", params: { id: "sb-session-alice" }, retryable: false },
  });
  await report(ground, place, "python", "x = 1; open('outputs/kept', 'w').write('kept')");
  const stopped = unwrap(await ground.sandbox.sessions.stop(alice));
  assert.deepEqual([stopped?.status, ground.sandbox.load().guests], ["stopped", 0]);
  const again = await report(ground, place, "python", "print('x' in globals(), open('outputs/kept').read())");
  assert.equal(again.stdout.text, "False kept\n");
  const revived = await ground.sandbox.sessions.find(alice);
  assert.deepEqual([revived?.id, revived?.status, revived?.generation], ["sb-session-alice", "running", 2]);
});

test("a session gives its programs its variables and limits, which only ever tighten [S1][X4]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  // On a busy machine bash would take all of a shorter time to begin.
  const wanted = { dialect: "public", id: "mine", env: { COLOUR: "red" }, executionTimeoutMs: 3_000 } as const;
  const limits = { outputBytesMax: 5, memoryBytes: 2 ** 50 };
  const uploads = { fileBytesMax: 10 ** 9, filesMax: 3, types: ["csv", "exe"] };
  const session = unwrap(await ground.sandbox.sessions.create(alice, { ...wanted, limits, uploads }));
  assert.deepEqual(
    [session.limits.memoryBytes, session.limits.outputBytesMax, session.uploads, session.executionTimeoutMs],
    [400 * 2 ** 20, 5, { fileBytesMax: 1000, filesMax: 3, types: ["csv"] }, 3_000],
  );
  const run = () => report(ground, place, "bash", "echo $COLOUR-and-more; sleep 100");
  let ran = await run();
  for (let tries = 1; ran.stdout.text === "" && tries < 5; tries += 1) ran = await run();
  const { how, stdout } = ran;
  assert.deepEqual([how, stdout.text, stdout.cutBytes], ["timeout", "red-a\n[…]\nmore\n", 3]);
});

test(
  "a place without a conversation sees none, and a task's agents see only their own files [X1][X2][S5]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const { row, ...place } = await ground.place("c1");
    await report(ground, place, "bash", "echo mine > outputs/mine");
    const bare = { ...place, conversation: undefined, workspace: undefined };
    const look = "find /workspace -name mine | wc -l";
    assert.equal((await report(ground, bare, "bash", look)).stdout.text, "0\n");
    unwrap(await ground.workspaces.assignTask(row, { agent: "task1", parent: "root" }));
    const task = { ...place, workspace: unwrap(await ground.workspaces.taskOf(row, "task1")), agent: "task1" };
    const inTask = await report(ground, task, "bash", `${look}; echo theirs > at-the-root`);
    assert.deepEqual([inTask.stdout.text, inTask.changes.map(({ path }) => path)], ["0\n", ["at-the-root"]]);
    assert.equal(ground.provider.opened(), 3);
  },
);

test("a prewarmed guest is the one that the first program gets, with Python ready [X1]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  ground.sandbox.prewarm(place, "python");
  await until("it is there", () => ground.sandbox.load().guests === 1);
  assert.equal((await report(ground, place, "python", "print(1)")).stdout.text, "1\n");
  assert.equal(ground.provider.opened(), 1);
});

test(
  "code that is too long and folders that lead outside are refused before anything starts [X1][X4]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const refusal = async (code: string, folder?: string) => {
      const run = await ground.sandbox.run(place, { language: "bash", code, timeoutMs: 1000, folder });
      return run.ok ? "it ran" : [run.failure.code, run.failure.params];
    };
    const limitBytes = 4 * 2 ** 20;
    assert.deepEqual(
      [
        await refusal("#".repeat(limitBytes + 1)),
        await refusal("pwd", "../c2"),
        await refusal("pwd", "/etc"),
        await refusal("pwd", "a\0b"),
      ],
      [
        ["code_too_long", { sizeBytes: limitBytes + 1, limitBytes }],
        ["path_traversal_blocked", { path: "../c2" }],
        ["path_traversal_blocked", { path: "/etc" }],
        ["path_invalid", { path: '"a\\u0000b"', why: "control_character" }],
      ],
    );
    assert.equal(ground.provider.opened(), 0);
    assert.equal(
      (await report(ground, place, "bash", "pwd", { folder: "outputs" })).stdout.text,
      "/workspace/c1/outputs\n",
    );
  },
);

test("nothing of the host is left when the service is closed, whatever was running [X3][X4]", real, async (t) => {
  const ground = await openGround(t);
  const owner = OwnerId.parse("carol");
  const place = await ground.place("c1", owner);
  const code = "echo on; trap '' TERM INT; while true; do sleep 1; done";
  const run = unwrap(await ground.sandbox.run(place, { language: "bash", code, timeoutMs: 60_000 }));
  for await (const _ of run.output) break;
  const before = readdirSync("/proc/self/fd").length;
  await ground.sandbox.close();
  assert.deepEqual(
    [(await run.report).how, ground.sandbox.load()],
    ["cancelled", { guests: 0, running: 0, waiting: 0 }],
  );
  // Others in this process may open something meanwhile.
  await until("descriptors are given back", () => readdirSync("/proc/self/fd").length < before);
});

function stop(): never {
  throw new Error("the place has a workspace");
}
