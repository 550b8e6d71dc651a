import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";

test("the workspace is counted as it is, also after changes from outside [W8]", async (t) => {
  const tools = await fileTools(t, { kind: "task" });
  const { text: before } = await tools.call("get_workspace_info", {});
  assert.equal(before, '{"fileCount":0,"dirCount":0,"totalSize":0,"lastModified":null}');
  await tools.call("write_file", { path: "notes/a.md", content: "12345" });
  writeFileSync(join(tools.folder, "b.md"), "123");
  const at = Date.UTC(2030, 0, 1) / 1_000;
  utimesSync(join(tools.folder, "b.md"), at, at);
  const { text: after } = await tools.call("get_workspace_info", {});
  assert.equal(after, '{"fileCount":2,"dirCount":1,"totalSize":8,"lastModified":"2030-01-01T00:00:00.000Z"}');
});
