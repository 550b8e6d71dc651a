// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SandboxExecution, SandboxExecutionPage } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, until } from "./sandbox-http.ts";

// What one caller can ask of the server without the others noticing.

let door: Door;
const options = { skip: cannotRunCode };
before(async () => {
  if (cannotRunCode === false) door = await openDoor();
});
after(() => door?.[Symbol.asyncDispose]());

const codeOf = (kibibytes: number) => `#${"一".repeat((kibibytes * 1024) / 3)}\nprint("y" * 5000 + "end")`;

test("of long code a record keeps the beginning and the end, and a list shows little of it [X2]", options, async () => {
  const long = await door.run(codeOf(200), {}, "sess-long");
  assert.deepEqual(
    [long.code_truncated, long.code.startsWith("#一"), long.code.endsWith('"end")'), long.stdout_truncated],
    [true, true, true, false],
  );
  assert.ok(Buffer.byteLength(long.code) < 66 * 1024, `${Buffer.byteLength(long.code)} bytes`);
  const short = await door.run("1", {}, "sess-long");
  const listed = await door.get("/executions/sessions/sess-long/executions");
  const [first, second] = SandboxExecutionPage.parse(listed.body).items;
  assert.deepEqual(first, short);
  assert.deepEqual({ ...second, code: "", stdout: "" }, { ...long, code: "", stdout: "", stdout_truncated: true });
  assert.ok((second?.code.length ?? 0) < 2100 && (second?.stdout.length ?? 0) < 2100);
  assert.ok(second?.stdout.startsWith("yyy") && second.stdout.endsWith("end\n"));
  const kept = await door.get(`/executions/${long.id}/result`);
  assert.deepEqual(SandboxExecution.parse(kept.body), long);
});

test("the ledger of a conversation holds every file that a program made, however many [W12][X2]", options, async () => {
  const ran = await door.run("for i in range(1200): open(f'outputs/{i}', 'w').write('x')", { conversation_id: "many" });
  const noted = (await door.yard.events("many")).filter((event) => event.type === "file.changed");
  // It stands there when the execution is over: whoever asks then finds it.
  assert.deepEqual([noted.length, ran.artifacts.length], [1200, 500]);
});

test("a file that a program changes through its memory is told each time [W12][X1]", options, async () => {
  const mapped = { conversation_id: "mapped" };
  const changed = async (code: string) => (await door.run(code, mapped)).artifacts.map(({ sha256 }) => sha256);
  await changed("import mmap\nopen('outputs/m', 'wb').write(b'a' * 8192)");
  const open = "f = open('outputs/m', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:3] = b'one'";
  const hashes = [
    ...(await changed(open)),
    ...(await changed("m[0:3] = b'two'")),
    ...(await changed("m[0:3] = b'six'")),
  ];
  assert.equal(new Set(hashes).size, 3);
  assert.deepEqual(await changed("print('looks only')"), []);
  // Also by what is undone before anybody looks again.
  assert.equal((await changed("m[0:3] = b'ten'; m.close(); f.close()")).length, 1);
  assert.deepEqual(await changed("print('looks only')"), []);
});

test("as many streams as a user may have are followed, and one more is refused [X2][P5]", options, async () => {
  const { id } = await door.run("1", {}, "sess-reader");
  const submitted = await door.post("/executions/sessions/sess-reader/execute", {
    ...{ code: "import time\nprint('on', flush=True)\ntime.sleep(60)", timeout: 60 },
  });
  const running = submitted.body.execution_id;
  const follow = (signal: AbortSignal) => fetch(`${door.url}/api/v1/executions/${running}/stream`, { signal });
  const gone = new AbortController();
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(gone.signal)));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const refused = await door.get(`/executions/${id}/stream`);
  assert.deepEqual([refused.status, refused.body.code, refused.body.retryable], [429, "streams_full", true]);
  // Another user has streams of their own, and whoever leaves makes room.
  const other = await door.run("1", {}, "sess-other-reader");
  assert.equal((await fetch(`${door.url}/api/v1/executions/${other.id}/stream`)).status, 200);
  gone.abort();
  await until(async () => {
    const again = new AbortController();
    const { status } = await follow(again.signal);
    again.abort();
    return status === 200;
  });
  await door.post(`/executions/${running}/cancel`, {});
});

test("more names than anybody means are refused before they are looked at [X2][P5]", options, async () => {
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]));
  const run = (body: object) => door.post("/executions/sessions/sess-names/execute-sync", { code: "1", ...body });
  assert.equal((await run({ env_vars: names(200) })).status, 200);
  assert.equal((await run({ env_vars: names(201) })).status, 400);
  assert.equal((await run({ event: names(20_001) })).status, 400);
  assert.equal((await door.post("/sessions", { user_id: "names", env_vars: names(201) })).status, 400);
});
