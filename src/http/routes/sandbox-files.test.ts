import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { sandboxFileHandlers } from "./sandbox-files.ts";

test("files of a session that could not all be removed are not told as removed [S3][Q2]", async () => {
  const emptied: unknown[] = [];
  const broken = failure("write_failed", { path: "outputs", why: "full" });
  const { emptySandboxFiles } = sandboxFileHandlers(
    partsWith({
      log: { find: async () => ok({ id: "c", number: 7, owner: localOwner }) },
      storage: { ownersOfConversation: async () => [localOwner] },
      workspaces: { ofConversation: () => ({}) },
      engine: {
        emptyFolder: async (_, folder) => noted(emptied, folder, folder === "outputs" ? broken : ok(undefined)),
      },
      sandbox: {
        sessions: { find: async () => undefined, use: async () => failure("session_not_found", { id: "s" }) },
      },
      sandboxSettings: () => ({ uploads: { fileBytesMax: 1, filesMax: 1, types: [] } }),
    }),
  );
  const call = (query: { conversation_id: string; subdir?: string }) =>
    emptySandboxFiles(asked("emptySandboxFiles", { params: { id: "sess-agent-default" }, query }));
  assert.deepEqual([await call({ conversation_id: "c" }), emptied.splice(0)], [broken, ["uploads", "outputs"]]);
  assert.deepEqual([await call({ conversation_id: "c", subdir: "temp" }), emptied], [ok(undefined), ["temp"]]);
});
