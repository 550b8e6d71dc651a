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

test("a form that says how long it is is refused for that where its file alone must be too long, and not a byte before [F4]", async () => {
  const { uploadSandboxFile } = sandboxFileHandlers(
    partsWith({ sandboxSettings: () => ({ uploads: { fileBytesMax: 1_000, filesMax: 1, types: [] } }) }),
  );
  const beside = 512 * 1024;
  const send = async (announced: number | undefined, path?: string) => {
    let taken = 0;
    const chunks = (async function* () {
      taken += 1;
      yield Buffer.from("no form");
    })();
    const call = { params: { id: "s" }, query: { path }, bytes: { chunks, announced } };
    const answer = await uploadSandboxFile(asked("uploadSandboxFile", call));
    return [answer.ok || answer.failure.code, answer.ok || answer.failure.params, taken];
  };
  const unread = ["form_unfit", { why: "no_boundary" }, 0];
  assert.deepEqual(await send(undefined), unread);
  assert.deepEqual(await send(1_000 + beside), unread);
  const large = { sizeBytes: 1_001, limitBytes: 1_000, setting: "sandbox_platform.file_upload_config.max_file_size" };
  assert.deepEqual(await send(1_001 + beside), ["too_large", { path: "file", ...large }, 0]);
  assert.deepEqual(await send(1_001 + beside, "c/a.csv"), ["too_large", { path: "c/a.csv", ...large }, 0]);
});

test("an archive and a file that is asked for as one come as a ZIP file, a folder always, and a file else as it is [S3]", async () => {
  const stat = (path: string) => ({
    ...{ path, bytes: 3, type: path.endsWith("d") ? "folder" : "file", mode: 0, modifiedAt: 0 },
  });
  const workspace = {
    id: "c",
    stat: async (path: string) => ok(stat(path)),
    stream: async (path: string, range: unknown) => ok([path, range]),
    walk: async (path: string) =>
      ok(
        (async function* () {
          yield stat(`${path}/x`);
        })(),
      ),
  };
  const { readSandboxFile, archiveFiles } = sandboxFileHandlers(
    partsWith({
      log: { find: async () => ok({ id: "c", number: 7, owner: localOwner }) },
      storage: { ownersOfConversation: async () => [localOwner] },
      workspaces: { ofConversation: () => workspace },
      sandbox: {
        sessions: { find: async () => undefined, use: async () => failure("session_not_found", { id: "s" }) },
      },
      sandboxSettings: () => ({ uploads: { fileBytesMax: 1, filesMax: 1, types: [] } }),
    }),
  );
  const read = async (path: string, format?: "zip") => {
    const call = { params: { id: "sess-agent-default", path }, query: { format } };
    const answer = await readSandboxFile(asked("readSandboxFile", call));
    assert.ok(answer.ok);
    if ("archive" in answer.value) return answer.value.archive.name;
    return [answer.value.stat.path, await answer.value.open(undefined)];
  };
  assert.deepEqual(await read("c/outputs/a.csv"), ["outputs/a.csv", ok(["outputs/a.csv", undefined])]);
  assert.equal(await read("c/outputs/a.csv", "zip"), "a.csv.zip");
  assert.equal(await read("c/outputs/d"), "d.zip");
  const whole = await archiveFiles(asked("archiveFiles", { params: { id: "c" }, query: { path: "." } }));
  assert.equal(whole.ok && "archive" in whole.value && whole.value.archive.name, "c.zip");
});
