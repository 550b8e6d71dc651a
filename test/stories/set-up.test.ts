import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fake, makeClone, type PackageName, packageNames, quiet } from "../world/clone.ts";

const root = join(import.meta.dirname, "..", "..");
const npmCommand = "npm ci --ignore-scripts --no-audit --no-fund --include=dev --include=optional --loglevel=error";
const firstTime = `Set-up: this clone has no packages yet. Installing them, with AgentYard's own Node:\n  ${npmCommand}\n`;
const finished = /Set-up finished after \d+ s\.\n$/;

test("the first start installs what is missing and says so, the second is silent [P1]", async (t) => {
  const clone = makeClone(t);
  const first = await clone.setUp();
  assert.equal(first.code, 0);
  assert.equal(first.text.replace(finished, ""), firstTime);
  assert.deepEqual(await clone.setUp(), quiet);
  assert.deepEqual(clone.npmCalls(), [npmCommand]);
});

test("a changed list of packages is installed at the next start [P1]", async (t) => {
  const clone = makeClone(t);
  await clone.setUp();
  writeFileSync(join(clone.folder, "package-lock.json"), '{ "changed": true }');
  assert.match((await clone.setUp()).text, /^Set-up: the list of packages has changed\./);
  assert.equal(clone.npmCalls().length, 2);
});

test("a set-up that was killed is made again, and its lock is no obstacle [P1]", async (t) => {
  const clone = makeClone(t);
  const killed = clone.start({ FAKE_NPM: "hangs" });
  await clone.untilFile("npm-started");
  const npmPid = Number(readFileSync(join(clone.folder, "npm-started"), "utf8"));
  killed.child.kill("SIGKILL");
  assert.equal((await killed.ended).signal, "SIGKILL");
  process.kill(npmPid, "SIGKILL");

  const again = await clone.setUp();
  assert.equal(again.code, 0);
  assert.match(again.text, /^Set-up: the packages here are not from a finished set-up\./);
  assert.deepEqual(clone.leftovers(), []);
});

test("Ctrl+C ends the set-up, and the same command starts it again [P1]", async (t) => {
  const clone = makeClone(t);
  const stopped = clone.start({ FAKE_NPM: "hangs" });
  await clone.untilFile("npm-started");
  stopped.child.kill("SIGINT");
  const text = `${firstTime}Set-up was interrupted. The same command starts it again.\n`;
  assert.deepEqual(await stopped.ended, { code: 130, signal: null, text });
  assert.deepEqual(clone.leftovers(), []);
  assert.equal((await clone.setUp()).code, 0);
});

test("of two starts at once one installs, the other waits and says so [P1]", async (t) => {
  const clone = makeClone(t);
  const first = clone.start({ FAKE_NPM: "waits" });
  await clone.untilFile("npm-started");
  const second = clone.start({});
  await second.says("waiting for it");
  writeFileSync(join(clone.folder, "npm-may-end"), "");
  assert.equal((await first.ended).code, 0);
  const waited = `Another set-up is running here (process ${first.child.pid}); waiting for it. If that is not so, remove ${join(clone.folder, ".setup-lock")}.\n`;
  assert.deepEqual(await second.ended, { code: 0, signal: null, text: waited });
  assert.equal(clone.npmCalls().length, 1);
});

test("AGENTYARD_SETUP=none declines the set-up and shows its command [P1]", async (t) => {
  const clone = makeClone(t);
  const text = `AGENTYARD_SETUP=none: nothing is installed. The set-up would run:\n  ${npmCommand}\n`;
  assert.deepEqual(await clone.setUp({ AGENTYARD_SETUP: "none" }), { code: 1, signal: null, text });
  mkdirSync(join(clone.folder, "node_modules"));
  assert.deepEqual(await clone.setUp({ AGENTYARD_SETUP: "none" }), { code: 0, signal: null, text });
  assert.deepEqual(clone.npmCalls(), []);
});

