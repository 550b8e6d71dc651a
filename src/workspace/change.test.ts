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
