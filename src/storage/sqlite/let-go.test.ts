import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { systemClock } from "../../base/clock.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { type OwnerInfo, takeOwnership } from "./owner-lock.ts";
import { openSqlite } from "./sqlite.ts";

const infoOf = (pid: number): OwnerInfo => ({ pid, startedAt: 1, socket: "s", protocol: "1" });
const memory = { owner: OwnerId.parse("alice"), id: "m", fact: "tea", conversation: undefined, at: 1 };

test("who ends while another program has the database locked ends all the same, holds nothing, and has lost nothing [Q2][L2][P3]", async (t) => {
  const path = join(folderWith(t, {}), "d.db");
  const held = () => openFiles().filter((file) => file.startsWith(path)).length;
  const open = () => {
    const opened = openSqlite({ path, clock: systemClock });
    assert.ok(opened.ok);
    return opened.value;
  };
  const storage = open();
  for (let index = 0; index < 300; index += 1) await storage.putMemory({ ...memory, id: `${index}` });
  const other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  await storage.close();
  await storage.close();
  other.close();
  assert.equal(held(), 0);
  const again = open();
  assert.equal((await again.listMemory(memory.owner, 999)).length, 300);
  await again.close();
  assert.equal(held(), 0);
});

test("a process that was refused a data directory, or lets go of it, holds nothing of it open [P3]", (t) => {
  const folder = folderWith(t, {});
  const held = () => openFiles().filter((file) => file.startsWith(folder)).length;
  const lock = takeOwnership(folder, infoOf(1));
  assert.ok(lock.ok);
  const refused = takeOwnership(folder, infoOf(2));
  assert.deepEqual(refused.ok || refused.failure, { kind: "owned", owner: infoOf(1) });
  lock.value.release();
  assert.equal(held(), 0);
  // It has the lock by then, and cannot say who it is.
  mkdirSync(join(folder, "owner.json", "in the way"), { recursive: true });
  assert.throws(() => takeOwnership(folder, infoOf(3)));
  assert.equal(held(), 0);
});
