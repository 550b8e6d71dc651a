import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { playEngine } from "../world/docker-engine.ts";
import { typedHere } from "../world/program.ts";
import { agentyard, openPty } from "../world/pty.ts";

// The whole program on this machine, whatever it has: the report is checked against what it says to scripts.

type Check = { name: string; status: "ok" | "degraded" | "missing"; text: string; advice: string; command: string };

function makePlace(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "agentyard-doctor-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const data = join(home, "data");
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: home, TMPDIR: home, AGENTYARD_DATA: data, AGENTYARD_CONFIG: home, LANG: "C.UTF-8" };
  const doctor = async (args: readonly string[], more: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [agentyard, "doctor", ...args], { cwd: home, env: { ...env, ...more } });
    const written = { output: "", errors: "" };
    child.stdin.end();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      written.output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      written.errors += text;
    });
    const [code] = await once(child, "close");
    return { code, ...written };
  };
  return { home, data, env, doctor };
}

function linesOf(checks: readonly Check[]): string[] {
  const marks = { ok: "✓", degraded: "!", missing: "✗" };
  return checks.flatMap(({ status, text, advice, command }) => [
    `${marks[status]} ${text}`,
    ...(advice === null ? [] : [`  → ${advice.replaceAll(/agentyard(?= [a-z])/g, typedHere)}`]),
    ...(command === null ? [] : [`  $ ${command}`]),
  ]);
}

for (const [language, title] of [
  ["en", "AgentYard 0.1.0 on this machine"],
  ["zh", "本机上的 AgentYard 0.1.0"],
] as const) {
  test(`doctor says what this machine can do, to people and to scripts (${language}) [P2][P4][X3]`, async (t) => {
    const { data, doctor } = makePlace(t);
    const [told, printed] = [await doctor(["--json", "--lang", language]), await doctor(["--lang", language])];
    assert.deepEqual([told.errors, printed.errors], ["", ""]);
    const { version, ok, checks }: { version: string; ok: boolean; checks: Check[] } = JSON.parse(told.output);
    assert.equal(version, "0.1.0");
    assert.equal(
      ok,
      checks.every(({ status }) => status !== "missing"),
    );
    assert.deepEqual([told.code, printed.code], ok ? [0, 0] : [1, 1]);
    // The space that is left may change from one look to the next.
    const settled = (lines: readonly string[]) => lines.map((line) => line.replace(/\d[\d.]* [GMT]B/, "…"));
    const shown = printed.output.split("\n");
    assert.deepEqual(settled(shown.slice(0, shown.indexOf(""))), settled([title, ...linesOf(checks)]));
    const names = checks.map(({ name }) => name);
    for (const name of ["program", "data", "database", "model"]) assert.ok(names.includes(name), name);
    if (ok) for (const name of ["sandbox", "python", "bash", "javascript"]) assert.ok(names.includes(name), name);
    assert.equal(existsSync(data), false);
  });
}

test("a mistake in the settings is told, and the machine is looked at all the same [P2][P5]", async (t) => {
  const { doctor } = makePlace(t);
  const { code, output } = await doctor(["--json"], { MAX_LOOPS: "many" });
  assert.equal(code, 1);
  const { checks }: { checks: Check[] } = JSON.parse(output);
  const settings = checks.filter(({ name }) => name === "settings").map(({ status, text }) => [status, text]);
  assert.deepEqual(settings, [["missing", "MAX_LOOPS is many."]]);
  assert.ok(checks.length > 2);
});

test("an engine of containers is asked for files where those of the server will lie [P2][X3]", async (t) => {
  const { home, data, doctor } = makePlace(t);
  const engine = await playEngine(t, { folder: home, user: 0 });
  const env = { AGENTYARD_SANDBOX_PROVIDER: "docker", AGENTYARD_SANDBOX_DOCKER_HOST: `unix://${engine.socketPath}` };
  mkdirSync(data);
  assert.equal((await doctor(["--json"], env)).errors, "");
  const below = (path: string) => path.startsWith(`${data}/`);
  assert.deepEqual([engine.mounted().length > 0, engine.mounted().every(below), readdirSync(data)], [true, true, []]);
});

test("a data directory that cannot be used is told with what to do [P2][P3]", async (t) => {
  const { data, doctor } = makePlace(t);
  writeFileSync(data, "a file stands in its place");
  const { code, output } = await doctor([]);
  assert.equal(code, 1);
  assert.ok(output.includes(`✗ The data directory cannot be written: ${data}.\n  → Give this user write permission`));
});

test("--fix without a terminal changes nothing and prints the command [P2]", async (t) => {
  const { data, doctor } = makePlace(t);
  mkdirSync(data, { mode: 0o700 });
  chmodSync(data, 0o755);
  const { code, errors } = await doctor(["--fix"]);
  assert.equal(code, 6);
  assert.ok(errors.includes(`  chmod 700 ${data}\n`), errors);
  assert.equal(statSync(data).mode & 0o777, 0o755);
});

test("--fix in a terminal asks, runs the command it showed, and looks again [P2]", async (t) => {
  const { home, data, env } = makePlace(t);
  mkdirSync(data, { mode: 0o700 });
  chmodSync(data, 0o755);
  const terminal = openPty({ script: toTheEnd, args: ["doctor", "--fix"], env, cwd: home, columns: 300 });
  await answerAll(terminal, `$ chmod 700 ${data}`);
  assert.equal(statSync(data).mode & 0o777, 0o700);
  assert.match(terminal.text(), /Looking again:/);
});

const masking = maskingProblem();

test("without bubblewrap --fix installs it after a yes, and code runs [P1][P2][X3]", { skip: masking }, async (t) => {
  const { home, env } = makePlace(t);
  const tools = join(home, "tools");
  mkdirSync(tools);
  // The double of apt-get takes away what hides the program.
  const double = `#!/bin/sh\necho "$@" > ${home}/apt-call\numount /usr/bin/bwrap\n`;
  writeFileSync(join(tools, "apt-get"), double, { mode: 0o755 });
  const script = `exec unshare -m /bin/sh -c 'mount --bind /dev/null /usr/bin/bwrap; ${toTheEnd}' sh "$@"`;
  const path = `${tools}:${env.PATH}`;
  const terminal = openPty({ script, args: ["doctor", "--fix"], env: { ...env, PATH: path }, cwd: home, columns: 300 });
  await terminal.waitFor("✗ bubblewrap is not installed");
  await answerAll(terminal, "apt-get install -y");
  assert.match(terminal.text(), /Looking again:[\s\S]*✓ Code runs in a sandbox/);
  assert.ok(existsSync(join(home, "apt-call")));
});

/** The program, and then its exit code. */
const toTheEnd = '"$@"; echo "ended with $?"';

/** Says yes to this command and no to what this machine lacks besides, until the program ends. */
async function answerAll(terminal: ReturnType<typeof openPty>, wanted: string): Promise<void> {
  for (;;) {
    const seen = await terminal.waitFor(/\[y\/N\] |ended with \d+/);
    if (/ended with \d+$/.test(seen)) return;
    terminal.type(seen.includes(wanted) ? "y\r" : "n\r");
  }
}

/** Why the program cannot be hidden on this machine; false where it can. */
function maskingProblem(): string | false {
  if (process.geteuid?.() !== 0) return "only root can hide a program";
  if (!existsSync("/usr/bin/bwrap") || !existsSync("/usr/bin/apt-get")) return "bubblewrap or apt-get is not here";
  return spawnSync("unshare", ["-m", "true"]).status !== 0 && "mounts of one's own cannot be made here";
}
