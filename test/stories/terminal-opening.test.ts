import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isRunning } from "../../src/observe/observe.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { cannotDraw, openTmux } from "../world/tmux.ts";

// The prompt stands there before anything is open. Settings that come through a pipe keep the rest waiting for as long as
// the test likes.

async function openHeld(t: TestContext, ...args: string[]) {
  const folder = folderWith(t, {});
  const file = join(folder, "config", "agents.yaml");
  mkdirSync(join(folder, "config"));
  execFileSync("mkfifo", [file]);
  const window = await openTmux(t).open({
    ...{ args: ["--data", join(folder, "yard"), ...args], cwd: folder, env: { AGENTYARD_CONFIG: folder } },
    rows: 60,
  });
  /** The settings are there: this is what they say. */
  const release = async (text: string) => {
    const pipe = await open(file, "w");
    await pipe.writeFile(text);
    // They are read again whenever they have changed.
    rmSync(file);
    writeFileSync(file, text);
    await pipe.close();
  };
  return { window, release };
}

test("who types before anything is open is heard when it is: lines in their order, and the one that is half typed [U1]", {
  skip: cannotDraw,
}, async (t) => {
  const { window, release } = await openHeld(t);
  await window.waitFor(/^opening · \/help/m);
  await window.type("hello");
  await window.press("Enter");
  await window.waitFor(/↳ as soon as it is open: hello\n +Alt\+Up withdraws the last one/);
  await window.type("/tools");
  await window.press("Enter");
  await window.waitFor(/open: hello\n↳ as soon as it is open: \/tools\n/);
  await window.press("M-Up");
  await window.waitFor(/open: hello\n +Alt\+Up[^\n]*\n─+\n\/tools\n/);
  // What is typed is cleared, and nothing else happens.
  await window.press("C-c");
  await window.waitFor(/open: hello\n +Alt\+Up[^\n]*\n─+\n\n─+\nopening/);
  await window.type("/current");
  await window.press("Enter");
  await window.waitFor(/open: hello\n↳ as soon as it is open: \/current\n/);
  await window.type("and then");
  await window.waitFor(/^and then$/m);
  await release("");
  const drawn = await window.waitFor(/Current session: [\s\S]*Hello![\s\S]*^and then$[\s\S]*^ready/m);
  assert.match(drawn, /^before-the-program\nAgentYard \d[\s\S]*not an AI[\s\S]*\n› hello\n[\s\S]*\n› \/current\n/);
  assert.doesNotMatch(drawn, /as soon as it is open/);
});

test("what cannot be opened after the prompt was drawn is said beside it, and leaves the terminal as it was [U1][P2]", {
  skip: cannotDraw,
}, async (t) => {
  const { window, release } = await openHeld(t);
  await window.waitFor(/^opening · /m);
  await window.type("hello");
  await window.press("Enter");
  await window.waitFor(/↳ as soon as it is open: hello/);
  await release("agents: 7\n");
  const drawn = await window.waitFor(/ended with 3/);
  assert.match(drawn, /^before-the-program\n+✗ [^\n]*config\/agents\.yaml:1[\s\S]*\nended with 3\n/);
  assert.doesNotMatch(drawn, /opening|───|hello/);
  await window.type("echoed");
  await window.waitFor(/^echoed/m);
});

test("Ctrl+C leaves before anything is open; Chinese words stand there from the first moment [U1][P4]", {
  skip: cannotDraw,
}, async (t) => {
  const { window } = await openHeld(t, "--lang", "zh");
  await window.waitFor(/^正在打开 · /m);
  await window.type("你好");
  await window.press("Enter");
  await window.waitFor(/↳ 打开后发送: 你好/);
  await window.press("C-c");
  const drawn = await window.waitFor(/ended with 130/);
  assert.match(drawn, /^before-the-program\n+ended with 130\n/);
  await window.type("echoed");
  await window.waitFor(/^echoed/m);
});

test("whoever leaves while the data is just being opened has it closed; said again, it waits for nothing [U1][L2]", {
  skip: cannotDraw,
}, async (t) => {
  const folder = folderWith(t, {});
  const [pipe, data] = [join(folder, "pipe"), join(folder, "yard")];
  execFileSync("mkfifo", [pipe]);
  mkdirSync(join(folder, "checkers"));
  // A checker is read when the data has an owner; this one is not read through before the test says so.
  const code = `await (await import("node:fs/promises")).readFile(${JSON.stringify(pipe)});
export default { tool: "*", check: () => undefined };`;
  writeFileSync(join(folder, "checkers", "slow.mjs"), code);
  const tmux = openTmux(t);
  const start = () => tmux.open({ args: ["--data", data], cwd: folder, env: { AGENTYARD_CONFIG: folder }, rows: 60 });

  const patient = await start();
  const first = await open(pipe, "w"); // Opens as soon as somebody reads it.
  await patient.type("hello");
  await patient.press("Enter");
  await patient.waitFor(/↳ as soon as it is open: hello/);
  await patient.press("C-c");
  await patient.type("still here");
  await patient.waitFor(/^still here$/m);
  await first.close();
  await patient.waitFor(/ended with 130/);
  assert.ok(existsSync(join(data, "sessions.db")));
  for (const name of ["sessions.db-wal", "owner.json"]) assert.equal(existsSync(join(data, name)), false, name);

  const hurried = await start();
  const never = await open(pipe, "w");
  const { pid } = JSON.parse(readFileSync(join(data, "owner.json"), "utf8"));
  await until("it has ended", () => {
    if (isRunning(pid)) process.kill(pid, "SIGTERM");
    return !isRunning(pid);
  });
  await hurried.waitFor(/ended with 143/);
  await never.close();
});
