import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { systemIds } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { UploadedFile } from "../../protocol/resources.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { IncomingUpload } from "../../workspace/workspace.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { resumableUploadHandlers } from "./resumable-uploads.ts";

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["files"] } as const;
const whole: IncomingUpload = {
  ...{ id: "u1", owner: ann, name: "a.txt", conversationId: "c", folder: "outputs", bytes: 3, offset: 3, createdAt: 0 },
  ...{ expiresAt: 86_400_000, hash: async () => ok("h") },
  async *chunks() {
    yield new Uint8Array(3);
  },
};
const stored: UploadedFile = { name: "a.txt", path: "outputs/a.txt", bytes: 3, type: "text/plain", replaced: false };

/** An upload that has come as far as the test says, and what was done with it. */
function uploading(upload: IncomingUpload | undefined, store: () => Promise<Result<UploadedFile, Failure>>) {
  const done: unknown[] = [];
  const row = { id: "c", number: 7, owner: ann } as ConversationRow;
  const handlers = resumableUploadHandlers(
    partsWith({
      ids: systemIds,
      log: { find: async () => ok(row) },
      sandboxSettings: () => ({ uploads: { fileBytesMax: 10, filesMax: 9, types: [] } }),
      sandbox: { sessions: { find: async () => undefined, use: async () => failed(makeFailure("storage_busy", {})) } },
      engine: {
        upload(_, { name, folder }) {
          done.push(["store", name, folder]);
          return store();
        },
      },
      workspaces: {
        ofConversation: () => ({}),
        incoming: {
          find: async () => ok(upload),
          async create({ id: _, ...wanted }) {
            done.push(["create", wanted]);
            return ok({ ...whole, ...wanted, offset: 0 });
          },
          async append(id, offset) {
            done.push(["append", id, offset]);
            return ok({ ...whole, offset: 2 });
          },
          finish: async (id, file) => noted(done, ["finish", id, file], ok(undefined)),
          remove: async (id) => noted(done, ["remove", id], true),
        },
      },
    }),
  );
  const headers: Record<string, string> = {};
  const at = { caller, params: { id: "sess-ann", upload: "u1" }, query: {}, header: (name: string) => headers[name] };
  return {
    done,
    with: (...sent: readonly (readonly [string, string])[]) => Object.assign(headers, Object.fromEntries(sent)),
    create: () => handlers.createUpload(asked("createUpload", at)),
    state: () => handlers.uploadState(asked("uploadState", at)),
    goOn: () => handlers.continueUpload(asked("continueUpload", { ...at, bytes: {} })),
    giveUp: () => handlers.abandonUpload(asked("abandonUpload", at)),
  };
}

const tus = ["tus-resumable", "1.0.0"] as const;
const told = { "tus-resumable": "1.0.0" };

test("a whole upload is put into its place once, however many ask at once, and is told with its end and its place [S3]", async () => {
  const storing = Promise.withResolvers<Result<UploadedFile, Failure>>();
  const { state, done } = uploading(whole, () => storing.promise);
  const both = [state(), state()];
  for (let turns = 0; turns < 10; turns += 1) await settle();
  storing.resolve(ok(stored));
  const answers = await Promise.all(both);
  const file = { path: "outputs/a.txt", type: "text/plain" };
  assert.deepEqual(done, [
    ["store", "a.txt", "outputs"],
    ["finish", "u1", file],
  ]);
  for (const answer of answers)
    assert.deepEqual(answer, {
      ok: true,
      value: {
        ...{ upload_id: "u1", file_name: "a.txt", conversation_id: "c", size: 3, offset: 3 },
        ...{ expires_at: "1970-01-02T00:00:00.000Z", file_path: "c/outputs/a.txt" },
      },
      headers: {
        ...{ ...told, "upload-offset": "3", "upload-length": "3" },
        "upload-expires": "Fri, 02 Jan 1970 00:00:00 GMT",
      },
    });
  const again = uploading({ ...whole, done: file }, () => assert.fail());
  assert.equal((await again.state()).ok, true);
  const half = uploading({ ...whole, offset: 2 }, () => assert.fail());
  const answer = await half.state();
  assert.deepEqual(answer.ok && [answer.value.offset, answer.value.file_path], [2, null]);
  assert.deepEqual([again.done, half.done], [[], []]);
});

