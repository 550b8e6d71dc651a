import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable, type Writable } from "node:stream";
import { after, before, type TestContext, test as testAlways } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { beginCommand, runCommand } from "../../src/terminal/terminal.ts";
import { type Language, wordsFor } from "../../src/words/words.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { makeHome } from "../world/program.ts";
import { keys, openPty } from "../world/pty.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { startYard, type TestYard } from "../world/yard.ts";

// `agentyard exec`: the command line, in this process, against servers with real sandboxes; its end by signals, as a program.

function test(says: string, shows: (t: TestContext) => Promise<void>): void {
  void testAlways(says, { skip: cannotRunCode }, shows);
}

/** One as it is, and one in which a test reaches the limits. */
let [yard, small]: readonly [TestYard?, TestYard?] = [];
before(async () => {
  if (cannotRunCode !== false) return;
  yard = await startYard({ runsCode: true });
  const limits = { OUTPUT_BYTES_MAX: "1000000", EXECUTIONS_PER_USER_MAX: "1", WAIT_SECONDS_MAX: "0.3" };
  const ofSandbox = Object.entries(limits).map(([name, value]) => [`AGENTYARD_SANDBOX_${name}`, value]);
  small = await startYard({
    ...{ runsCode: true, env: { ...Object.fromEntries(ofSandbox), AGENTYARD_WORKSPACE_BYTES_MAX: "2000000" } },
  });
});
after(async () => {
  await yard?.[Symbol.asyncDispose]();
  await small?.[Symbol.asyncDispose]();
});

type Given = {
  readonly at?: TestYard | undefined;
  readonly piped?: string;
  readonly language?: Language;
  readonly output?: Writable & { isTTY?: boolean };
  readonly color?: boolean;
  readonly folder?: string;
};

/** Starts the command. */
function start(words: readonly string[], given: Given = {}) {
  const { at = yard ?? assert.fail(), piped = "", language = "en", color = false, folder = "/" } = given;
  const written = { output: "", errors: "" };
  const output = given.output ?? new PassThrough().on("data", (bytes) => (written.output += bytes));
  const errors = new PassThrough().on("data", (bytes) => (written.errors += bytes));
  const leave = new AbortController();
  const streams = { input: Readable.from(piped === "" ? [] : [piped]), output, errors };
  const command = beginCommand(["exec", ...words], { ...streams, language, version: "0" });
  const run = async () => {
    if (command.name === "ended") return command.code;
    assert.ok(command.name === "exec");
    return runCommand(command, {
      ...{ ...streams, client: at.client, words: { ...wordsFor(language), command: "agentyard" }, clock: systemClock },
      ...{
        ids: systemIds,
        version: "0",
        color,
        hasKeys: true,
        leave: leave.signal,
        place: { folder, homeDir: folder },
      },
    });
  };
  const ended = run().then((code) => ({ code, ...written }));
  const hasSaid = (text: string) => until(`it says ${text}`, () => written.output.includes(text));
  return { ended, hasSaid, leave: () => leave.abort(), output };
}

const exec = (...words: string[]) => start(words).ended;
const execSmall = (...words: string[]) => start(words, { at: small }).ended;
const bash = ["--language", "bash"];
const said = (output: string) => ({ code: 0, output, errors: "" });

test("a program's words and its end are those of exec, in each language, however its code is given [P2][X1]", async (t) => {
  const folder = folderWith(t, { "a.mjs": "console.log(6 * 7)" });
  const code = "import sys; print('你好'); print('why', file=sys.stderr); sys.exit(3)";
  const cases: readonly (readonly [words: readonly string[], ended: object, piped?: string])[] = [
    [[code], { code: 3, output: "你好\n", errors: "why\n" }],
    [[...bash, "echo $((6*7))"], said("42\n")],
    [["--file", "a.mjs"], said("42\n")],
    [[], said("42\n"), "print(6*7)"],
    [["-"], said("42\n"), "print(6 * 7)"],
    [[...bash, "kill -9 $$"], { code: 137, output: "", errors: "✗ The program was ended by SIGKILL.\n" }],
    [
      [...bash, "echo last >&2; kill -TERM $$"],
      { code: 143, output: "", errors: "last\n✗ The program was ended by SIGTERM.\n" },
    ],
  ];
  for (const [words, ended, piped = ""] of cases)
    assert.deepEqual(await start(words, { piped, folder }).ended, ended, words.join(" "));
});

