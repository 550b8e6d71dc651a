import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { pack as openPack } from "tar-stream";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import type { ArchiveOptions } from "./archive.ts";
import { openWork } from "./archive-work.ts";
import { openBooks } from "./books.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";

/** Takes entries in, and gives what came out of the packer. */
function openPacking(t: TestContext) {
  const staging = folderWith(t, {});
  const pack = openPack();
  const state = { isLeft: false };
  const options = optionsOf(t);
  const work = openWork(options, { pack, staging, isLeft: () => state.isLeft });
  const packed = text(pack);
  return {
    ...{ staging, pack, work, state },
    end() {
      pack.finalize();
      return packed;
    },
    /** The last line of the list. */
    endLine() {
      const lines = readFileSync(join(staging, "manifest.jsonl"), "utf8").trim().split("\n");
      return JSON.parse(lines.at(-1) ?? "").end;
    },
  };
}

function optionsOf(t: TestContext): ArchiveOptions {
  const layout = layoutOf(folderWith(t, {}));
  const plots = openPlots({ layout, books: openBooks(), ids: systemIds, images: undefined });
  return { layout, plots, clock: systemClock, ids: systemIds, storage: openDatabase(t) };
}

const factsOf = (path: string) => ({ path, mode: 0o600, mtime: 1 });

test("of files that were written to all the time a hundred are named, and all are in the backup [Q3]", async (t) => {
  const { work, end, endLine } = openPacking(t);
  const file = join(folderWith(t, { log: "x" }), "log");
  let isOver = false;
  // Once in each round of the event loop: no read is over in the round in which it began.
  const write = () => {
    appendFileSync(file, "y");
    if (!isOver) setImmediate(write);
  };
  write();
  for (let count = 0; count < 102; count += 1) await work.addFile(file, factsOf(`workspace/c/${count}`));
  isOver = true;
  await work.finish();
  await end();
  const { changing, files, leftOut } = endLine();
  // The first may have been read before anybody wrote to it.
  assert.deepEqual([changing.length, files, leftOut], [100, 102, []]);
  assert.match(changing[0], /^workspace\/c\/[01]$/);
});

test("a large file is copied before it is sent, and the copy goes with it; nothing stays open [Q3]", async (t) => {
  const { work, end, staging, endLine } = openPacking(t);
  const folder = folderWith(t, {});
  for (const [name, bytes] of [
    ["at", 4 * 1024 ** 2],
    ["over", 4 * 1024 ** 2 + 1],
  ] as const) {
    writeFileSync(join(folder, name), Buffer.alloc(bytes, name));
    await work.addFile(join(folder, name), factsOf(`workspace/c/${name}`));
    assert.equal(existsSync(join(staging, "file")), false);
  }
  await work.finish();
  const packed = await end();
  assert.deepEqual([endLine().bytes, endLine().files, endLine().changing], [8 * 1024 ** 2 + 1, 2, []]);
  assert.ok(packed.includes("at".repeat(1000)) && packed.includes("over".repeat(1000)));
  const open = openFiles().filter((path) => path.startsWith(folder));
  assert.deepEqual([readdirSync(staging), open], [["manifest.jsonl"], []]);
});

test("what the disk did to a backup is told in it by its cause; what nobody can be told, or is a mistake of ours, is thrown [Q3][Q2]", async (t) => {
  const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: "write" });
  const told = async (code: string) => {
    const { work, end } = openPacking(t);
    await work.giveUp(systemError(code));
    const packed = await end();
    assert.ok(packed.includes("failed.json"));
    return JSON.parse(/\{"code".*\}\}/.exec(packed)?.[0] ?? "{}");
  };
  for (const code of ["ENOSPC", "EDQUOT"]) assert.deepEqual(await told(code), { code: "storage_full", params: {} });
  assert.deepEqual(await told("EIO"), { code: "backup_failed", params: { why: "io" } });
  const full = systemError("ENOSPC");
  const mistake = new RangeError("of ours");
  await assert.rejects(openPacking(t).work.giveUp(mistake), mistake);
  const left = openPacking(t);
  left.state.isLeft = true;
  await assert.rejects(left.work.giveUp(full), full);
});

test("whoever leaves while a large entry is on its way is not waited for [Q3][P3]", async (t) => {
  const staging = folderWith(t, {});
  const pack = openPack();
  const work = openWork(optionsOf(t), { pack, staging, isLeft: () => true });
  const folder = folderWith(t, {});
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "d/large"), Buffer.alloc(6_000_000));
  const adding = work.addFile(join(folder, "d/large"), factsOf("workspace/c/large"));
  // Nobody takes anything out: it waits for its reader, who is gone then.
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  pack.destroy();
  await assert.rejects(adding);
  await assert.rejects(work.addText("workspace/c/late", "x"));
});
