import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { sharedFiles } from "./held-files.ts";

const program = `
import mmap, sys
held = []
for name, flags in (("shared", mmap.MAP_SHARED), ("private", mmap.MAP_PRIVATE)):
    with open(sys.argv[1] + "/" + name, "r+b") as file:
        held.append(mmap.mmap(file.fileno(), 0, flags))
print("ready", flush=True)
sys.stdin.read()
`;

test("of the files in a program's memory those are known that what it writes there changes [X4][S4]", async (t) => {
  const folder = folderWith(t, { shared: "x", private: "x" });
  const child = spawn("/usr/bin/python3", ["-I", "-S", "-c", program, folder], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const found = await sharedFiles([child.pid ?? 0, 2 ** 22 + 1]);
  const isFound = (name: string) => found?.has(statSync(join(folder, name)).ino);
  assert.deepEqual([isFound("shared"), isFound("private")], [true, false]);
  // Too much to look through is not looked at any further.
  assert.equal(await sharedFiles(Array(1000).fill(process.pid)), undefined);
  const ended = once(child, "exit");
  child.stdin.end();
  await ended;
  assert.deepEqual(await sharedFiles([child.pid ?? 0]), new Set());
});
