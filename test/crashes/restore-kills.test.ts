import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeBackup } from "../../src/backup.ts";
import { findUnfinished } from "../../src/data-place.ts";
import { folderOf, restore } from "../world/backups.ts";
import { startYard } from "../world/yard.ts";

/** `npm run torture`: after every step. Else after every third and around the end. */
const isEvery = process.env.AGENTYARD_RESTORE_KILLS === "every";

test("wherever a restore is killed, the next start finds the old yard or the new one, whole, or says that neither is; nothing old is lost [Q2][Q3]", async (t) => {
  const folder = folderOf(t);
  const [data, states, path] = [join(folder, "data"), join(folder, "states"), join(folder, "new.tar")];
  {
    await using yard = await startYard();
    await fill(yard, "new");
    assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok);
  }
  {
    await using yard = await startYard({ data });
    await fill(yard, "old");
  }
  // What secrets are sealed under, and files of earlier turns: without them the old yard is not whole.
  writeFileSync(join(data, "key"), "a key");
  mkdirSync(join(data, "kept", "old"), { recursive: true });
  writeFileSync(join(data, "kept", "old", "1"), "an earlier state");
  mkdirSync(states);
  const child = spawnSync(process.execPath, [join(import.meta.dirname, "restore-child.ts"), path, data, states], {
    ...{ encoding: "utf8", stdio: ["ignore", "inherit", "inherit"] },
  });
  assert.equal(child.status, 0);
  const steps = readdirSync(states)
    .map(Number)
    .sort((one, other) => one - other);
  assert.ok(steps.length > 15, `only ${steps.length} steps`);
  const found: string[] = [];
  for (const step of steps.filter((_, index) => isEvery || index % 3 === 0 || index > steps.length - 3)) {
    const place = join(states, String(step));
    const label = `killed after step ${step} of ${steps.length}`;
    assert.equal(
      globSync("**/old/uploads/old.txt", { cwd: place }).length,
      1,
      `${label}: the old files are there once`,
    );
    const seen = await openAfter(place, label);
    if (seen === "neither") {
      const again = await restore(path, place, { replaces: true });
      assert.ok(again.ok, `${label}: ${JSON.stringify(again)}`);
      assert.equal(await openAfter(place, label), "new");
    }
    if (found.at(-1) !== seen) found.push(seen);
  }
  assert.deepEqual(found, ["old", "neither", "new"]);
});

type Yard = Awaited<ReturnType<typeof startYard>>;

async function fill({ client }: Yard, name: string): Promise<void> {
  await client.call("createConversation", { body: { id: name } });
  await client.upload(name, `${name}.txt`, Buffer.from(name));
}

/** What a start finds: one yard with its file, or that a restore is not done. */
async function openAfter(data: string, label: string): Promise<string> {
  if (findUnfinished({ dataDir: data, sessionDbPath: join(data, "sessions.db") }) !== undefined) return "neither";
  assert.ok(existsSync(join(data, "sessions.db")), `${label}: an empty yard would begin`);
  await using yard = await startYard({ data });
  const listed = await yard.client.call("listConversations", {});
  const ids = listed.ok ? listed.value.items.map(({ id }) => id) : [];
  assert.equal(ids.length, 1, label);
  const [id = ""] = ids;
  const besides = ["key", join("kept", "old", "1")].filter((name) => existsSync(join(data, name)));
  assert.equal(besides.length, id === "old" ? 2 : 0, `${label}: ${id} with ${besides}`);
  assert.equal(readFileSync(join(data, "workspace", id, "uploads", `${id}.txt`), "utf8"), id, label);
  return id;
}
