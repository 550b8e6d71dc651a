import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { playEngine } from "../world/docker-engine.ts";
import { makeHome, typedHere } from "../world/program.ts";
import { agentyard, openPty } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";

// What a first user mistypes, and what the program says then.

test("a mistyped --data is refused by whoever only looks, and nothing is made there [Q3][P2]", async (t) => {
  const home = makeHome(t);
  const typo = join(home.folder, "typo");
  const errors = `✗ There is no data of AgentYard in ${typo}. Check --data; nothing was made there. \`${typedHere} --data ${typo} serve\` or a chat begins a new one.\n`;
  assert.deepEqual(await home.start("user", "list", "--data", typo).ended, { code: 3, output: "", errors });
  assert.deepEqual(readdirSync(home.folder), []);
});

test("a data directory that cannot be made is refused at once, also below /proc [P2]", async (t) => {
  const home = makeHome(t);
  const errors =
    "✗ The folder /proc/x/y cannot be made or used. Choose another with --data, or let this user write there.\n";
  const served = await home.start("serve", "--port", "0", "--data", "/proc/x/y").ended;
  assert.deepEqual(served, { code: 3, output: "", errors });
});

test("the commands that are suggested run as they stand and act on the same data [P2]", async (t) => {
  const home = makeHome(t);
  const data = join(home.folder, "my data");
  const refused = await home.start("serve", "--host", "0.0.0.0", "--port", "0", "--data", data).ended;
  const [, suggested = ""] = /Add one first: (.*) NAME\. /.exec(refused.errors) ?? [];
  assert.equal(suggested, `${typedHere} --data '${data}' user add`);
  const shell = spawnSync("sh", ["-c", `${suggested} ada </dev/null`], { encoding: "utf8", cwd: home.folder });
  assert.match(shell.stdout, /^✓ User ada added\./, shell.stderr);
  const server = home.start("serve", "--host", "0.0.0.0", "--port", "0", "--data", data);
  const [, address = ""] = await server.until("output", /listens on (\S+) and all other addresses[\s\S]*Ctrl\+C/);
  assert.match(server.written.output, /^Terminal: node .* --data '.*my data' \(/m);
  assert.doesNotMatch(server.written.output, /0\.0\.0\.0/);
  const link = await home.start("user", "link", "ada", "--data", data).ended;
  assert.ok(link.output.startsWith(`${address}/sign-in?`), link.output);
  assert.equal((await fetch(`${address}/api/v1/health`)).status, 200);
});

test("an address that cannot be listened on is said to be that, not a port that is taken [P2][P4]", async (t) => {
  const home = makeHome(t);
  assert.equal((await home.start("user", "add", "ada").ended).code, 0);
  const tried = async (host: string) => (await home.start("serve", "--host", host, "--port", "7420").ended).errors;
  assert.equal(
    await tried("192.0.2.99"),
    "✗ 192.0.2.99:7420 cannot be listened on: this machine has no such address. Use --host 127.0.0.1 for this machine alone, or --host 0.0.0.0 for all its addresses.\n",
  );
  assert.equal(
    await tried("nowhere.invalid"),
    "✗ nowhere.invalid:7420 cannot be listened on: this name is not known. Check --host: it takes an address or a name of this machine.\n",
  );
});

test("a backup whose folder is missing or closed ends with one line, and what is no backup is said to be none [Q3][P2]", async (t) => {
  const home = makeHome(t);
  await home.start("run", "hello").ended;
  const missing = await home.start("backup", join(home.folder, "no", "dir", "x.tar")).ended;
  assert.deepEqual(
    [missing.code, missing.errors],
    [
      1,
      "✗ The backup was not made: the folder does not exist. Nothing was left behind. Make it, or name another folder. Then try again.\n",
    ],
  );
  const restored = async (file: string) => (await home.start("restore", file, "--data", "new").ended).errors;
  assert.match(await restored("nope.tar"), /^✗ This backup cannot be used: there is no such file\./);
  const readme = join(import.meta.dirname, "..", "..", "README.md");
  assert.match(await restored(readme), /^✗ This backup cannot be used: it is no backup of AgentYard\./);
  assert.equal(existsSync(join(home.folder, "new")), false);
});

test("without the rights for it, a closed folder and a low port are told in one line each [Q3][P2]", async (t) => {
  const home = makeHome(t);
  await home.start("run", "hello").ended;
  const closed = join(home.folder, "closed");
  mkdirSync(closed, { mode: 0o000 });
  assert.deepEqual(weakly(home.folder, "backup", join(closed, "b.tar")), {
    code: 1,
    errors:
      "✗ The backup was not made: the place may not be written to. Nothing was left behind. Let this user write there, or choose another place. Then try again.\n",
  });
  if (readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8").trim() !== "1024") return;
  const low = saidOf("address_unusable", { host: "127.0.0.1", port: 80, why: "needs_root" });
  assert.deepEqual(weakly(home.folder, "serve", "--port", "80"), {
    code: 1,
    errors: `✗ ${low} Choose a higher port with --port, and let a proxy pass the low one on.\n`,
  });
});

/** Root without what makes it so: it may not go everywhere, nor take low ports. */
function weakly(folder: string, ...words: string[]): { code: number | null; errors: string } {
  const caps = "-dac_override,-dac_read_search,-net_bind_service";
  const under = process.getuid?.() === 0 ? ["setpriv", `--bounding-set=${caps}`, `--inh-caps=${caps}`, "--"] : [];
  const [command = "", ...args] = [...under, process.execPath, agentyard, ...words];
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: folder, TMPDIR: folder, AGENTYARD_DATA: join(folder, "data"), LANG: "C.UTF-8" };
  const { status: code, stderr: errors } = spawnSync(command, args, {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 120_000,
  });
  return { code, errors };
}

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

test("doctor says what this machine can do, to people and to scripts [P2][X3]", async (t) => {
  const { data, doctor } = makePlace(t);
  const [told, printed] = [await doctor(["--json"]), await doctor([])];
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
  assert.deepEqual(
    settled(shown.slice(0, shown.indexOf(""))),
    settled(["AgentYard 0.1.0 on this machine", ...linesOf(checks)]),
  );
  const names = checks.map(({ name }) => name);
  for (const name of ["program", "data", "database", "model"]) assert.ok(names.includes(name), name);
  if (ok) for (const name of ["sandbox", "python", "bash", "javascript"]) assert.ok(names.includes(name), name);
  assert.equal(existsSync(data), false);
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
