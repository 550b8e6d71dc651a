import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openFiles } from "../../test/world/open-files.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { copyFiles } from "./copy.ts";
import { noWorkspace } from "./none.ts";

test("where there is no room for all drafts some stay behind; results are never left out in silence [L9][W11]", async (t) => {
  const { workspace: from, folder } = await testWorkspace(t);
  for (const name of ["outputs/a", "outputs/b", "temp/c", "temp/d"]) await from.write(name, "12345");
  const narrow = await testWorkspace(t, { limits: { bytesMax: 15 } });
  assert.deepEqual(await copyFiles(from, narrow.workspace), ok({ files: 3, leftOut: [] }));
  assert.deepEqual(readdirSync(join(narrow.folder, "outputs")).sort(), ["a", "b"]);
  const tiny = await testWorkspace(t, { limits: { bytesMax: 4 } });
  const refused = await copyFiles(from, tiny.workspace);
  assert.deepEqual(refused.ok ? undefined : refused.failure.code, "quota_exceeded");
  const nowhere = noWorkspace("gone", makeFailure("workspace_not_assigned", { agent: "gone" }));
  assert.equal((await copyFiles(from, nowhere)).ok, false);
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(folder)),
    [],
    "what was not copied is not left open",
  );
});