const failures: [what: string, npmSays: string, advice: string][] = [
  ["offline", "npm error code ENOTFOUND", "The package registry was not reached."],
  ["for another reason", "npm error code EUSAGE", "The same command tries again."],
];
for (const [what, npmSays, advice] of failures) {
  test(`a set-up that fails ${what} shows npm's last lines and what to do [P1]`, async (t) => {
    const clone = makeClone(t);
    const { code, text } = await clone.setUp({ FAKE_NPM: npmSays });
    assert.equal(code, 1);
    assert.ok(text.startsWith(`${firstTime}npm ended with exit code 1. Its last lines:\n${npmSays}\n\n`), text);
    assert.ok(text.includes(advice), text);
    assert.deepEqual(clone.leftovers(), []);
    assert.equal((await clone.setUp()).code, 0);
  });
}

/** The disk has this much left, and no more, each time it is asked. */
const roomLeft = (...bytes: number[]) =>
  'import fs from "node:fs"; import { syncBuiltinESMExports as sync } from "node:module";' +
  `const left = ${JSON.stringify(bytes)};` +
  "fs.statfsSync = () => ({ bsize: 1, blocks: 1e12, bavail: left.length > 1 ? left.shift() : left[0] }); sync();";

test("a disk that gets full during the set-up is named, and with room again the same command mends it [P1]", async (t) => {
  const clone = makeClone(t);
  const full = await clone.setUp({ FAKE_NPM: "cuts its Node off" }, [roomLeft(900e6, 40e6)]);
  assert.equal(full.code, 1);
  assert.ok(full.text.startsWith(`${firstTime}The disk is full. About 500 MB are needed here`), full.text);
  // As `npm run` starts it: what stands in the clone comes first.
  const { PATH } = process.env;
  const node = spawnSync("node", ["-v"], { env: { PATH: `${join(clone.folder, "node_modules", ".bin")}:${PATH}` } });
  assert.equal(node.status, 0);
  const again = await clone.setUp();
  assert.equal(again.code, 0);
  assert.match(again.text, finished);
});

const machines: [what: string, preload: string, says: string][] = [
  [
    "an old Node",
    fake("versions", '{ ...process.versions, node: "18.20.1" }'),
    "Node 20 or newer is needed; you have 18.20.1.",
  ],
  ["an unknown processor", fake("arch", '"riscv64"'), "there is none for this machine (linux-riscv64)."],
  ["musl instead of glibc", fake("report", "{ getReport: () => ({ header: {} }) }"), "there is none for this machine"],
  [
    // Node 20 has its own word for what a read-only disk says to a new folder.
    "a folder that cannot be written",
    'import fs from "node:fs"; import { syncBuiltinESMExports as sync } from "node:module";' +
      "const refuse = (code) => () => { throw Object.assign(new Error(code), { code }); };" +
      'fs.accessSync = refuse("EROFS"); fs.mkdirSync = refuse("ENOENT"); sync();',
    "You cannot write into",
  ],
  ["a disk that is full", roomLeft(100e6), "The disk is full. About 500 MB are needed here"],
];
for (const [what, preload, says] of machines) {
  test(`a machine with ${what} is told what it needs [P1]`, async (t) => {
    const clone = makeClone(t);
    const { code, text } = await clone.setUp({}, [preload]);
    assert.equal(code, 1);
    assert.ok(text.includes(says), text);
    assert.deepEqual(clone.npmCalls(), []);
  });
}

test("the set-up speaks Chinese in a Chinese locale [P1][P4]", async (t) => {
  const { text } = await makeClone(t).setUp({ LANG: "zh_CN.UTF-8" });
  assert.match(text, /^准备环境：这个目录还没有安装依赖包。[\s\S]+\n环境已就绪，用时 \d+ 秒。\n$/);
});

test("every sentence of the set-up exists in English and in Chinese [P4]", async () => {
  const { wordsFor } = await import(join(root, "scripts", "setup", "words.mjs"));
  const [english, chinese] = [wordsFor({ LANG: "C" }), wordsFor({ LC_ALL: "zh_CN.UTF-8" })];
  assert.deepEqual(Object.keys(chinese), Object.keys(english));
  assert.deepEqual(Object.keys(chinese.reasons), Object.keys(english.reasons));
  assert.deepEqual(Object.keys(chinese.programUses), Object.keys(english.programUses));
});

