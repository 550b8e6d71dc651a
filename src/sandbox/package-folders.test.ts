import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeTooDeep } from "../../test/world/played-installs.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { localOwner } from "../protocol/ids.ts";
import { isOver, openPackageFolders } from "./package-folders.ts";

test("an installation that a crash cut off in its last moment does not keep the next one from its place [X5][Q2]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const folders = openPackageFolders(dir, { ids: systemIds, logger: quietLogger([]) });
  const own = await folders.of(localOwner);
  const cutOff = await folders.begin(localOwner);
  symlinkSync(cutOff.name, join(own, "current.next"));
  const { name } = await folders.begin(localOwner);
  await folders.makeCurrent(localOwner, name);
  assert.equal(readlinkSync(join(own, "current")), name);
});

test("packages that lie too deep to be measured count as too many, not as none [X5]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  makeTooDeep(dir);
  const roomy = { bytesMax: 1024 ** 3, filesMax: 1000, freeBytesMin: 0 };
  assert.equal(await isOver(dir, roomy), true);
});

test("whatever a package made of its folder while it was installed, a failed one is removed and the next one takes its place [X5][X4]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const logged: string[] = [];
  const folders = openPackageFolders(dir, { ids: systemIds, logger: quietLogger(logged) });
  const own = await folders.of(localOwner);
  const failed = await folders.begin(localOwner);
  makeDeep(failed.folder);
  await folders.drop(localOwner, failed.name);
  assert.deepEqual([readdirSync(own), readdirSync(join(dir, "gone"))], [["current", "none"], []]);
  const cutOff = await folders.begin(localOwner);
  makeDeep(cutOff.folder);
  // What a crash left of a removal.
  mkdirSync(join(dir, "gone", `gone-${"0".repeat(24)}.1`, "a"), { recursive: true });
  const good = await folders.begin(localOwner);
  assert.deepEqual(readdirSync(join(dir, "gone")), []);
  await folders.makeCurrent(localOwner, good.name);
  assert.deepEqual(readdirSync(own).toSorted(), ["current", good.name, "none"].toSorted());
  makeDeep(good.folder);
  await folders.forget(localOwner);
  assert.deepEqual([readdirSync(dir), readdirSync(join(dir, "gone")), logged], [["gone"], [], []]);
});

test("a server that is not root removes folders that a package locked [X5][X4]", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const uid = process.geteuid?.() === 0 ? 54_400 : undefined;
  if (uid !== undefined) chownSync(dir, uid, uid);
  chmodSync(dir, 0o700);
  const script = `
    import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
    import { openPackageFolders } from ${JSON.stringify(new URL("./package-folders.ts", import.meta.url).href)};
    import { systemIds } from ${JSON.stringify(new URL("../base/ids.ts", import.meta.url).href)};
    ${uid === undefined ? "" : `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});`}
    const folders = openPackageFolders(${JSON.stringify(dir)}, { ids: systemIds, logger: console });
    const { name, folder } = await folders.begin("u");
    mkdirSync(folder + "/a/b", { recursive: true });
    writeFileSync(folder + "/a/b/c", "");
    for (const locked of ["/a/b", "/a", ""]) chmodSync(folder + locked, 0);
    await folders.drop("u", name);
    console.log(JSON.stringify([readdirSync(await folders.of("u")), readdirSync(${JSON.stringify(join(dir, "gone"))})]));
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(said), [["current", "none"], []]);
});

/** A way in that is longer than the system takes at once. */
function makeDeep(folder: string): void {
  const script = `for (let i = 0; i < 60; i += 1) { const name = "d".repeat(100); fs.mkdirSync(name); process.chdir(name); } fs.writeFileSync("f", "");`;
  execFileSync(process.execPath, ["--eval", script], { cwd: folder });
}
