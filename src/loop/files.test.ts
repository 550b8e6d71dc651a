import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { failed, ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import { openFiles } from "./files.ts";
import { keepOne } from "./tenure.testing.ts";

/** What a person does to the files of a conversation, with what search hears of it. */
async function place(t: TestContext, more: Partial<Workspace> = {}) {
  const { log, clock, conversation, tenure, number } = await keepOne(t);
  await tenure.release();
  const { workspace } = await testWorkspace(t);
  const heard: string[] = [];
  const files = openFiles({
    ...{ log, clock, uploads: defaultUploadPolicy },
    workspaces: {
      ofConversation: () => ({ ...workspace, ...more }),
      ofAgent: async (_, agent = "root") =>
        agent === "w1" ? ok(workspace) : failure("workspace_not_assigned", { agent }),
    },
    documents: {
      notice: (_, path) => void heard.push(`there is ${path}`),
      forget: (_, path) => void heard.push(`gone is ${path}`),
    },
  });
  const told = async () =>
    (await log.read(number, { after: 0, limit: 100 })).map(({ seq: _, at: __, ...event }) => event);
  const usedAt = async () => {
    const found = await log.find(conversation.owner, conversation.id);
    return found.ok && found.value.updatedAt;
  };
  return { ...files, conversation, workspace, heard, told, clock, usedAt };
}

async function* chunksOf(text: string) {
  yield Buffer.from(text);
}
const change: FileChange = { path: "b", before: undefined, after: { bytes: 1, mode: 0o644 }, lost: undefined };

test("all that a person does to files stands in the ledger as theirs, and search hears of it [W12][F3]", async (t) => {
  const { upload, removeFile, emptyFolder, noteChanges, conversation, workspace, heard, told } = await place(t);
  const given = { name: "a.txt", keep: false };
  const first = await upload(conversation, { ...given, chunks: chunksOf("one") });
  assert.ok(first.ok);
  assert.equal(first.value.path, "uploads/a.txt");
  const hash = await workspace.hash("uploads/a.txt");
  const after = { bytes: 3, mode: 0o644, hash: hash.ok ? hash.value : "" };
  const other = await upload(conversation, { ...given, chunks: chunksOf("two"), folder: "temp/in", server: "shop" });
  assert.equal(other.ok && other.value.path, "temp/in/a.txt");
  assert.ok((await removeFile(conversation, "./uploads/a.txt")).ok);
  assert.ok((await emptyFolder(conversation, "temp")).ok);
  assert.deepEqual(
    [await noteChanges(conversation, []), await noteChanges(conversation, [change])],
    [ok(undefined), ok(undefined)],
  );
  const line = { type: "file.changed" };
  const [one, two, ...others] = await told();
  assert.deepEqual(one, { ...line, path: "uploads/a.txt", by: "upload", after });
  assert.deepEqual(two?.type === "file.changed" && [two.path, two.by, two.server], ["temp/in/a.txt", "upload", "shop"]);
  assert.deepEqual(others, [
    { ...line, path: "uploads/a.txt", by: "person", before: after },
    { ...line, path: "temp", by: "person" },
    { ...line, path: "b", by: "person", program: true, after: change.after },
  ]);
  assert.deepEqual(heard, [
    ...["there is uploads/a.txt", "there is temp/in/a.txt", "gone is uploads/a.txt", "gone is temp"],
  ]);
  // What was taken away is kept, so that it can be had again.
  assert.equal((await workspace.restore("uploads/a.txt", after)).ok, true);
});

test("a program that a person ran uses the conversation where it changed files, and leaves it as it was where it did not [W12][L9]", async (t) => {
  const { noteChanges, conversation, clock, usedAt } = await place(t);
  const before = await usedAt();
  clock.move(5);
  await noteChanges(conversation, []);
  assert.equal(await usedAt(), before);
  await noteChanges(conversation, [change]);
  assert.equal(await usedAt(), clock.now());
});

test("what could not be done to a file is told as it is, and stands neither in the ledger nor with search [W12][Q2]", async (t) => {
  const locked = makeFailure("permission_denied", { path: "a", folder: ".", why: "not_writable" });
  const refuse = async () => failed(locked);
  const { upload, removeFile, emptyFolder, agentFiles, conversation, heard, told } = await place(t, {
    ...{ write: refuse, remove: refuse, empty: refuse },
  });
  const put = await upload(conversation, { name: "a.txt", keep: false, chunks: chunksOf("one") });
  assert.deepEqual(
    [put, await removeFile(conversation, "a"), await emptyFolder(conversation, "a")],
    Array(3).fill(failed(locked)),
  );
  assert.deepEqual([await told(), heard], [[], []]);
  const narrow = { fileBytesMax: 2, filesMax: 1, types: ["txt"] };
  const large = await upload(conversation, {
    name: "a.txt",
    keep: false,
    chunks: chunksOf("one"),
    policy: narrow,
    announcedBytes: 3,
  });
  assert.equal(large.ok || large.failure.code, "too_large");
  assert.equal((await agentFiles(conversation, "w1")).ok, true);
  const nobody = await agentFiles(conversation, "w2");
  assert.deepEqual(nobody, failed(makeFailure("agent_unknown", { name: "w2" })));
});
