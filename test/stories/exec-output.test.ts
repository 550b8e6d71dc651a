import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { type Home, makeHome } from "../world/program.ts";

// What `agentyard exec` hands on of long outputs, and how it ends where a program went too far.

test("a reader that is much slower than the program gets every line of it [P2][X1]", async (t) => {
  const home = makeHome(t);
  const code = "for i in range(1_500_000): print(i)\nopen('outputs/over', 'w').close()";
  const program = home.start("exec", "--conversation", "slow", code);
  await once(program.child.stdout, "data");
  program.child.stdout.pause();
  await untilThere(home, "outputs/over");
  program.child.stdout.resume();
  const { code: exit, output, errors } = await program.ended;
  assert.deepEqual([exit, errors], [0, "+ outputs/over (0 bytes)\n"]);
  const lines = output.split("\n");
  const wrong = lines.findIndex((line, index) => line !== (index < 1_500_000 ? String(index) : ""));
  assert.deepEqual([lines.length, wrong], [1_500_001, -1]);
});

test("of more than is kept exec hands on the beginning and the end, and says how much is missing [P2][X4]", async (t) => {
  const home = makeHome(t, { env: { AGENTYARD_SANDBOX_OUTPUT_BYTES_MAX: "1000000" } });
  await home.serve();
  const code = "print('x' * 3_000_000, end='')";
  const [kept, missing] = ["x".repeat(1_000_000 + 65_536), 2_000_000 - 65_536];
  const ended = await home.start("exec", code).ended;
  assert.deepEqual(ended, {
    code: 0,
    output: kept,
    errors: `! ${missing} bytes of stdout are missing: more came than is kept (sandbox.output_bytes_max).\n`,
  });
  const talk = await home.start("exec", "--lang", "zh", "--conversation", "talk", code).ended;
  const [, path = ""] = /^! stdout 缺少 1934464 字节：.*保留的部分在 (temp\/\S+\.txt)。\n$/.exec(talk.errors) ?? [];
  assert.deepEqual([talk.code, talk.output], [0, kept]);
  const json = JSON.parse((await home.start("exec", "--json", "--conversation", "talk", code).ended).output);
  assert.match(json.stdoutPath, /^temp\/output-\w+-stdout\.txt$/);
  assert.deepEqual([json.isStdoutCut, json.stderrPath], [true, null]);
  const read = await home.start("exec", "--conversation", "talk", `print(len(open('${path}').read()))`).ended;
  assert.deepEqual(read, { code: 0, output: "1000000\n", errors: "" });
});

const full = { env: { AGENTYARD_WORKSPACE_BYTES_MAX: "2000000" } };

test("a program that leaves too much behind ends with its own exit code, and exec says so [P2][X4]", async (t) => {
  for (const exit of [0, 3]) {
    const code = `head -c 3000000 /dev/zero > outputs/big; exit ${exit}`;
    const ended = await makeHome(t, full).start("exec", "--language", "bash", "--conversation", "talk", code).ended;
    assert.deepEqual(ended, {
      code: exit,
      output: "",
      errors:
        "+ outputs/big (2.9 MB)\n! The workspace now holds more than it may: delete files that are no longer needed.\n",
    });
  }
  const code = "print('done')\nopen('outputs/big', 'wb').write(bytes(3_000_000))";
  const told = await makeHome(t, full).start("exec", "--json", "--conversation", "talk", code).ended;
  const { how, exitCode, signal, error, isOverLimit, exit } = JSON.parse(told.output);
  assert.deepEqual(
    { how, exitCode, signal, error, isOverLimit, exit },
    { how: "done", exitCode: 0, signal: null, error: null, isOverLimit: true, exit: 0 },
  );
});

test("a program that goes on writing without room is killed: 137, and the reason [P2][X4]", async (t) => {
  const code = "while true; do head -c 100000 /dev/zero >> outputs/big; sleep 0.01; done";
  const told = await makeHome(t, full).start("exec", "--json", "--language", "bash", "--conversation", "talk", code)
    .ended;
  const { how, exitCode, error, exit } = JSON.parse(told.output);
  assert.deepEqual(
    { how, exitCode, error, exit },
    {
      ...{ how: "killed", exitCode: null, exit: 137 },
      error: {
        kind: "disk_full",
        message: "There is no room left in the workspace; the program was ended.",
        retryable: false,
      },
    },
  );
  assert.equal(told.code, 137);
});

test("a signal that ends a program is told by 128 and its number [P2][X1]", async (t) => {
  const home = makeHome(t);
  const bash = await home.start("exec", "--language", "bash", "echo last >&2; kill -TERM $$").ended;
  assert.deepEqual(bash, { code: 143, output: "", errors: "last\n✗ The program was ended by SIGTERM.\n" });
  const python = await home.start("exec", "--json", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").ended;
  const { how, signal, exit, error } = JSON.parse(python.output);
  assert.deepEqual(
    { how, signal, exit, error },
    {
      ...{ how: "killed", signal: "SIGSEGV", exit: 139 },
      error: { kind: "killed", message: "The program was ended by SIGSEGV.", retryable: false },
    },
  );
});

/** Asks until the file is there: the program has said everything then. */
async function untilThere(home: Home, path: string): Promise<void> {
  for (;;) {
    const { output } = await home.start("exec", "--conversation", "slow", `import os; print(os.path.exists('${path}'))`)
      .ended;
    if (output === "True\n") return;
  }
}
