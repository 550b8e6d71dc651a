import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
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
  await window.waitFor(/↳ as soon as it is open: hello\n +Alt\+Up takes the last one back/);
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