test("what has come whole stays where it may find its place another time, and goes where it never can [S3][Q2]", async () => {
  const kept: Failure[] = [
    makeFailure("write_failed", { path: "a", why: "broken_off" }),
    makeFailure("storage_busy", {}),
    makeFailure("storage_full", {}),
    makeFailure("storage_read_only", {}),
    makeFailure("storage_broken", { why: "damaged" }),
    makeFailure("read_failed", { path: "a", why: "io" }),
    makeFailure("database_away", { why: "away", said: "" }),
  ];
  const dropped: Failure[] = [
    makeFailure("permission_denied", { path: "a", folder: ".", why: "not_writable" }),
    makeFailure("too_large", { path: "a", sizeBytes: 2, limitBytes: 1, setting: "s" }),
  ];
  for (const reason of [...kept, ...dropped]) {
    const { state, done } = uploading(whole, async () => failed(reason));
    assert.deepEqual(await state(), { ok: false, failure: reason, headers: told });
    const goes = dropped.includes(reason) ? [["remove", "u1"]] : [];
    assert.deepEqual(done, [["store", "a.txt", "outputs"], ...goes], reason.code);
    await state();
    assert.equal(done.filter((one) => Array.isArray(one) && one[0] === "store").length, 2, "it is tried again");
  }
  const wrong = uploading({ ...whole, sha256: "0".repeat(64) }, () => assert.fail());
  const refused = await wrong.state();
  assert.deepEqual([!refused.ok && refused.failure.code, wrong.done], ["upload_checksum_unfit", [["remove", "u1"]]]);
});

test("an upload is nobody's but who began it, and one that nobody began is not there [S3][S7]", async () => {
  const bobs = { ...whole, owner: OwnerId.parse("bob") };
  for (const upload of [bobs, undefined]) {
    const { state, goOn, giveUp, done, with: send } = uploading(upload, () => assert.fail());
    send(tus, ["upload-offset", "0"]);
    const answers = [await state(), await goOn(), await giveUp()];
    assert.deepEqual(
      answers.map((answer) => [!answer.ok && answer.failure, answer.headers]),
      answers.map(() => [makeFailure("upload_not_found", { id: "u1" }), told]),
    );
    assert.deepEqual(done, []);
  }
});

test("an upload begins and goes on only in the words of its protocol, with a size, a name and a place [S3]", async () => {
  const { create, goOn, giveUp, done, with: send } = uploading({ ...whole, offset: 1 }, () => assert.fail());
  const unfit = makeFailure("upload_version_unfit", { version: "1.0.0" });
  const refused = async (asking: typeof create | typeof goOn | typeof giveUp) => {
    const answer = await asking();
    return answer.ok ? "ok" : answer.failure;
  };
  assert.deepEqual([await refused(create), await refused(goOn), await refused(giveUp)], [unfit, unfit, unfit]);
  send(tus);
  const missing = (what: string) => makeFailure("bad_request", { what });
  assert.deepEqual([await refused(create), await refused(goOn)], [missing("Upload-Length"), missing("Upload-Offset")]);
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  const about = `filename ${encoded("a.txt")},conversation_id ${encoded("c")},subdir ${encoded("outputs")}`;
  send(["upload-length", "11"], ["upload-offset", "1"], ["upload-metadata", about]);
  const large = await create();
  assert.equal(!large.ok && large.failure.code, "too_large");
  send(["upload-metadata", `${about},sha256 ${encoded("x")}`], ["upload-length", "10"]);
  assert.deepEqual(await refused(create), missing("Upload-Metadata: sha256"));
  assert.deepEqual(done, []);
  send(["upload-metadata", `${about},sha256 ${encoded("A".repeat(64))}`]);
  const begun = await create();
  assert.deepEqual([begun.ok, begun.headers?.location], [true, "/api/v1/sessions/sess-ann/files/uploads/u1"]);
  await goOn();
  await giveUp();
  assert.deepEqual(done, [
    [
      "create",
      { owner: ann, name: "a.txt", conversationId: "c", folder: "outputs", bytes: 10, sha256: "a".repeat(64) },
    ],
    ["append", "u1", 1],
    ["remove", "u1"],
  ]);
});
