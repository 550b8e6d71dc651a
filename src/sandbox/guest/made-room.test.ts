import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bareSupervisor, done, python } from "../../../test/world/bare-supervisor.ts";
import { folderWith } from "../../../test/world/folder.ts";
import { bareGuest } from "./bare-guest.testing.ts";

// A guest whose number of processes is reached as long as the one lives that the file `left` names. With a file
// `holding` that one stays to be seen when it has ended, as one does whose parent has not asked yet.

const full = `
import errno, os, runpy, sys
fork, exists = os.fork, os.path.exists
def left():
    try:
        return open("left").read().strip()
    except OSError:
        return ""
def fork_where_there_is_room():
    if left() and exists(f"/proc/{left()}"):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    return fork()
os.fork = fork_where_there_is_room
os.path.exists = lambda path: path == f"/proc/{left()}" and exists("holding") or exists(path)
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
`;

const leave = "sleep 1000 > /dev/null 2>&1 & echo $! > left.new; mv left.new left";
const remark = "sandbox: programs left running by earlier calls were ended\n";
const noRoom = "sandbox: cannot start a process: Resource temporarily unavailable\n";

test("programs that earlier calls left running make room for the next one, which is told so [X1][X4]", async (t) => {
  const { run, workspace } = await fullGuest(t);
  await run(leave);
  assert.deepEqual(await run("echo ran"), done({ stdout: "ran\n", stderr: remark }));
  assert.equal(existsSync(`/proc/${readFileSync(join(workspace, "left"), "utf8").trim()}`), false);
  assert.deepEqual(await run("echo again"), done({ stdout: "again\n" }));
});

test("room is made for an agent's Python as for any program [X1][X4]", async (t) => {
  const { run } = await fullGuest(t);
  await run(leave);
  const cell = await run("1 + 1", { language: "python" });
  assert.deepEqual(cell, done({ results: ["text 2"], stderr: remark }));
});

test("no room is made while another call runs, and none where nothing can be ended [X1][X4]", async (t) => {
  const { run, kill, workspace } = await fullGuest(t);
  const running = run(": > begun; exec sleep 1000", { id: "running", timeoutMs: 300_000 });
  while (!existsSync(join(workspace, "begun"))) await run("true");
  await run(leave);
  const left = readFileSync(join(workspace, "left"), "utf8").trim();
  assert.deepEqual(await run("echo never"), { ...done({ stderr: noRoom }), end: "done 126" });
  assert.equal(existsSync(`/proc/${left}`), true);
  kill("running");
  await running;
  writeFileSync(join(workspace, "left"), "self");
  assert.deepEqual(await run("echo never"), { ...done({ stderr: noRoom + remark }), end: "done 126" });
});

test("what is interrupted or killed while room is made for it never starts [X1]", async (t) => {
  const { run, kill, interrupt, workspace } = await fullGuest(t);
  await run(leave);
  writeFileSync(join(workspace, "holding"), "");
  const first = run("touch first", { id: "first" });
  interrupt("first");
  assert.deepEqual(await first, { ...done({}), end: "cancelled SIGINT" });
  writeFileSync(join(workspace, "left"), "");
  await run(leave);
  const second = run("touch second", { id: "second" });
  kill("second");
  assert.deepEqual(await second, { ...done({}), end: "killed SIGKILL" });
  writeFileSync(join(workspace, "left"), "");
  rmSync(join(workspace, "holding"));
  // Long enough for both to be tried again.
  await run("sleep 0.1");
  const isThere = (name: string) => existsSync(join(workspace, name));
  assert.deepEqual(["first", "second"].map(isThere), [false, false]);
});

async function fullGuest(t: TestContext) {
  const program = join(folderWith(t, { python: `#!/bin/sh\nexec ${python} -I -S -c '${full}' "$@"\n` }), "python");
  chmodSync(program, 0o755);
  const { guest, run, workspace } = await bareGuest(bareSupervisor(t, { python: program }));
  return { run, workspace, kill: guest.kill, interrupt: guest.interrupt };
}
