import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type Answer, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { agentyard, keys, openPty } from "../world/pty.ts";

// The whole program, started by its entry, in a real pseudo-terminal.

type Setting = {
  readonly model?: ModelServer;
  readonly env?: Record<string, string>;
  readonly script?: string;
  readonly args?: readonly string[];
  /** Another program's: both work on the same data. */
  readonly home?: string;
};

function openProgram(t: TestContext, { model, env, home: given, ...more }: Setting = {}) {
  const home = given ?? mkdtempSync(join(tmpdir(), "agentyard-pty-"));
  const own = { HOME: home, TMPDIR: home, AGENTYARD_DATA: join(home, "data") };
  const base = model === undefined ? {} : { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test-model" };
  const program = openPty({ cwd: home, env: { ...own, ...base, ...env }, ...more });
  t.after(async () => {
    program.kill();
    await program.exited;
    rmSync(home, { recursive: true, force: true });
  });
  return { ...program, home };
}

const pasteMarksOff = "\u001b[?2004l";

test("a newcomer is greeted, answered and helped, and leaves by Ctrl+D [U1] [M5]", async (t) => {
  const program = openProgram(t);
  const greeting = await program.waitFor("You> ");
  assert.match(greeting, /AgentYard \d[\s\S]*Conversation: [0-9a-f-]{36}[\s\S]*Log file: .+\n[\s\S]*not an AI/);
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
  assert.match(await program.waitFor("You> "), /对话：[\s\S]*日志：[\s\S]*演示模型，并不是 AI/);
  program.type(`你好${keys.enter}`);
  await program.waitFor(/演示/);
  await program.waitFor("\n\nYou> ");
  program.type(`/quit${keys.enter}`);
  assert.equal(await program.exited, 0);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what this looks for.
  assert.doesNotMatch(program.raw(), /\u001b\[[\d;]*m/, "NO_COLOR: no colour codes");
});

test("Ctrl+C stops a streaming answer within a second; at rest, twice, it leaves with 130 [L6] [U1]", async (t) => {
  const stalls: Answer = { text: "one two three four", fault: { after: 4, kind: "stall" } };
  await using model = await modelServer(() => stalls);
  const program = openProgram(t, { model });
  await program.waitFor("You> ");
  // A busy machine only adds: the first of a few that is quick tells.
  const times: number[] = [];
  for (let count = 1; count <= 8 && Math.min(...times) >= 1_000; count += 1) {
    program.type(`count${keys.enter}`);
    await program.waitFor("three ");
    const pressedAt = systemClock.monotonic();
    program.type(keys.interrupt);
    await program.waitFor("■ Stopped");
    times.push(systemClock.monotonic() - pressedAt);
    await program.waitFor("You> ");
  }
  assert.ok(Math.min(...times) < 1_000, `stopped after ${times.join(", ")} ms`);
  model.answerWith([says("Fine.")]);
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

test("Ctrl+Z stops the program with all that started it, and it comes back with what was typed [U1]", async (t) => {
  // As under npm: a shell with job control, and between it and the program one more that only waits.
  const script = `set -m; sh -c '"$@"; exit $?' sh "$@"; echo "given back"; read -r line; echo "read $line"; fg`;
  const program = openProgram(t, { script });
  await program.waitFor("You> ");
  program.type("half a li");
  await program.waitFor("half a li");
  program.type(keys.suspend);
  await program.waitFor("given back");
  program.type(`shell${keys.enter}`);
  await program.waitFor("read shell");
  await program.waitFor("You> half a li");
  program.type(`ne${keys.enter}`);
  await program.waitFor("demo model");
  await program.waitFor("You> ");
  program.type(keys.end);
  assert.equal(await program.exited, 0);
});

test("where nobody could bring the program back, Ctrl+Z does not stop it [U1]", async (t) => {
  const program = openProgram(t);
  await program.waitFor("You> ");
  program.type(`hel${keys.suspend}`);
  await program.waitFor("You> hel");
  program.type(`lo${keys.enter}`);
  await program.waitFor("demo model");
});

test("a terminal without keys has the greeting, prompts and choices too, line by line [U1]", async (t) => {
  await using model = await modelServer([says("Hello.")]);
  const program = openProgram(t, { model, env: { TERM: "dumb" } });
  const greeting = await program.waitFor("You> ");
  assert.match(greeting, /AgentYard \d[\s\S]*Conversation: [0-9a-f-]{36}/);
  program.type("hi\n");
  assert.equal(await program.waitFor("You> "), "hi\nHello.\nYou> ");
  program.type("/current\n");
  assert.match(await program.waitFor("You> "), /^\/current\nCurrent session: /);
  program.type(keys.end);
  assert.equal(await program.exited, 0);
  assert.ok(!program.raw().includes("\u001b"), "such a terminal shows escape sequences as they are");
});

test("without keys Ctrl+C leaves, at a prompt and at an open question, and shows nothing of our insides [U1]", async (t) => {
  for (const asked of ["", "ask me something\n"]) {
    const program = openProgram(t, { env: { TERM: "dumb" } });
    assert.match(await program.waitFor("You> "), /· Ctrl\+C leaves\n/);
    program.type(asked);
    if (asked !== "") await program.waitFor("Answer (Esc: later)> ");
    program.type(keys.interrupt);
    assert.equal(await program.exited, 130);
    assert.doesNotMatch(program.text(), /Error|node:/);
  }
});

test("without keys a question is answered in a line as well [U1] [H3]", async (t) => {
  const program = openProgram(t, { env: { TERM: "dumb", LANG: "zh_CN.UTF-8" } });
  await program.waitFor("You> ");
  program.type("ask me something\n");
  await program.waitFor("回答（Esc：以后再说）> ");
  program.type("green\n");
  await program.waitFor("✓ 已回答");
  await program.waitFor("You> ");
});

for (const [how, args] of [
  ["chat", []],
  ["run", ["run", "hi", "-"]],
] as const) {
  test(`a slow model is waited for in a line that goes away again: ${how} [U1]`, async (t) => {
    const held = Promise.withResolvers<void>();
    await using model = await modelServer([{ ...says("Hello."), heldUntil: held.promise }]);
    const program = openProgram(t, { model, args });
    if (how === "chat") await program.waitFor("You> ");
    program.type(how === "chat" ? `hi${keys.enter}` : keys.end);
    await program.waitFor(/… waiting for the model \(\d+ s\)/);
    held.resolve();
    await program.waitFor("Hello.");
    const before = program.raw().slice(0, program.raw().indexOf("Hello."));
    assert.ok(before.endsWith("\u001b[1G\u001b[2K"), "the line is gone");
  });
}

test("a second process sends its files to the one that owns the data, and shows how far it is [F3][P3]", async (t) => {
  await using model = await modelServer([says("Read.")]);
  const owner = openProgram(t, { model });
  await owner.waitFor("You> ");
  writeFileSync(join(owner.home, "large.txt"), "0123456789\n".repeat(600_000));
  const second = openProgram(t, { model, home: owner.home, args: ["run", "read #large.txt"] });
  await second.waitFor("↑ large.txt: 100 % of 6.3 MB");
  await second.waitFor("✓ large.txt → uploads/large.txt (text)\n");
  await second.waitFor("Read.");
  assert.equal(await second.exited, 0);
  const said = String(model.asked[0]?.body.messages.at(-1)?.content);
  assert.match(said, /^read #large\.txt\n\nUploaded files:\n- large\.txt → uploads\/large\.txt \(text\)/);
});

test("a file that is too large is refused at once, also by another process [F3][F4]", async (t) => {
  const env = { AGENTYARD_UPLOAD_FILE_BYTES_MAX: "1048576" };
  const owner = openProgram(t, { env });
  await owner.waitFor("You> ");
  writeFileSync(join(owner.home, "large.txt"), "0123456789\n".repeat(6_000_000));
  const second = openProgram(t, { env, home: owner.home, args: ["run", "read #large.txt"] });
  await second.waitFor("✗ large.txt: uploads/large.txt has 62.9 MB or more; the limit is 1 MB. ");
  assert.equal(await second.exited, 1);
  assert.ok(!second.text().includes("↑ large.txt: 5"), "not half of it was sent");
});

test("rules that are broken while the program runs are told with the next turn, and those before stay [P5][H1]", async (t) => {
  const program = openProgram(t);
  await program.waitFor("You> ");
  const folder = join(program.home, ".config", "agentyard");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "hitl_rules.yaml"), "globl:\n  enabled: true\n");
  program.type(`hello${keys.enter}`);
  await program.waitFor(/! Changed settings are not used, those before stay: .*hitl_rules\.yaml/);
  await program.waitFor("\n\nYou> ");
  program.type(`hello again${keys.enter}`);
  assert.doesNotMatch(await program.waitFor("\n\nYou> "), /Changed settings/, "once");
  program.type(keys.end);
  assert.equal(await program.exited, 0);
});
