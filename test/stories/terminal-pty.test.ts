import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { agentyard, keys, openPty } from "../world/pty.ts";

// The whole program, started by its entry, in a real pseudo-terminal.

function openProgram(t: TestContext, { model, env }: { model?: ModelServer; env?: Record<string, string> } = {}) {
  const home = mkdtempSync(join(tmpdir(), "agentyard-pty-"));
  const own = { HOME: home, TMPDIR: home, AGENTYARD_DATA: join(home, "data") };
  const base = model === undefined ? {} : { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test-model" };
  const program = openPty({ cwd: home, env: { ...own, ...base, ...env } });
  t.after(async () => {
    program.kill();
    await program.exited;
    rmSync(home, { recursive: true, force: true });
  });
  return program;
}

const pasteMarksOff = "\u001b[?2004l";

test("a newcomer is greeted, answered and helped, and leaves by Ctrl+D [U1] [M5]", async (t) => {
  const program = openProgram(t);
  const greeting = await program.waitFor("You> ");
  assert.match(greeting, /AgentYard \d[\s\S]*Session: {2}[0-9a-f-]{36}[\s\S]*Log file: .+\n[\s\S]*not an AI/);
  program.type(`hello${keys.enter}`);
  assert.match(await program.waitFor("\n\nYou> "), /hello\n.*demo model/);
  program.type(`/help${keys.enter}`);
  assert.match(await program.waitFor("You> "), /\/sessions[\s\S]*\/inbox[\s\S]*\/quit/);
  program.type(keys.end);
  assert.equal(await program.exited, 0);
  assert.ok(program.raw().endsWith(pasteMarksOff), "the terminal is left as it was");
});

test("the same in Chinese, by the locale alone [P4]", async (t) => {
  const program = openProgram(t, { env: { LANG: "zh_CN.UTF-8", NO_COLOR: "1" } });
  assert.match(await program.waitFor("You> "), /会话：[\s\S]*日志：[\s\S]*演示模型，并不是 AI/);
  program.type(`你好${keys.enter}`);
  await program.waitFor(/演示/);
  await program.waitFor("\n\nYou> ");
  program.type(`/quit${keys.enter}`);
  assert.equal(await program.exited, 0);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what this looks for.
  assert.doesNotMatch(program.raw(), /\u001b\[[\d;]*m/, "NO_COLOR: no colour codes");
});

test("Ctrl+C stops a streaming answer; at rest, twice, it leaves with 130 [L6] [U1]", async (t) => {
  await using model = await modelServer([
    { text: "one two three four", fault: { after: 4, kind: "stall" } },
    says("Fine."),
  ]);
  const program = openProgram(t, { model });
  await program.waitFor("You> ");
  program.type(`count${keys.enter}`);
  await program.waitFor("three ");
  program.type(keys.interrupt);
  await program.waitFor("■ Stopped");
  await program.waitFor("You> ");
  program.type(`and now?${keys.enter}`);
  await program.waitFor("Fine.");
  await program.waitFor("You> ");
  program.type(keys.interrupt);
  await program.waitFor("(Ctrl+C again to leave)");
  program.type(keys.interrupt);
  assert.equal(await program.exited, 130);
  assert.ok(program.raw().endsWith(pasteMarksOff));
});

test("the demo model's question is answered at the prompt [H3]", async (t) => {
  const program = openProgram(t);
  await program.waitFor("You> ");
  program.type(`ask me something${keys.enter}`);
  await program.waitFor("Answer (Esc: later)> ");
  program.type(`green${keys.enter}`);
  await program.waitFor("✓ Answered");
  await program.waitFor("green");
  await program.waitFor("You> ");
  program.type(keys.end);
  assert.equal(await program.exited, 0);
});

test("told to end, the program gives the terminal back [U1]", async (t) => {
  const program = openProgram(t);
  await program.waitFor("You> ");
  program.type("half a li");
  await program.waitFor("half a li");
  program.kill();
  await program.exited;
  assert.ok(program.raw().endsWith(pasteMarksOff));
});

test("a line from a pipe is answered in plain text, and the program ends with 0 [U1]", async () => {
  const home = mkdtempSync(join(tmpdir(), "agentyard-pipe-"));
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [agentyard], { cwd: home, env: { PATH, HOME: home, TMPDIR: home } });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stdin.end("hello\n");
  const [code] = await once(child, "close");
  rmSync(home, { recursive: true, force: true });
  assert.equal(code, 0);
  assert.match(output, /demo model/);
  assert.ok(!output.includes("\u001b") && !output.includes("You>"));
});
