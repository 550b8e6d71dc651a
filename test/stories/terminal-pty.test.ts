import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { firstOf, lastOf, report } from "../world/company.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, type AskedRequest, calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { agentyard, keys, openPty } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";

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

test("a slow model is waited for in a line that goes away again [U1]", async (t) => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer([{ ...says("Hello."), heldUntil: held.promise }]);
  const program = openProgram(t, { model });
  await program.waitFor("You> ");
  program.type(`hi${keys.enter}`);
  await program.waitFor(/… waiting for the model \(\d+ s\)/);
  held.resolve();
  await program.waitFor("Hello.");
  const before = program.raw().slice(0, program.raw().indexOf("Hello."));
  assert.ok(before.endsWith("\u001b[1G\u001b[2K"), "the line is gone");
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

// The whole program as a script starts it: its input and output are pipes and files of the system.

function startScript(t: TestContext, model: ModelServer | undefined, script: string) {
  const home = mkdtempSync(join(tmpdir(), "agentyard-script-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const { PATH = "" } = process.env;
  const base =
    model === undefined
      ? {}
      : { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
  const env = { PATH, HOME: home, TMPDIR: home, AGENTYARD_DATA: join(home, "data"), LANG: "C.UTF-8", ...base };
  const child = spawn("/bin/sh", ["-c", script, "sh", process.execPath, agentyard], { cwd: home, env });
  const written = { output: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.errors += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code, ...written }));
  return { child, ended };
}

const askedFirst = (model: ModelServer) => String(model.asked[0]?.body.messages.at(-1)?.content);

// The program waits 0.3 s for what is piped in: here it lies in the pipe before the program begins.
const piped = "mkfifo pipe; exec 3<>pipe; printf 'the text\\n' >&3; exec 4<pipe 3>&-";

for (const [how, script] of [
  ["piped in", `${piped}; "$@" run explain this <&4`],
  ["late, and waited for by -", `(sleep 1; echo 'the text') | "$@" run explain this -`],
] as const) {
  test(`text that is ${how} follows the message after a blank line [P2]`, async (t) => {
    await using model = await modelServer([says("It is a text.")]);
    const { code, output, errors } = await startScript(t, model, script).ended;
    assert.deepEqual([code, output, errors], [0, "It is a text.\n", ""]);
    assert.match(askedFirst(model), /^explain this\n\nthe text(\n|$)/);
  });
}

test("an input that stays open is not waited for, and that is said [P2]", async (t) => {
  await using model = await modelServer([says("Hello.")]);
  const { child, ended } = startScript(t, model, `"$@" run hi`);
  const { code, output, errors } = await ended;
  child.stdin.destroy();
  assert.deepEqual([code, output], [0, "Hello.\n"]);
  assert.match(errors, /^! Standard input is open, but nothing came/);
  assert.match(askedFirst(model), /^hi(\n|$)/);
});

test("told to end while it waits for its input, run ends with 130 [P2]", async (t) => {
  const { child, ended } = startScript(t, undefined, `exec "$@" run -`);
  // More than lies between two processes: it is taken when somebody reads, and then more is waited for.
  await new Promise((resolve) => child.stdin.write("x".repeat(4_000_000), resolve));
  child.kill("SIGINT");
  assert.equal((await ended).code, 130);
});

test("output that cannot be written is one line with what to do, and exit code 1 [P2]", async (t) => {
  const { code, errors } = await startScript(t, undefined, `"$@" run hi </dev/null >/dev/full`).ended;
  const cause = "The output cannot be written: ENOSPC: no space left on device, write.";
  const advice = "Free some space, or send it elsewhere. The command still goes on to its end.";
  assert.deepEqual([code, errors], [1, `✗ ${cause} ${advice}\n`]);
});

/** A main agent with a task that never ends, one that asks and is answered, and a worker that wants an approval. */
function company(held: Promise<void>) {
  return (request: AskedRequest): Answer => {
    const first = firstOf(request);
    const { role, text } = lastOf(request);
    if (first.startsWith("slow it")) return { ...says("never"), heldUntil: held };
    if (first.startsWith("writer it"))
      return role === "user" ? calls(["write_file", { path: "uploads/mine.txt", content: "new" }]) : says(report(text));
    if (role === "user" && text.startsWith("go"))
      return calls(["spawn_agent", { role: "slow", task: "slow it" }], ["delegate_task", { task: "writer it" }]);
    const said = request.body.messages.map(({ content }) => String(content)).join("\n");
    return said.includes("was stopped") ? says("All parts are in.") : says("waiting");
  };
}

test("in the terminal the tree of agents is seen, a nested approval is answered from the inbox, one is stopped and the others go on [A1][A2][H4][U1]", async (t) => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(company(held.promise));
  const folder = folderWith(t, {});
  const chat = openPty({ args: ["--data", join(folder, "yard")], cwd: folder, env: modelEnv(model) });
  t.after(() => chat.kill());
  await chat.waitFor("You> ");
  const card = await chat.say("go", "[l] later ");
  assert.match(card, /\? Approval needed: write_file\n {2}Asked by: root › worker-[0-9a-f]{12}\n/);
  chat.type("l");
  await chat.waitFor(/\/inbox/);
  const tree = await chat.say("/agents", /ends it\./);
  assert.match(tree, /\n {2}root · waits for others · 1 step · \d+ tokens/);
  assert.match(tree, /\n {4}slow · at work · 0 steps · 0 tokens {2}slow it/);
  assert.match(tree, /\n {4}worker-[0-9a-f]{12} · waits for you · 1 step [^\n]* {2}writer it/);
  await chat.say("/agents slow", /Task:\n {4}slow it\n/);
  await chat.say("/agents nobody", /nobody/);
  await chat.say("/agents stop slow", /✓ task-[0-9a-f]{12} is being stopped\./);
  await chat.say("/inbox", /1\. .*write_file/);
  await chat.say("/inbox 1", "[l] later ");
  chat.type("y");
  await chat.waitFor("✓ Approved");
  await chat.waitFor("All parts are in.");
  await chat.waitFor("You> ");
  const end = await chat.say("/agents", /ends it\./);
  assert.match(end, /\n {4}slow · stopped /);
  chat.type(`/quit${keys.enter}`);
  assert.equal(await chat.exited, 0);
  held.resolve();
});