test("the entry without packages says which command to run first [P1]", async (t) => {
  const { code, text } = await makeClone(t).run("bin/agentyard.mjs");
  assert.equal(code, 1);
  assert.match(text, /Run `npm start` \(or `npm ci --ignore-scripts`\)/);
});

// The packages of the system that AgentYard uses, on machines that have them, lack them, or may not install them.

const testNames =
  "ripgrep tmux python3-pip developers-reference debian-reference-zh-cn chromium-headless-shell postgresql".split(" ");
const runNames = packageNames.filter((name) => !testNames.includes(name));
const command = (names: readonly string[]) => `apt-get install -y --no-install-recommends ${names.join(" ")}`;
const patience = "-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o DPkg::Lock::Timeout=60";
const aptInstall = (names: readonly string[]) => `${patience} install -y --no-install-recommends ${names.join(" ")}`;
const title = "Set-up: AgentYard can use packages of the system that this machine does not have:\n";
const runUses = `${title}  bubblewrap: keeps the code that agents run apart from this machine; without it no code runs
  python3: looks after every sandbox and runs Python; without it no code runs
  python3-numpy, python3-pandas, python3-matplotlib: data and charts (a download of about 80 MB)
  fonts-wqy-microhei: Chinese text in charts
  python3-openpyxl: Excel files
  python3-pypdf, python3-reportlab, poppler-utils, poppler-data: PDF files
`;
const bubblewrapUse = `${title}  bubblewrap: keeps the code that agents run apart from this machine; without it no code runs\n`;
const without = (name: PackageName) => packageNames.filter((other) => other !== name);
const isRoot = fake("getuid", "() => 0");
const isUser = fake("getuid", "() => 1000");

async function preparedClone(t: TestContext) {
  const clone = makeClone(t);
  await clone.setUp();
  return clone;
}

test("the first start as root gets what running code needs, with the reason, and the next one is silent [P1][X6]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine([], "installs");
  const text = `${runUses}  ${command(runNames)}\nThey are installed.\n`;
  assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: "prestart" }, [isRoot]), {
    ...quiet,
    text,
  });
  for (const event of ["prestart", "prechat"])
    assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: event }, [isRoot]), quiet);
  assert.deepEqual(machine.aptCalls(), [aptInstall(runNames)]);
});

test("a machine without lists of packages asks for them first [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "has no lists");
  const { text } = await clone.setUp(machine.env, [isRoot]);
  assert.equal(text, `${bubblewrapUse}  ${command(["bubblewrap"])}\nThey are installed.\n`);
  const install = aptInstall(["bubblewrap"]);
  assert.deepEqual(machine.aptCalls(), [install, `${patience} update`, install]);
});

test("without a network it says how to install them, goes on, and tries again on CI only [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "fails");
  const later =
    "AgentYard starts without them and says what it cannot do (`npx agentyard doctor`). To install them later:\n";
  const said = `Not installed: bubblewrap\nE: no network\n${later}  ${command(["bubblewrap"])}\n`;
  const first = { ...quiet, text: `${bubblewrapUse}  ${command(["bubblewrap"])}\n${said}` };
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), first);
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), quiet);
  assert.deepEqual(await clone.setUp({ ...machine.env, CI: "true" }, [isRoot]), first);
});

test("who may not install packages is told the one command, once; as root it is then run [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "installs");
  const told = `${bubblewrapUse}AgentYard starts without them. To install them:\n  sudo ${command(["bubblewrap"])}\n`;
  assert.deepEqual(await clone.setUp(machine.env, [isUser]), { ...quiet, text: told });
  assert.deepEqual(await clone.setUp(machine.env, [isUser]), quiet);
  assert.deepEqual(machine.aptCalls(), []);
  assert.match((await clone.setUp(machine.env, [isRoot])).text, /They are installed\.\n$/);
});