test("what cannot be run is refused in the user's language, as an object too [P2][P4]", async () => {
  const none = await start(["--lang", "zh"], { language: "zh" }).ended;
  assert.deepEqual([none.code, /^✗ exec 需要代码/.test(none.errors)], [2, true]);
  const lost = await exec("--file", "nowhere.py");
  assert.deepEqual(lost, {
    ...{ code: 2, output: "" },
    errors: "✗ nowhere.py: there is no such file. `agentyard exec --help` shows what there is.\n",
  });
  const refused = await exec("--json", "--conversation", "../up", "1");
  const { how, exitCode, error, exit } = JSON.parse(refused.output);
  assert.deepEqual([refused.code, how, exitCode, error.kind, exit], [2, "refused", null, "usage", 2]);
  assert.match(refused.errors, /^✗ --conversation cannot be “\.\.\/up”; an id has 1 to 64 letters /);
  const wrong = await exec("--json", "--bogus", "1");
  assert.deepEqual([wrong.code, JSON.parse(wrong.output).error.kind, JSON.parse(wrong.output).exit], [2, "usage", 2]);
});

test("exec --json prints one object and nothing else [P2][X1]", async () => {
  const code = "open('outputs/b.csv','w').write('a')\nprint('said')\n6*7";
  const ended = await exec("--json", "--conversation", "object", code);
  const { executionId, durationMs, files, ...rest } = JSON.parse(ended.output);
  assert.deepEqual([ended.code, ended.errors], [0, ""]);
  assert.match(executionId, /^[\w-]{8,}$/);
  assert.ok(durationMs > 0);
  const [{ sha256, type: _, ...file }] = files;
  assert.deepEqual([file, sha256.slice(0, 8)], [{ path: "outputs/b.csv", size: 1, isNew: true }, "ca978112"]);
  assert.deepEqual(rest, {
    ...{ conversationId: "object", how: "done", exitCode: 0, stdout: "said\n", stderr: "" },
    ...{ signal: null, isStdoutCut: false, isStderrCut: false, stdoutPath: null, stderrPath: null, value: "42" },
    ...{ returnValue: null, removedFiles: [], isOverLimit: false, error: null, exit: 0 },
  });
  const python = await exec("--json", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)");
  const { how, signal, exit, error } = JSON.parse(python.output);
  const message = "The program was ended by SIGSEGV.";
  assert.deepEqual(
    [how, signal, exit, error],
    ["killed", "SIGSEGV", 139, { kind: "killed", message, retryable: false }],
  );
});

test("with a conversation the program has its files; new, changed and removed ones are told apart [P2][X1][S4]", async () => {
  const inTalk = (...words: string[]) => exec("--conversation", "talk", ...words);
  const made = "+ outputs/a.txt (2.0 KB)\n";
  const write = "open('/workspace/talk/outputs/a.txt', 'w').write('x' * 2000)";
  assert.deepEqual(await inTalk(write), { code: 0, output: "", errors: made });
  assert.deepEqual(await inTalk("print(open('outputs/a.txt').read().count('x'))"), said("2000\n"));
  assert.deepEqual(await exec("--conversation", "talk-2", ...bash, "ls outputs"), said(""));
  await inTalk(...bash, "cd outputs; echo b > changed; echo c > removed");
  assert.deepEqual(await inTalk(...bash, "cd outputs; echo d > made; echo ee > changed; rm removed"), {
    ...{ code: 0, output: "" },
    errors: "~ outputs/changed (3 bytes)\n+ outputs/made (2 bytes)\n- outputs/removed\n",
  });
  const change = "cd outputs; echo d > again; echo f > changed; rm made";
  const told = JSON.parse((await inTalk(...bash, "--json", change)).output);
  const files = told.files.map(({ path, isNew }: { path: string; isNew: boolean }) => [path, isNew]);
  const expected = [
    ["outputs/again", true],
    ["outputs/changed", false],
  ];
  assert.deepEqual([files, told.removedFiles], [expected, ["outputs/made"]]);
});

test("whoever looks for files without naming a conversation is told how to name one [P2][X1][X6]", async () => {
  const unnamed = "No conversation was named, so no files are there and none are kept: --conversation ID\n";
  const code = 'open("/workspace/my-data/outputs/x")';
  const ways = [
    [code],
    ["open('outputs/x', 'w')"],
    [...bash, "cat uploads/a.csv"],
    ["--language", "javascript", "require('node:fs').readFileSync('uploads/a.csv')"],
  ];
  for (const words of ways) {
    const { code: exit, errors } = await exec(...words);
    assert.deepEqual([exit, errors.endsWith(`\n${unnamed}`)], [1, true], errors);
  }
  assert.equal(
    `${JSON.parse((await exec("--json", code)).output).error.message}\n`,
    `FileNotFoundError: [Errno 2] No such file or directory: '/workspace/my-data/outputs/x' ${unnamed}`,
  );
  const other = await exec("--conversation", "talk", "open('outputs/x')");
  assert.deepEqual([other.code, other.errors.includes("--conversation")], [1, false]);
  const figure = "import matplotlib.pyplot as plt; plt.plot([1]); plt.show()";
  assert.deepEqual(await exec(figure), { code: 0, output: "", errors: unnamed });
});

