import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, typedHere } from "../world/program.ts";

// `agentyard exec` as scripts start it: the real program, the real sandbox.

test("what a program says and how it ends is what exec says and how it ends [P2][X1]", async (t) => {
  const home = makeHome(t);
  const code = "import sys; print('你好'); print('why', file=sys.stderr); sys.exit(3)";
  assert.deepEqual(await home.start("exec", code).ended, { code: 3, output: "你好\n", errors: "why\n" });
});

const ways: readonly (readonly [says: string, words: readonly string[], file: string | undefined, piped: string])[] = [
  ["bash that is named", ["--language", "bash", "echo $((6*7))"], undefined, ""],
  ["JavaScript from a file, known by its ending", ["--file", "a.mjs"], "console.log(6 * 7)", ""],
  ["Python that is piped in", [], undefined, "print(6*7)"],
  ["code that is waited for by -", ["-"], undefined, "print(6 * 7)"],
];
for (const [says, words, file, piped] of ways) {
  test(`exec runs ${says} [P2][X1]`, async (t) => {
    const home = makeHome(t);
    if (file !== undefined) writeFileSync(join(home.folder, "a.mjs"), file);
    const program = home.start("exec", ...words);
    program.child.stdin.end(piped);
    assert.deepEqual(await program.ended, { code: 0, output: "42\n", errors: "" });
  });
}

test("with a conversation the program has its files, and exec names those that it made [P2][X1][S4]", async (t) => {
  const home = makeHome(t);
  const write = "open('/workspace/talk-1/outputs/a.txt', 'w').write('x' * 2000)";
  const wrote = await home.start("exec", "--conversation", "talk-1", write).ended;
  assert.deepEqual(wrote, { code: 0, output: "", errors: "+ outputs/a.txt (2.0 KB)\n" });
  const read = "print(open('outputs/a.txt').read().count('x'))";
  const found = await home.start("exec", "--conversation", "talk-1", read).ended;
  assert.deepEqual(found, { code: 0, output: "2000\n", errors: "" });
  const other = await home.start("exec", "--conversation", "talk-2", "import os; print(os.listdir('outputs'))").ended;
  assert.deepEqual(other, { code: 0, output: "[]\n", errors: "" });
});

test("a program whose time is over ends exec with 124, and what it said before is there [P2][X1]", async (t) => {
  const home = makeHome(t, { env: { AGENTYARD_LANG: "zh" } });
  const run = (seconds: number) =>
    home.start("exec", "--language", "bash", "--timeout", String(seconds), "echo first; sleep 60").ended;
  let seconds = 1;
  let ended = await run(seconds);
  // On a busy machine bash would take all of a short time to begin.
  for (; ended.output === "" && seconds < 16; ended = await run(seconds)) seconds *= 2;
  assert.deepEqual(ended, {
    ...{ code: 124, output: "first\n" },
    errors: `✗ 运行 ${seconds} 秒后已停止。可用 --timeout 延长。\n`,
  });
});

test("output comes while the program runs; Ctrl+C stops it and ends exec with 130 [P2][X1]", async (t) => {
  const program = makeHome(t).start(
    "exec",
    "--timeout",
    "600",
    "print('begun', flush=True)\nimport time\ntime.sleep(500)",
  );
  await program.until("output", /^begun\n/);
  program.child.kill("SIGINT");
  const { code, errors } = await program.ended;
  assert.equal(code, 130);
  assert.match(errors, /✗ Stopped\.\n$/);
});

test("when nobody reads on, the program is stopped [P2][X1]", async (t) => {
  const program = makeHome(t).start("exec", "--language", "bash", "--timeout", "600", "yes");
  await program.until("output", /^y\n/);
  program.child.stdout.destroy();
  assert.equal((await program.ended).code, 130);
});

test("a program that is killed ends exec with 137 and says why [P2][X4]", async (t) => {
  const killed = await makeHome(t).start("exec", "--language", "bash", "kill -9 $$").ended;
  assert.deepEqual(killed, { code: 137, output: "", errors: "✗ The program was ended by SIGKILL.\n" });
});

test("exec --json prints one object and nothing else [P2][X1]", async (t) => {
  const code = "open('outputs/b.csv','w').write('a')\nprint('said')\n6*7";
  const ended = await makeHome(t).start("exec", "--json", "--conversation", "talk", code).ended;
  const { executionId, durationMs, files, ...rest } = JSON.parse(ended.output);
  assert.deepEqual([ended.code, ended.errors], [0, ""]);
  assert.match(executionId, /^[\w-]{8,}$/);
  assert.ok(durationMs > 0);
  assert.deepEqual(
    files.map(({ sha256, type: _, ...file }: { sha256: string; type: string }) => ({
      ...file,
      hash: sha256.slice(0, 8),
    })),
    [{ path: "outputs/b.csv", size: 1, hash: "ca978112", isNew: true }],
  );
  assert.deepEqual(rest, {
    ...{ conversationId: "talk", how: "done", exitCode: 0, stdout: "said\n", stderr: "" },
    ...{ signal: null, isStdoutCut: false, isStderrCut: false, stdoutPath: null, stderrPath: null, value: "42" },
    ...{ returnValue: null, removedFiles: [], isOverLimit: false, error: null, exit: 0 },
  });
});

test("what cannot be run is refused in the user's language, as an object too [P2][P4]", async (t) => {
  const home = makeHome(t);
  const none = home.start("exec", "--lang", "zh");
  none.child.stdin.end();
  const { code, errors } = await none.ended;
  assert.equal(code, 2);
  assert.match(errors, /^✗ exec 需要代码/);
  const lost = await home.start("exec", "--file", "nowhere.py").ended;
  assert.deepEqual([lost.code, lost.output], [2, ""]);
  assert.equal(lost.errors, `✗ nowhere.py: there is no such file. \`${typedHere} exec --help\` shows what there is.\n`);

  const refused = await home.start("exec", "--json", "--conversation", "../up", "1").ended;
  const { how, exitCode, error, exit } = JSON.parse(refused.output);
  assert.deepEqual([refused.code, how, exitCode, error.kind, exit], [2, "refused", null, "usage", 2]);
  assert.match(refused.errors, /^✗ --conversation cannot be “\.\.\/up”; an id has 1 to 64 letters /);
  const wrong = await home.start("exec", "--json", "--bogus", "1").ended;
  assert.deepEqual([wrong.code, JSON.parse(wrong.output).error.kind, JSON.parse(wrong.output).exit], [2, "usage", 2]);
});

test("when there is no room for a program, exec says so, and that it may be tried again [P2][X4]", async (t) => {
  const env = { AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX: "1", AGENTYARD_SANDBOX_WAIT_SECONDS_MAX: "0.3" };
  const home = makeHome(t, { env });
  const first = home.start("exec", "--timeout", "600", "print('begun', flush=True)\nimport time\ntime.sleep(500)");
  await first.until("output", /^begun\n/);
  const refused = await home.start("exec", "--json", "--conversation", "other", "1").ended;
  const { how, error, exit } = JSON.parse(refused.output);
  assert.deepEqual([refused.code, how, error.kind, error.retryable, exit], [125, "refused", "sandbox_busy", true, 125]);
  const said = await home.start("exec", "--conversation", "other", "1").ended;
  assert.match(said.errors, /^✗ As many of your programs are running as may: 1\. Try again in 2 s/);
  first.child.kill("SIGINT");
});
