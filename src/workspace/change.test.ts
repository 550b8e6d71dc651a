import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";

test("of many files that choose a free name in one folder at once each gets its own [W11][F4]", async (t) => {
  for (const kind of ["conversation", "task"] as const) {
    const { workspace, again, folder } = await testWorkspace(t, { kind });
    // What is there is counted before the first of them is in its place, which takes a while.
    mkdirSync(join(folder, "temp"), { recursive: true });
    for (let n = 0; n < 500; n += 1) writeFileSync(join(folder, "temp", `${n}`), "");
    const contents = Array.from({ length: 8 }, (_, n) => `content ${n}`);
    const choose = (taken: ReadonlySet<string>) => ok(`report ${taken.size}`);
    const written = await Promise.all(
      contents.map((content, n) => (n % 2 === 0 ? workspace : again()).write("outputs/report", content, { choose })),
    );
    assert.deepEqual([...new Set(written.map((each) => each.ok && each.value.path))].length, contents.length);
    const names = readdirSync(join(folder, "outputs"));
    const found = names.map((name) => readFileSync(join(folder, "outputs", name), "utf8"));
    assert.deepEqual(found.toSorted(), contents);
  }
});

test("a write that was noted and did not come to be is made when it is repeated, also where the old content is as long [W11][L2]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const place = join(folder, "outputs", "a.txt");
  const write = (content: string, key: string) => workspace.write("outputs/a.txt", content, { key });
  await write("price 10", "first");
  await write("price 12", "second");
  writeFileSync(place, "price 10"); // As a kill behind the note and before the move leaves it.
  assert.equal((await write("price 12", "second")).ok, true);
  assert.equal(readFileSync(place, "utf8"), "price 12");
});
