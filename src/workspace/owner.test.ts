import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { openRoot } from "./descend.ts";
import { giveAll, guestUid, isGiven, ungive } from "./owner.ts";

const isRoot = process.geteuid?.() === 0;
const needsRoot = { skip: isRoot ? false : "needs root to give files to somebody" };
const uid = 0x7000_0001;

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

test(
  "all below the folders that programs may write is given to their user, what is others' too is not, and that is known [X3][W5]",
  needsRoot,
  async (t) => {
    const folder = folderWith(t, { "outputs/deep/a": "a", "temp/": "", "skills/s": "s", outside: "" });
    const [root, outputs] = [openRoot(join(folder)) ?? assert.fail(), join(folder, "outputs")];
    t.after(() => closeSync(root));
    writeFileSync(join(outputs, ".hidden"), "");
    linkSync(join(folder, "outside"), join(outputs, "second-name"));
    symlinkSync(join(folder, "outside"), join(outputs, "link"));
    mkdirSync(join(outputs, "given"));
    chownSync(join(outputs, "given"), uid, 0);
    assert.equal(isGiven(root, uid), false);
    const open = () => openFiles().filter((path) => path.startsWith(folder));
    const before = open();
    await giveAll(root, uid, ["outputs", "temp"]);
    const owners = (...names: string[]) => names.map((name) => lstatSync(join(folder, name)).uid);
    assert.deepEqual(
      owners("outputs", "outputs/deep", "outputs/deep/a", "outputs/.hidden", "temp"),
      Array.from({ length: 5 }, () => uid),
    );
    assert.deepEqual(owners(".", "skills", "skills/s", "outside", "outputs/link"), [0, 0, 0, 0, 0]);
    assert.deepEqual([lstatSync(join(outputs, "deep/a")).gid, lstatSync(join(outputs, "given")).gid], [uid, 0]);
    assert.deepEqual([isGiven(root, uid), isGiven(root, uid + 1), open()], [true, false, before]);
    ungive(folder);
    assert.deepEqual([isGiven(root, uid), lstatSync(folder).uid, open()], [false, 0, before]);
    await giveAll(root, uid, ["."]);
    assert.deepEqual([...owners(".", "skills/s"), isGiven(root, uid)], [uid, uid, true]);
    ungive(folder);
    assert.deepEqual([isGiven(root, uid), lstatSync(folder).uid], [false, uid], "it stays whose it is");
    symlinkSync(folder, join(folder, "led-away"));
    assert.throws(() => ungive(join(folder, "led-away")));
  },
);
