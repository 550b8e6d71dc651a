import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome } from "../world/program.ts";
import { openPty } from "../world/pty.ts";
import { cannotRunCode } from "../world/sandbox.ts";

// What `agentyard exec` says beside the program, and what a terminal gets of the program's own words.

const options = { skip: cannotRunCode };
const unnamed = "No conversation was named, so no files are there and none are kept: --conversation ID\n";

test("whoever looks for files without naming a conversation is told how to name one [P2][X1]", options, async (t) => {
  const home = makeHome(t);
  await home.serve();
  const code = 'open("/workspace/my-data/outputs/x")';
  const ways = [
    [code],
    ["open('outputs/x', 'w')"],
    ["--language", "bash", "cat uploads/a.csv"],
    ["--language", "javascript", "require('node:fs').readFileSync('uploads/a.csv')"],
  ];
  for (const words of ways) {
    const { code: exit, errors } = await home.start("exec", ...words).ended;
    assert.deepEqual([exit, errors.endsWith(`\n${unnamed}`)], [1, true], errors);
  }
  const told = JSON.parse((await home.start("exec", "--json", code).ended).output);
  assert.equal(
    `${told.error.message}\n`,
    `FileNotFoundError: [Errno 2] No such file or directory: '/workspace/my-data/outputs/x' ${unnamed}`,
  );
  const other = await home.start("exec", "--conversation", "talk", "open('outputs/x')").ended;
  assert.deepEqual([other.code, other.errors.includes("--conversation")], [1, false]);
});

test("a figure that nobody will see is not lost in silence [P2][X6]", options, async (t) => {
  const code = "import matplotlib.pyplot as plt; plt.plot([1]); plt.show()";
  assert.deepEqual(await makeHome(t).start("exec", code).ended, { code: 0, output: "", errors: unnamed });
});

test(
  "where the installation allows less time than was asked for, its setting is named [P2][P4][X4]",
  options,
  async (t) => {
    const home = makeHome(t, { env: { AGENTYARD_SANDBOX_EXECUTION_SECONDS_MAX: "1" } });
    await home.serve();
    const sleep = ["--language", "bash", "sleep 60"];
    const said = "✗ Stopped after 1 s: no program may run longer here (sandbox.execution_seconds_max).\n";
    for (const words of [["--timeout", "10"], []]) {
      assert.deepEqual(await home.start("exec", ...words, ...sleep).ended, { code: 124, output: "", errors: said });
    }
    const own = await home.start("exec", "--timeout", "1", ...sleep).ended;
    assert.deepEqual(own.errors, "✗ Stopped after 1 s. --timeout gives it longer.\n");
  },
);

test("new, changed and removed files are told apart [P2][X1][S4]", options, async (t) => {
  const home = makeHome(t);
  await home.serve();
  const exec = (...words: string[]) =>
    home.start("exec", "--conversation", "talk", "--language", "bash", ...words).ended;
  await exec("cd outputs; echo a > kept; echo b > changed; echo c > removed");
  const change = "cd outputs; echo d > made; echo ee > changed; rm removed";
  assert.deepEqual(await exec(change), {
    code: 0,
    output: "",
    errors: "~ outputs/changed (3 bytes)\n+ outputs/made (2 bytes)\n- outputs/removed\n",
  });
  const told = JSON.parse((await exec("--json", "cd outputs; echo d > again; echo f > changed; rm made")).output);
  assert.deepEqual(
    [told.files.map(({ path, isNew }: { path: string; isNew: boolean }) => [path, isNew]), told.removedFiles],
    [
      [
        ["outputs/again", true],
        ["outputs/changed", false],
      ],
      ["outputs/made"],
    ],
  );
});

test("settings that are wrong end exec with 3 [P2][P5]", async (t) => {
  const home = makeHome(t);
  home.configure("sandbox:\n  output_bytes_max: nonsense\n");
  const { code, output, errors } = await home.start("exec", "1").ended;
  assert.deepEqual([code, output], [3, ""]);
  assert.match(errors, /sandbox\.output_bytes_max/);
});

test(
  "a terminal shows a program's colours and lines that count up, and nothing else that it would act upon [P2][X1]",
  options,
  async (t) => {
    const home = makeHome(t);
    const code = [
      "for i in range(3): print(f'\\r{i}%', end='')",
      "print('\\x1b[31', end='', flush=True)",
      "print('mred \\x1b[2J\\x1b]0;title\\x07 end')",
    ].join("\n");
    const show = async (env: Record<string, string>) => {
      const terminal = openPty({
        args: ["--data", join(home.folder, "data"), "exec", code],
        env: { HOME: home.folder, TMPDIR: home.folder, ...env },
        cwd: home.folder,
      });
      t.after(terminal.kill);
      assert.equal(await terminal.exited, 0);
      return terminal.raw();
    };
    const [counted, rest] = ["\r0%\r1%\r2%", "red ␛[2J␛]0;title␇ end\r\n"];
    assert.equal(await show({}), `${counted}\u001b[31m${rest}\u001b[0m`);
    assert.equal(await show({ NO_COLOR: "1" }), `${counted}${rest}`);
  },
);
