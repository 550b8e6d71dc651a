import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../base/clock.ts";
import { openLogFile } from "./log-file.ts";
import { type LogOptions, openLogs } from "./observe.ts";

const morning = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

test("each run has a log file that is named by time and process, for its user alone [O1]", async (t) => {
  const { logs, dir } = open(t);
  logs.info("here");
  await logs.close();
  assert.equal(logs.path, join(dir, "agentyard-20260304-050607-42.log"));
  assert.equal(statSync(logs.path).mode & 0o777, 0o600);
});

test("a line is JSON with time, level, ids and the words of the requirements [O1]", async (t) => {
  const { logs, lines } = open(t);
  logs.info("Session persistence enabled (SQLite)");
  logs.info("Session {id} saved ({N} messages)", { id: "4f1c", N: 12 });
  logs.warn("sandbox session ready: {session} (attempts: {n})", { session: "s-1" });
  assert.deepEqual(await lines(), [
    { at: "2026-03-04T05:06:07.089Z", level: "info", message: "Session persistence enabled (SQLite)", run: "r1" },
    {
      at: "2026-03-04T05:06:07.089Z",
      level: "info",
      message: "Session 4f1c saved (12 messages)",
      run: "r1",
      id: "4f1c",
      N: 12,
    },
    {
      at: "2026-03-04T05:06:07.089Z",
      level: "warn",
      message: "sandbox session ready: s-1 (attempts: {n})",
      run: "r1",
      session: "s-1",
    },
  ]);
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

test("what cannot be written as JSON, or is far too long, does not disturb [O1]", async (t) => {
  const { logs, lines } = open(t);
  const circle: { self?: unknown } = {};
  circle.self = circle;
  logs.info("odd", { circle, big: 10n, long: "x".repeat(50_000), none: undefined });
  const [line] = await lines();
  assert.equal(line.circle, "<ref *1> { self: [Circular *1] }");
  assert.equal(line.big, "10");
  assert.equal(line.long.length, 8_001);
});

test("only lines of the chosen level are kept; off makes no file [O1]", async (t) => {
  const { logs, lines } = open(t, { level: "warn" });
  logs.debug("a");
  logs.info("b");
  logs.warn("c");
  logs.error("d");
  assert.deepEqual(
    (await lines()).map(({ level }) => level),
    ["warn", "error"],
  );

  const off = open(t, { level: "off" });
  off.logs.error("lost");
  await off.logs.close();
  assert.deepEqual([off.logs.path, readdirSync(off.dir)], [undefined, []]);
});

test("lines are gathered for a moment; a grave one is written at once [O1]", async (t) => {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after(_, action) {
      timers.push(action);
      return () => {};
    },
  };
  const { logs } = open(t, { clock });
  const text = () => readFileSync(logs.path ?? "", "utf8");
  logs.info("one");
  logs.info("two");
  assert.deepEqual([timers.length, text()], [1, ""]);
  timers[0]?.();
  await logs.flush();
  assert.equal(text().split("\n").length, 3);

  logs.error("last words");
  while (!text().includes("last words")) await new Promise(setImmediate);
  await logs.close();
});

test("lines written while others are on their way are not lost and keep their order [O1]", async (t) => {
  const { logs, lines } = open(t);
  for (let n = 0; n < 500; n += 1) {
    logs.info("{n}", { n });
    if (n % 7 === 0) void logs.flush();
    if (n % 50 === 0) await new Promise(setImmediate);
  }
  assert.deepEqual(
    (await lines()).map(({ n }) => n),
    Array.from({ length: 500 }, (_, n) => n),
  );
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

test("a closed log takes no more lines and can be closed again [O1]", async (t) => {
  const { logs, lines } = open(t);
  logs.info("kept");
  await logs.close();
  logs.error("late");
  assert.equal((await lines()).length, 1);
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

test("a command that had nothing to say leaves no log file [O1]", async (t) => {
  const { logs, dir } = open(t);
  assert.equal(readdirSync(dir).length, 1);
  await logs.close();
  assert.deepEqual(readdirSync(dir), []);
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
