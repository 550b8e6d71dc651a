import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folderWith } from "../../../test/world/folder.ts";
import { sharedFiles } from "./held-files.ts";

const run = promisify(execFile);

const program = `
import mmap, sys
held = []
for name, flags in (("shared", mmap.MAP_SHARED), ("private", mmap.MAP_PRIVATE)):
    with open(sys.argv[1] + "/" + name, "r+b") as file:
        held.append(mmap.mmap(file.fileno(), 0, flags))
print("ready", flush=True)
sys.stdin.read()
`;

test("where no file can be opened any more, what programs hold counts as not known, and never as nothing [X4]", async () => {
  const source = `import { openSync } from "node:fs";
import { sharedFiles, unnamedBytes } from ${JSON.stringify(new URL("held-files.ts", import.meta.url).href)};
try { for (;;) openSync("/dev/null"); } catch {}
const unnamed = await unnamedBytes([process.pid], 1).catch(({ code }) => code);
console.log(String(await sharedFiles([process.pid])), unnamed);`;
  const node = `ulimit -n 64; exec "$0" --input-type=module --eval "$1"`;
  const { stdout } = await run("/bin/sh", ["-c", node, process.execPath, source]);
  assert.equal(stdout, "undefined EMFILE\n");
});

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
