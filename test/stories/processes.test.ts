import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { until } from "../world/events.ts";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { leaksInStore } from "../world/path-watch.ts";
import { watchProgram } from "../world/program.ts";
import { agentyard } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";

/** The product as a user starts it: its own process, an empty environment, a data directory of its own. */
function start(
  data: string,
  model: ModelServer | undefined,
  argv: readonly string[],
  more: Record<string, string> = {},
) {
  const env = {
    ...{ PATH: process.env.PATH, TMPDIR: data, HOME: data, AGENTYARD_DATA: data, AGENTYARD_CONFIG: data },
    ...(model && modelEnv(model)),
    ...more,
  };
  return watchProgram(spawn(process.execPath, [agentyard, ...argv], { cwd: data, env }));
}

async function run(...given: Parameters<typeof start>) {
  const { child, ended } = start(...given);
  child.stdin.end();
  return ended;
}

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "ay-"));
  t.after(async () => {
    const leaks = leaksInStore({ data });
    await rm(data, { recursive: true, force: true });
    assert.deepEqual(leaks, [], "no host path in what was stored [Q1]");
  });
  return data;
}

test("a second process on the same data becomes a client of the first, and its successor when the first is killed [P3]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer(() => says("I hear you"));
  const first = start(data, model, []);
  first.child.stdin.write("hello\n");
  await until("the first terminal answers", () => first.written.output.includes("I hear you"));
  const second = start(data, model, []);
  second.child.stdin.write("hello from the second\n");
  await until("the second terminal answers", () => second.written.output.includes("I hear you"));
  first.child.kill("SIGKILL");
  await first.ended;
  second.child.stdin.write("still there?\n");
  await until("the second goes on alone", () => second.written.output.split("I hear you").length === 3);
  second.child.stdin.end();
  assert.equal((await second.ended).code, 0);
});

test("two processes started at the same moment share one owner, and both get their answer [P3]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer(() => says("fine"));
  const all = await Promise.all(
    Array.from({ length: 2 }, (_, index) => run(data, model, ["run", "--json", `number ${index}`])),
  );
  assert.deepEqual(
    all.map(({ output }) => JSON.parse(output).answer),
    Array(2).fill("fine"),
  );
});

test("a database of a newer version, and a file that is no database, are told with what to do [Q2][P3]", async (t) => {
  const data = await folder(t);
  await writeFile(
    join(data, "sessions.db"),
    "this is no database at all, only some text that is long enough to be looked at\n".repeat(40),
  );
  const broken = await run(data, undefined, ["run", "hello"]);
  assert.notEqual(broken.code, 0);
  assert.match(broken.errors, /database cannot be used: it is damaged, or no database \(file is .* --data/s);
  copyFileSync(join(import.meta.dirname, "..", "data", "sessions-v1.db"), join(data, "sessions.db"));
  const database = new DatabaseSync(join(data, "sessions.db"));
  database.exec("PRAGMA user_version = 9999");
  database.close();
  const newer = await run(data, undefined, ["run", "hello"]);
  assert.match(newer.errors, /newer AgentYard \(format 9999/);
  assert.equal(newer.errors.includes("    at "), false, "no stack");
});

test("the log file has the lines operators know, and no secret; a model that is set in part, and a window that had to be guessed, are told with what to set [O1][Q1][M1]", async (t) => {
  const data = await folder(t);
  const half = await run(data, undefined, ["run", "--json", "hello"], { MODEL_BASIC_ID: "gpt-5" });
  const { error } = JSON.parse(half.output);
  assert.deepEqual([half.code, error.kind], [3, "model_half_set"]);
  assert.match(error.message, /MODEL_BASIC_API_KEY/);
  await using model = await modelServer([{ status: 401, body: '{"error":{"message":"bad key sk-secret-123456789"}}' }]);
  await run(data, model, ["run", "hello"], { MODEL_BASIC_API_KEY: "sk-secret-123456789" });
  await using well = await modelServer([says("fine")]);
  const guessed = { MODEL_BASIC_BASE_URL: well.url, MODEL_BASIC_ID: "my-own-model" };
  const { output, errors } = await run(data, undefined, ["run", "hello"], guessed);
  assert.equal(output, "fine\n");
  assert.match(errors, /window of my-own-model is not known.* Set MODEL_BASIC_CONTEXT_WINDOW if/);
  const text = globSync(join(data, "logs", "*.log")).map((file) => readFileSync(file, "utf8"));
  assert.match(text.join(""), /Session persistence enabled \(SQLite\)/);
  assert.match(text.join(""), /Session [0-9a-f-]{36} saved \(2 messages\)/);
  assert.equal(text.join("").includes("sk-secret"), false);
});

test("model test makes the one call of a file and prints the neutral result [P2][M3]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([
    { text: "hi", calls: [{ id: "a", name: "look", arguments: '{"x":1}' }] },
    {
      status: 429,
      headers: { "retry-after": "2" },
      body: '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}',
    },
  ]);
  const file = join(data, "request.json");
  await writeFile(
    file,
    JSON.stringify({
      stream: true,
      tools: [{ name: "look", parameters: { type: "object", properties: {} } }],
      client: { idleTimeoutMs: 30_000 },
    }),
  );
  const good = await run(data, model, ["model", "test", "--json", "--request", file]);
  assert.deepEqual(JSON.parse(good.output), {
    text: "hi",
    reasoning: "",
    toolCalls: [{ id: "a", name: "look", arguments: { x: 1 } }],
    finish: "tool_calls",
    usage: { input: 100, output: 10 },
    error: null,
  });
  const limited = await run(data, model, ["model", "test", "--json", "--request", file]);
  assert.deepEqual(JSON.parse(limited.output).error, { kind: "rate_limit", retryable: true, retryAfterMs: 2000 });
  assert.equal(limited.code, 4);
});

