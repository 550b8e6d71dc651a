import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { bwrapPath, guestTest as test } from "./sandbox-guests.ts";
import { openDoor, sandboxWith } from "./sandbox-http.ts";

const path = "/workspace/c1/uploads/temparea/data.csv";
const read = `print(open("${path}").read())`;

test("a session whose programs would not see the uploads is in error and runs nothing, and runs again when they would [X2][S1][S4]", async (t) => {
  const mount = swappedMount(t);
  await using door = await openDoor({ openSandbox: sandboxWith({ bwrap: mount.bwrap }) });
  // Before the first file comes: a guest is prewarmed for it.
  mount.makeWrong();
  const session = "/sessions/sb-session-ann";
  const form = new FormData();
  form.set("conversation_id", "c1");
  form.set("file", new File(["city,sold\n"], "data.csv"));
  const uploaded = await fetch(`${door.url}/api/v1${session}/files/upload`, { method: "POST", body: form });
  assert.equal(uploaded.status, 200);
  const run = () => door.post("/executions/sessions/sess-ann/execute-sync", { code: read, conversation_id: "c1" });
  const status = async () => (await door.get(session)).body.status;

  const refused = await run();
  const { execution_id: id, code, detail } = refused.body;
  assert.deepEqual([refused.status, code], [503, "sandbox_start_failed"]);
  assert.match(String(detail), /^The sandbox was not started: it would not have seen the files of this conversation\./);
  const record = (await door.get(`/executions/${id}/result`)).body;
  assert.deepEqual([record.status, record.stdout, typeof record.completed_at], ["failed", "", "string"]);
  assert.equal(await status(), "error");
  // A client that finds an error makes the session anew, and is told the same as long as nothing is mended.
  const revived = await door.post("/sessions", { user_id: "ann" });
  assert.deepEqual([revived.status, revived.body.status, (await run()).status], [201, "running", 503]);
  assert.equal(await status(), "error");

  mount.makeRight();
  const ran = await run();
  assert.deepEqual([ran.status, ran.body.stdout, await status()], [200, "city,sold\n\n", "running"]);
});

type Mount = {
  readonly bwrap: string;
  /** Which folder of a conversation is an orphan from now on: below its root, all of it unless said otherwise. */
  makeWrong(folder?: string): void;
  makeRight(): void;
};

/** A bwrap that binds an orphan in the place of a folder of the workspace, as a mount that failed silently leaves one. */
function swappedMount(t: TestContext): Mount {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-mount-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const [bwrap, orphan, wish] = ["bwrap", "orphan", "wish"].map((name) => join(folder, name));
  assert.ok(bwrap !== undefined && orphan !== undefined && wish !== undefined);
  for (const inside of ["", "uploads", "outputs", "temp", "skills"]) {
    mkdirSync(join(orphan, inside));
    chmodSync(join(orphan, inside), 0o777);
  }
  writeFileSync(bwrap, swap(orphan, wish));
  chmodSync(bwrap, 0o755);
  return {
    bwrap,
    makeWrong(below = "/uploads") {
      writeFileSync(wish, `/workspace/c1${below}`);
      chmodSync(wish, 0o644);
    },
    makeRight: () => rmSync(wish),
  };
}

/** Its arguments come through a descriptor: a bind is an option, its source, and the place inside. */
const swap = (orphan: string, wish: string) => `#!/usr/bin/python3 -I
import os, sys
arguments = sys.argv[1:]
if os.path.exists("${wish}") and "--args" in arguments:
    place = open("${wish}", "rb").read()
    given = int(arguments[arguments.index("--args") + 1])
    with open(given, "rb", closefd=False) as file:
        hidden = file.read().split(b"\\0")[:-1]
    binds = (b"--bind", b"--ro-bind", b"--bind-fd", b"--ro-bind-fd")
    for at in [at for at, text in enumerate(hidden) if text == place and hidden[at - 2] in binds]:
        hidden[at - 2 : at] = [hidden[at - 2].removesuffix(b"-fd"), b"${orphan}"]
    changed = os.memfd_create("arguments")
    os.write(changed, b"".join(text + b"\\0" for text in hidden))
    os.lseek(changed, 0, os.SEEK_SET)
    os.dup2(changed, given)
os.execv("${bwrapPath}", ["bwrap", *arguments])
`;
