import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { guestUid } from "./owner.ts";

const isRoot = process.geteuid?.() === 0;
const needsRoot = { skip: isRoot ? false : "needs root to give files to somebody" };

test(
  "each workspace of a data directory has a user of its own, far above those of people, and no two overlap [X3]",
  needsRoot,
  () => {
    const first = guestUid("/data", 0) ?? assert.fail("there is such a user here");
    assert.ok(first >= 0x7000_0000 && first < 2 ** 31);
    assert.equal((first - 0x7000_0000) % 2 ** 20, 0);
    assert.deepEqual([guestUid("/data", 1), guestUid("/data", 2 ** 20 - 1)], [first + 1, first + 2 ** 20 - 1]);
    assert.throws(() => guestUid("/data", 2 ** 20), /fewer workspaces/);
    const ranges = Array.from({ length: 2_000 }, (_, n) => ((guestUid(`/data/${n}`, 0) ?? 0) - 0x7000_0000) / 2 ** 20);
    assert.deepEqual([Math.min(...ranges), Math.max(...ranges)], [0, 249]);
  },
);

/** What a process is told in which there are only root and these users; undefined where none can be made. */
async function toldUnder(t: TestContext, ...users: (readonly [first: number, count: number])[]): Promise<unknown> {
  const text = `const { guestUid } = await import(${JSON.stringify(join(import.meta.dirname, "owner.ts"))});
const answers = [guestUid("/data", 0) ?? "none", guestUid("/data", 5) ?? "none"];
process.stdout.write(JSON.stringify(answers));`;
  const command = [process.execPath, "--input-type=module", "--eval", text];
  const args = ["--user", "--", "sh", "-c", 'echo ready; read _; exec "$@"', "sh", ...command];
  const child = spawn("unshare", args, { cwd: folderWith(t, {}), stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "close");
  const [ready] = await Promise.race([once(child.stdout, "data"), ended]);
  if (!Buffer.isBuffer(ready)) return undefined;
  const lines = [[0, 1] as const, ...users].map(([first, count]) => `${first} ${first} ${count}\n`);
  writeFileSync(`/proc/${child.pid}/uid_map`, lines.join(""));
  child.stdin.end("\n");
  const [answer] = await Promise.all([readText(child.stdout), ended]);
  return JSON.parse(answer);
}

test("in a container with users of its own, files are given only to one that it has [X3]", needsRoot, async (t) => {
  const first = guestUid("/data", 0) ?? 0;
  const told = await toldUnder(t);
  if (told === undefined) return t.skip("there are no users of its own here");
  assert.deepEqual(told, ["none", "none"]);
  assert.deepEqual(await toldUnder(t, [first, 5]), [first, "none"], "to the last one and no further");
  assert.deepEqual(await toldUnder(t, [first, 6]), [first, first + 5]);
  assert.deepEqual(await toldUnder(t, [first + 1, 5]), ["none", first + 5]);
});