test("a secret that is written into the settings while it runs is in no log line either [Q1][G1][P5]", async (t) => {
  const data = await folder(t);
  const terminal = start(data, undefined, []);
  terminal.child.stdin.write("hello\n");
  await until("it runs", () => terminal.written.output.includes("not an AI"));
  const said = "console.error(`I was given ${process.env.WORD} and ${process.env.OTHER}`)";
  const env = { WORD: "written-out-12", OTHER: "${TICKETS_TOKEN}" };
  await mkdir(join(data, "config"));
  await writeFile(
    join(data, "config", "mcp_servers.yaml"),
    JSON.stringify({ servers: { own: { command: process.execPath, args: ["-e", said], env } } }),
  );
  await writeFile(join(data, ".env"), "TICKETS_TOKEN=abcdefgh12345\n");
  terminal.child.stdin.write("what time is it?\n");
  const logged = () => globSync(join(data, "logs", "*.log")).map((file) => readFileSync(file, "utf8"));
  await until("the server has said it", () => logged().join("").includes("MCP server own says: "));
  terminal.child.stdin.end();
  await terminal.ended;
  assert.match(logged().join(""), /MCP server own says: I was given \[redacted\] and \[redacted\]"/);
  assert.doesNotMatch(logged().join(""), /written-out-12|abcdefgh12345/);
});

test("a model that is written into .env while the terminal runs answers the next message, and no longer once it is taken out; a mistake there changes nothing [P5]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer(() => says("a real model speaks"));
  const terminal = start(data, undefined, []);
  terminal.child.stdin.write("hello\n");
  await until("the demo model answers", () => terminal.written.output.includes("not an AI"));
  await writeFile(join(data, ".env"), "MODEL_BASIC_TEMPERATURE=hot\n");
  terminal.child.stdin.write("what time is it?\n");
  await until("the demo model answers again", () => terminal.written.output.includes("It is 2"));
  await writeFile(
    join(data, ".env"),
    `MODEL_BASIC_BASE_URL=${model.url}\nMODEL_BASIC_ID=m\nMODEL_BASIC_CONTEXT_WINDOW=128000\n`,
  );
  terminal.child.stdin.write("and now?\n");
  await until("the model answers", () => terminal.written.output.includes("a real model speaks"));
  await rm(join(data, ".env"));
  terminal.child.stdin.write("undo\n");
  await until("the demo model is back", () => terminal.written.output.includes("/undo"));
  terminal.child.stdin.end();
  assert.equal((await terminal.ended).code, 0);
});

test("looking at a conversation does not set its interrupted turn going; --continue does, and without a prompt that is all that happens [P2][L2]", async (t) => {
  const data = await folder(t);
  await using model = await modelServer([{ text: "half", fault: { after: 2, kind: "stall" } }, says("all of it")]);
  const killed = start(data, model, ["run", "--json", "go"]);
  await until("the model was asked", () => model.asked.length === 1);
  killed.child.kill("SIGKILL");
  await killed.ended;
  assert.equal((await run(data, model, ["model", "list"])).code, 0);
  assert.equal(model.asked.length, 1);
  const { answer, finish } = JSON.parse((await run(data, model, ["run", "--json", "--continue"])).output);
  assert.deepEqual({ answer, finish }, { answer: "all of it", finish: "done" });
});
