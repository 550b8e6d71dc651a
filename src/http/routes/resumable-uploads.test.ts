import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { callOver } from "../../../test/world/callers.ts";
import { until } from "../../../test/world/events.ts";
import { startYard, type TestYard } from "../../../test/world/yard.ts";
import { makeFailure } from "../../protocol/failure.ts";
import type { StorageFailure } from "../../storage/storage.ts";

// What the contract of files of the sandbox does not show of uploads that go on where they broke off.

const spoken = { "x-account-id": "ann", "tus-resumable": "1.0.0" };
const base = "/api/v1/sessions/sess-ann/files/uploads";

/** What befalls the storage when the ledger of files is written: it waits, or it refuses. */
const met: { waits: Promise<void> | undefined; refuses: StorageFailure | undefined; asked: number } = {
  ...{ waits: undefined, refuses: undefined, asked: 0 },
};
let yard: TestYard;
before(async () => {
  yard = await startYard({
    wrapStorage: (real) => ({
      ...real,
      async append(batch) {
        if (!batch.events.some(({ type }) => type === "file.changed")) return real.append(batch);
        met.asked += 1;
        await met.waits;
        return met.refuses === undefined ? real.append(batch) : { ok: false, failure: met.refuses };
      },
    }),
  });
});
after(() => yard[Symbol.asyncDispose]());

const encoded = (text: string) => Buffer.from(text).toString("base64");

/** Begins an upload of "text", of which all has come to the disk already where it is whole. */
async function begin(name: string, { isWhole = true, sha256 = "" } = {}): Promise<string> {
  const about = `filename ${encoded(name)},conversation_id ${encoded("c")},subdir ${encoded("outputs")}`;
  const more = sha256 === "" ? "" : `,sha256 ${encoded(sha256)}`;
  const headers = { ...spoken, "upload-length": "4", "upload-metadata": about + more };
  const made = await callOver(yard.app, `POST ${base}`, headers);
  assert.equal(made.status, 201, made.text);
  const path = made.headers.get("location") ?? "";
  assert.match(path, /^\/api\/v1\/sessions\/sess-ann\/files\/uploads\/tus-[0-9a-f]{32}$/);
  const id = path.slice(path.lastIndexOf("/") + 1);
  if (isWhole) writeFileSync(join(yard.data, "incoming", `${id}.part`), "text");
  return path;
}

const state = async (path: string) => {
  const { status, code, headers, text } = await callOver(yard.app, `GET ${path}`, spoken);
  return { status, code, headers, body: JSON.parse(text) };
};

test("a whole upload is put into its place once, however many ask at once, and is told with its end and its place [S3]", async () => {
  const path = await begin("once.txt");
  const go = Promise.withResolvers<void>();
  Object.assign(met, { waits: go.promise, asked: 0 });
  const both = [state(path), state(path)];
  await until("it is on its way to its place", () => met.asked > 0);
  go.resolve();
  met.waits = undefined;
  for (const { status, headers, body } of await Promise.all(both)) {
    const { upload_id, expires_at, ...told } = body;
    assert.equal(status, 200);
    assert.deepEqual(told, {
      ...{ file_name: "once.txt", conversation_id: "c", size: 4, offset: 4, file_path: "c/outputs/once.txt" },
    });
    assert.equal(path, `${base}/${upload_id}`);
    assert.deepEqual(
      ["tus-resumable", "upload-offset", "upload-length", "upload-expires"].map((name) => headers.get(name)),
      ["1.0.0", "4", "4", new Date(expires_at).toUTCString()],
    );
  }
  assert.equal((await state(path)).status, 200);
  assert.equal(met.asked, 1);
  const half = await begin("half.txt", { isWhole: false });
  const { offset, file_path } = (await state(half)).body;
  assert.deepEqual([offset, file_path, met.asked], [0, null, 1]);
});

test("what has come whole stays where it may find its place another time [S3][Q2]", async () => {
  const refusals: StorageFailure[] = [
    makeFailure("storage_busy", {}),
    makeFailure("storage_full", {}),
    makeFailure("database_away", { why: "away", said: "" }),
  ];
  for (const [at, refusal] of refusals.entries()) {
    const path = await begin(`kept-${at}.txt`);
    met.refuses = refusal;
    const refused = await state(path);
    assert.deepEqual([refused.code, refused.headers.get("tus-resumable")], [refusal.code, "1.0.0"]);
    met.refuses = undefined;
    assert.equal((await state(path)).body.file_path, `c/outputs/kept-${at}.txt`, "it is tried again");
  }
});
