import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/** What a restore changes names with; each of them is a step. */
const changing = {
  later: ["appendFile", "chmod", "copyFile", "mkdir", "rename", "rm", "rmdir", "utimes"],
  atOnce: ["mkdirSync", "renameSync", "rmSync", "rmdirSync", "symlinkSync", "unlinkSync"],
} as const;

const [, , path = "", data = "", states = ""] = process.argv;
let count = 0;
let isCopying = false;

// A process that is killed leaves what is there in that moment; so a copy of it after each step is as good as a kill
// there, and one process is enough for all of them.
function copy(): void {
  if (isCopying) return;
  isCopying = true;
  count += 1;
  fs.cpSync(data, join(states, String(count)), { recursive: true, verbatimSymlinks: true });
  isCopying = false;
}

for (const name of changing.later) {
  const real: (...given: never[]) => Promise<unknown> = fs.promises[name];
  Object.assign(fs.promises, {
    async [name](...given: never[]) {
      const answer = await real(...given);
      copy();
      return answer;
    },
  });
}
for (const name of changing.atOnce) {
  const real: (...given: never[]) => unknown = fs[name];
  Object.assign(fs, {
    [name](...given: never[]) {
      const answer = real(...given);
      copy();
      return answer;
    },
  });
}
syncBuiltinESMExports();
const { restore } = await import("../world/backups.ts");
const restored = await restore(path, data, { replaces: true });
assert.ok(restored.ok);
