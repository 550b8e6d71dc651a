import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { bareSupervisor } from "../../../test/world/bare-supervisor.ts";
import { systemClock } from "../../base/clock.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";

// What the supervisor does with words that a host of ours does not say, or says only when something else went wrong.

const lengths = (header: number, payload: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(header, 0);
  bytes.writeUInt32BE(payload, 4);
  return bytes;
};

function hostOf(t: TestContext) {
  const supervisor = bareSupervisor(t);
  const { socket, workspace } = supervisor;
  socket.on("error", () => {});
  const decoder = createFrameDecoder();
  const heard: Record<string, unknown>[] = [];
  let onHeard = () => {};
  socket.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    for (const { header, payload } of frames.value) heard.push({ ...Object(header), text: payload.toString() });
    onHeard();
  });
  const say = (header: object, payload = "") => socket.write(encodeFrame(header, Buffer.from(payload)));
  const told = async (type: string, wanted: object = {}): Promise<Record<string, unknown>> => {
    for (;;) {
      const found = heard.find((one) =>
        Object.entries({ type, ...wanted }).every(([name, value]) => one[name] === value),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        onHeard = resolve;
      });
    }
  };
  const hello = {
    ...{ type: "hello", nonce: "n", workspace, folders: [], javascript: null, env: {}, outputBytesMax: 1000 },
    ...{ fileBytesMax: 1_000_000, memoryBytes: null, processesMax: null },
  };
  const exec = (id: string, language: string, code: string, env: object = {}) =>
    say({ type: "exec", id, language, agent: "a", folder: "", env }, code);
  return { ...supervisor, say, told, hello, exec, heard };
}

test("a supervisor that is told anything before its greeting ends, and does nothing of it [X1][X3]", async (t) => {
  const { say, gone, said, heard } = hostOf(t);
  say({ type: "ping", n: 1 });
  assert.deepEqual([await gone, said(), heard], [0, "", []]);
});

for (const [name, header, payload] of [
  ["header", 65_537, 0],
  ["payload", 2, 65_537],
] as const) {
  test(`a supervisor ends when a frame has a longer ${name} than any of ours, and does not wait for it [X1]`, async (t) => {
    const { socket, say, told, hello, gone } = hostOf(t);
    say(hello);
    await told("hello");
    socket.write(lengths(header, payload));
    assert.equal(await gone, 1);
  });
}

test("a supervisor takes a frame that is as long as it may be, and one that comes byte by byte [X1]", async (t) => {
  const { socket, say, told, hello } = hostOf(t);
  say(hello);
  const text = JSON.stringify({ type: "ping", n: 1 }).padEnd(65_536, " ");
  socket.write(Buffer.concat([lengths(65_536, 0), Buffer.from(text)]));
  assert.equal((await told("pong")).n, 1);
  for (const byte of encodeFrame({ type: "ping", n: 2 })) socket.write(Buffer.of(byte));
  assert.equal((await told("pong", { n: 2 })).dropped, 0);
});

test("a supervisor answers its greeting with the folders that it sees and the word that it was given [X1][S1]", async (t) => {
  const { say, told, hello, workspace } = hostOf(t);
  say({ ...hello, folders: [workspace, `${workspace}/nowhere`] });
  const { marks, nonce, version } = await told("hello");
  assert(Array.isArray(marks));
  assert.deepEqual([nonce, version, marks.length, marks[1]], ["n", 1, 2, null]);
  assert.match(String(marks[0]), /^\d+:\d+$/);
});

test("an agent's Python that is busy takes no second cell, and finishes its first [X1]", async (t) => {
  const { say, told, hello, exec } = hostOf(t);
  say(hello);
  exec("one", "python", "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('finished')");
  exec("two", "python", "print('never')");
  const { code } = await told("exited", { id: "two" });
  const { text } = await told("out", { id: "two" });
  assert.deepEqual([code, text], [126, "sandbox: the Python of this agent is busy\n"]);
  exec("go", "bash", "touch go");
  assert.deepEqual((await told("out", { id: "one" })).text, "finished\n");
  assert.equal((await told("exited", { id: "one" })).code, 0);
});

test("a variable that no process can have is told, and costs nobody the agent's Python [X1]", async (t) => {
  const { say, told, hello, exec } = hostOf(t);
  say(hello);
  exec("one", "python", "x = 1");
  await told("exited", { id: "one" });
  exec("two", "python", "x", { A: "a\0b" });
  const { code } = await told("exited", { id: "two" });
  assert.deepEqual([code, (await told("out", { id: "two" })).text], [126, "sandbox: embedded null byte\n"]);
  exec("three", "python", "x");
  assert.equal((await told("result", { id: "three" })).text, "1");
});

test("words about an execution that never was, or is over, do nothing, and what follows is heard [X1]", async (t) => {
  const { say, told, hello, exec, heard } = hostOf(t);
  say(hello);
  for (const type of ["interrupt", "kill"]) say({ type, id: "never" });
  exec("e", "bash", "true");
  await told("exited", { id: "e" });
  for (const type of ["interrupt", "kill"]) say({ type, id: "e" });
  say({ type: "ping", n: 1 });
  await told("pong");
  assert.deepEqual(
    heard.map(({ type }) => type),
    ["hello", "started", "exited", "pong"],
  );
});

test("a supervisor whose host is gone ends with all that it started [X1]", async (t) => {
  const { say, told, hello, exec, socket, gone } = hostOf(t);
  say(hello);
  exec("e", "bash", "sleep 1000 & echo $!; exec sleep 1000");
  const pid = Number((await told("out")).text);
  socket.destroy();
  assert.equal(await gone, 0);
  // Asked for until it is so: whoever takes it over may take a moment to ask how it ended.
  while (isAlive(pid)) await systemClock.wait(5);
});

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