test("a program whose time is over ends exec with 124; where the installation allows less, its setting is named [P2][P4][X1][X4]", async () => {
  let [seconds, ended] = [1, said("")];
  // On a busy machine bash would take all of a short time to begin.
  for (; ended.output === "" && seconds < 16; seconds *= 2) {
    const words = [...bash, "--timeout", `${seconds}`, "echo first; sleep 60"];
    ended = await start(words, { language: "zh" }).ended;
  }
  const errors = `✗ 运行 ${seconds / 2} 秒后已停止。可用 --timeout 延长。\n`;
  assert.deepEqual(ended, { code: 124, output: "first\n", errors });

  await using short = await startYard({ runsCode: true, env: { AGENTYARD_SANDBOX_EXECUTION_SECONDS_MAX: "1" } });
  const sleep = async (...words: string[]) => start([...words, ...bash, "sleep 60"], { at: short }).ended;
  const bySetting = "✗ Stopped after 1 s: no program may run longer here (sandbox.execution_seconds_max).\n";
  const own = "✗ Stopped after 1 s. --timeout gives it longer.\n";
  const told = await Promise.all([sleep("--timeout", "10"), sleep(), sleep("--timeout", "1")]);
  assert.deepEqual(
    told,
    [bySetting, bySetting, own].map((line) => ({ code: 124, output: "", errors: line })),
  );
});

test("output comes while the program runs; Ctrl+C, or that nobody reads on, stops it: 130 [P2][X1]", async () => {
  const sleeper = start(["--timeout", "600", "print('begun', flush=True)\nimport time\ntime.sleep(500)"]);
  await sleeper.hasSaid("begun\n");
  sleeper.leave();
  const { code, errors } = await sleeper.ended;
  assert.deepEqual([code, errors.endsWith("✗ Stopped.\n")], [130, true]);
  const endless = start([...bash, "--timeout", "600", "yes"]);
  await endless.hasSaid("y\n");
  endless.output.destroy(Object.assign(new Error("nobody reads"), { code: "EPIPE" }));
  assert.equal((await endless.ended).code, 130);
});

test("a terminal shows a program's colours and lines that count up, and nothing else that it would act upon [P2][X1]", async () => {
  const code = [
    "for i in range(3): print(f'\\r{i}%', end='')",
    "print('\\x1b[31', end='', flush=True)",
    "print('mred \\x1b[2J\\x1b]0;title\\x07 end')",
  ].join("\n");
  const show = async (color: boolean) => {
    let raw = "";
    const output = Object.assign(new PassThrough(), { isTTY: true }).on("data", (bytes) => (raw += bytes));
    assert.equal((await start([code], { output, color }).ended).code, 0);
    return raw;
  };
  const [counted, rest] = ["\r0%\r1%\r2%", "red ␛[2J␛]0;title␇ end\n"];
  assert.equal(await show(true), `${counted}\u001b[31m${rest}\u001b[0m`);
  assert.equal(await show(false), `${counted}${rest}`);
});

test("when there is no room for a program, exec says so, and that it may be tried again [P2][X4]", async () => {
  const first = start(["--timeout", "600", "print('begun', flush=True)\nimport time\ntime.sleep(500)"], { at: small });
  await first.hasSaid("begun\n");
  const refused = await execSmall("--json", "--conversation", "other", "1");
  const { how, error, exit } = JSON.parse(refused.output);
  assert.deepEqual([refused.code, how, error.kind, error.retryable, exit], [125, "refused", "sandbox_busy", true, 125]);
  const { errors } = await execSmall("--conversation", "other", "1");
  assert.match(errors, /^✗ As many of your programs are running as may: 1\. Try again in \d s/);
  first.leave();
  await first.ended;
});

