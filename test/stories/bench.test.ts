// Runs alone: it measures.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { cannotStore } from "../world/postgres-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";

const bench = join(import.meta.dirname, "..", "..", "bench", "bench.ts");

test("the short form of the engine bench runs and prints what a step costs against the bare loop", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "engine", "--quick"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /50 tool steps\n.*\n +bare +1\.00 .*\n +agentyard +\d+\.\d\d /);
});

test("the short form of the files bench runs, finds every answer right and prints what it is held against [W8][W11]", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "files", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "info, 100 files in 10 folders",
    "list, one folder of 100 files",
    "walk, 100 files in 10 folders",
    "longest stall, info, 100 files in 10 folders",
    "longest stall, list, one folder of 100 files",
    "longest stall, walk, 100 files in 10 folders",
    "longest stall, nothing to do (the machine's own)",
    "first look-up at depth 30",
    "later look-ups at depth 30",
    "search for Zauberwort in 0 MB",
    "search for 咒语 in 0 MB",
    "20 small writes, each",
    "All figures",
  ]);
  assert.doesNotMatch(stdout, /target/);
});

test("the short form of the sandbox bench runs every program to its end and prints what it is held against [X1][X3][X4]", {
  skip: cannotRunCode,
}, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "sandbox", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const lines = stdout.split("\n").filter((line) => !line.startsWith("Without these limits: "));
  const names = lines.flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "python3 -c pass",
    "warm Python cell, at the port",
    "bash, at the port",
    "warm Python cell, as a tool with its report over 10 files",
    "bash, as a tool with its report over 10 files",
    "warm Python cell, over HTTP with its report over 10 files",
    "full launch",
    "first execution in a prewarmed sandbox",
    "cold to the first result, at the port",
    "cold to the first result, with its report",
    "first program among 200 files, nothing prepared",
    "first program among 200 files, prewarmed",
    "second program among 200 files",
    "cold to the first result with pandas and matplotlib",
    "idle sandbox",
    "idle sandbox with a Python",
    "idle sandbox with the data libraries",
    "more objects in the server by 6 executions in 2 conversations",
    "more memory of the server by 6 executions in 2 conversations",
    "more descriptors of the server by 6 executions in 2 conversations",
    "more processes of the server by 6 executions in 2 conversations",
    "warm Python cell over HTTP beside a fork bomb",
    "warm Python cell over HTTP beside a memory bomb",
    "warm Python cell over HTTP beside an endless print",
    "docker exec python3 -c pass",
    "All figures",
  ]);
  assert.doesNotMatch(stdout, /target/);
});

test("the short form of the context bench prints what of a request is in the cache and what a conversation still knows [L3][Z3]", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "context", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^ {2}(\S.*?) {2,}/.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "ours",
    "naive, a clock in the prompt",
    "naive, reminders that move",
    "naive, tools in any order",
    "naive, all of these",
    "honest summariser, once",
    "mediocre summariser, once",
    "forgetful summariser, once",
  ]);
  assert.doesNotMatch(stdout, /target/);
});

test("the short form of the documents bench agrees with pdftotext and prints what it is held against [D1]", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "documents", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  // What Python's libraries take is only there where they are installed.
  assert.deepEqual(names.slice(-4), [
    ...["longest stall of the event loop", "longest stall of the event loop, in processor time of its thread"],
    ...["memory, threads and all", "All figures"],
  ]);
  assert.match(stdout, /, characters that differ: 0\.\d\d %$/m);
});

test("the short form of the agents bench makes a tree, sends its messages, and prints what it is held against [A1][A4]", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "agents", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "memory of an idle agent, 12 in a tree",
    "a message to an agent that waits, 12 in a tree, until it is in the reader's history",
    "a message to an agent that waits, 12 in a tree, until the reader's request may leave",
    "a step, 12 agents in a tree, 2 of each, processor",
    "a step, 12 agents in a tree, 2 of each, by the clock",
    "All figures",
  ]);
  assert.doesNotMatch(stdout, /target/);
});

test("the short form of the scale bench takes turns with a file and with two processes on a database, and sees one take over from the other [N1]", {
  skip: cannotStore,
}, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "scale", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "step on PostgreSQL",
    "processor time of a step on PostgreSQL, server and database",
    "turns of 2 steps, SQLite, 1 process",
    "processor time of a turn, SQLite, 1 process (servers, database, model, client)",
    "cores kept busy, SQLite, 1 process",
    "turns that processors allow, SQLite, 1 process (servers, this machine)",
    "turns of 2 steps, PostgreSQL, 2 processes",
    "processor time of a turn, PostgreSQL, 2 processes (servers, database, model, client)",
    "cores kept busy, PostgreSQL, 2 processes",
    "turns that processors allow, PostgreSQL, 2 processes (servers, this machine)",
    "take-over after kill -9",
    "taken up after its commit, by a job of pg-boss",
    "All figures",
  ]);
  assert.doesNotMatch(stdout, /target|NaN/);
});

test("a bench that does not exist is refused with those that do", () => {
  const { status, stderr } = spawnSync(process.execPath, [bench, "nothing"], { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /agents, context, documents, engine, files, http, markdown, retrieval, sandbox, scale, soak, start/,
  );
});

test("the short form of the soak has people chat, upload, run code and delete through a restart and a kill, and nothing is lost [L2][Q2][C3]", {
  skip: cannotRunCode,
}, () => {
  const env = { AGENTYARD_SEED: "1", ...process.env };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "soak", "--short"], { encoding: "utf8", env });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^SIGTERM, and the server again$[\s\S]*^SIGKILL, and the server again$/m);
  assert.match(stdout, /^acknowledged messages in \d+ conversations that stayed: \d+; lost: 0$/m);
  // A busy machine may say no word in time; where it says none at all there is no worst.
  for (const name of ["memoryMb", "descriptors", "processes", "diskMb", "firstWordMs", "firstWordP95Ms"])
    assert.match(stdout, new RegExp(`^${name}( +(\\d+|NaN)){2}( +(\\d+|NaN)| *-Infinity)$`, "m"));
});

test("the short form of the http bench streams, uploads and ends every chat, and prints what it is held against [C3][S3]", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "http", "--short"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const names = stdout.split("\n").flatMap((line) => /^(.+?): /.exec(line)?.[1] ?? []);
  assert.deepEqual(names, [
    "first word of a chat, a model that takes 200 ms",
    "first word over /v1, a model that takes 200 ms",
    "first word of a chat, a model that answers at once",
    "first word over /v1, a model that answers at once",
    "0.1 MB of text in increments",
    "0.1 MB of text in increments, processor",
    "chats of 10 at once that ended well",
    "10 chats at once, all of them",
    "memory of the server per chat, 10 at once",
    "upload of 1 MB, fields first",
    "upload of 1 MB, file first",
    "All figures",
  ]);
  assert.match(stdout, /^chats of 10 at once that ended well: 10\.0 of them$/m);
  assert.doesNotMatch(stdout, /target/);
});