test("of more than is kept exec hands on the beginning and the end, and says how much is missing [P2][X4]", async () => {
  const code = "print('x' * 3_000_000, end='')";
  const [output, missing] = ["x".repeat(1_000_000 + 65_536), 2_000_000 - 65_536];
  const errors = `! ${missing} bytes of stdout are missing: more came than is kept (sandbox.output_bytes_max).\n`;
  assert.deepEqual(await execSmall(code), { code: 0, output, errors });
  const talk = await start(["--conversation", "cut", code], { at: small, language: "zh" }).ended;
  const [, path = ""] = /^! stdout 缺少 1934464 字节：.*保留的部分在 (temp\/\S+\.txt)。\n$/.exec(talk.errors) ?? [];
  assert.deepEqual([talk.code, talk.output], [0, output]);
  assert.deepEqual(await execSmall("--conversation", "cut", `print(len(open('${path}').read()))`), said("1000000\n"));
  const json = JSON.parse((await execSmall("--json", "--conversation", "cut-2", code)).output);
  assert.match(json.stdoutPath, /^temp\/output-\w+-stdout\.txt$/);
  assert.deepEqual([json.isStdoutCut, json.stderrPath], [true, null]);
});

test("a program that leaves too much behind ends with its own exit code; one that goes on writing is killed: 137 [P2][X4]", async () => {
  const big = "head -c 3000000 /dev/zero > outputs/big";
  const over = "! The workspace now holds more than it may: delete files that are no longer needed.\n";
  const ended = await execSmall(...bash, "--conversation", "big", `${big}; exit 3`);
  assert.deepEqual(ended, { code: 3, output: "", errors: `+ outputs/big (2.9 MB)\n${over}` });
  const left = JSON.parse((await execSmall(...bash, "--json", "--conversation", "big-2", big)).output);
  assert.deepEqual([left.how, left.exitCode, left.error, left.isOverLimit, left.exit], ["done", 0, null, true, 0]);
  const more = "while true; do head -c 100000 /dev/zero >> outputs/big; sleep 0.01; done";
  const killed = await execSmall(...bash, "--json", "--conversation", "big-3", more);
  const { how, exitCode, error, exit } = JSON.parse(killed.output);
  const message = "There is no room left in the workspace; the program was ended.";
  assert.deepEqual([killed.code, how, exitCode, exit], [137, "killed", null, 137]);
  assert.deepEqual(error, { kind: "disk_full", message, retryable: false });
});

// The real program, in terminals and beside others of its kind.

// A terminal sends it to every process in the foreground, and not to this one alone.
test("Ctrl+C in a terminal lets the program put its things in order [P2][X1]", async (t) => {
  const home = makeHome(t);
  const code = [
    "import time",
    "try:",
    "    print('begun', flush=True)",
    "    time.sleep(300)",
    "except KeyboardInterrupt:",
    "    open('outputs/saved.txt', 'w').write('kept')",
  ].join("\n");
  const data = ["--data", join(home.folder, "data")];
  const terminal = openPty({
    args: [...data, "exec", "--conversation", "talk", "--timeout", "600", code],
    env: { HOME: home.folder, TMPDIR: home.folder },
    cwd: home.folder,
  });
  t.after(terminal.kill);
  await terminal.waitFor("begun");
  terminal.type(keys.interrupt);
  assert.match(await terminal.waitFor("Stopped."), /outputs\/saved\.txt \(4 bytes\)/);
  assert.equal(await terminal.exited, 130);
});

/** Two execs on one data directory: the sandboxes of both are in the process of the first. */
async function startTwo(t: TestContext) {
  const home = makeHome(t);
  const code =
    "import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint('whole')";
  const begin = async (conversation: string) => {
    const program = home.start("exec", "--conversation", conversation, "--timeout", "600", code);
    await program.until("output", /^begun\n/);
    const letGo = () => writeFileSync(join(home.folder, "data", "workspace", conversation, "temp", "go"), "");
    return { ...program, letGo };
  };
  return [await begin("talk"), await begin("other")] as const;
}

test("a program goes on when the exec that was here first is done: that one waits for it [P2][X1]", async (t) => {
  const [first, second] = await startTwo(t);
  first.letGo();
  await first.until("errors", /Waiting for programs that others run here; Ctrl\+C ends them and leaves\.\n/);
  second.letGo();
  const ends = (await Promise.all([first.ended, second.ended])).map(({ code, output }) => ({ code, output }));
  const whole = { code: 0, output: "begun\nwhole\n" };
  assert.deepEqual(ends, [whole, whole]);
});

test("whoever insists on leaving cuts off what others run, and they are told so [P2][X2]", async (t) => {
  const [first, second] = await startTwo(t);
  first.child.kill("SIGINT");
  await first.until("errors", /Waiting for programs/);
  first.child.kill("SIGINT");
  assert.equal((await first.ended).code, 130);
  const { code, errors } = await second.ended;
  assert.deepEqual([code, errors], [125, "✗ The AgentYard process that ran it ended.\n"]);
});
