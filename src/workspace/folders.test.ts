import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { withImages } from "../../test/world/images.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { ConversationId, OwnerId } from "../protocol/ids.ts";
import { openBooks } from "./books.ts";
import { asFileFailure, openPlaces, type PlacesOptions } from "./folders.ts";
import { smallImages } from "./images.testing.ts";
import { layoutOf } from "./layout.ts";

test("what the database could not do is told of files by its cause: full, read-only, or the disk [W7][P4]", () => {
  const disk = (why: "full" | "read_only" | "io") => makeFailure("write_failed", { path: ".", why });
  const cases = [
    [makeFailure("storage_full", {}), disk("full")],
    [makeFailure("storage_read_only", {}), disk("read_only")],
    [makeFailure("storage_busy", {}), disk("io")],
    [makeFailure("fenced", {}), disk("io")],
    [makeFailure("log_moved", {}), disk("io")],
    [makeFailure("storage_broken", { why: "damaged" }), disk("io")],
    [makeFailure("conversation_not_found", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conversation_exists", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conflict", { path: "a" }), makeFailure("conflict", { path: "a" })],
  ] as const;
  for (const [reason, told] of cases) assert.deepEqual(asFileFailure(reason, "root"), told, reason.code);
});

/** The place of a conversation in which nothing was written so far. */
async function openPlace(t: TestContext, { disk }: Pick<PlacesOptions, "disk"> = {}) {
  const imagesOf = smallImages(t);
  const base = folderWith(t, {});
  const storage = openDatabase(t);
  const options = { storage, clock: systemClock, ids: systemIds, logger: quietLogger([]), books: openBooks() };
  const layout = layoutOf(base);
  const images = disk && imagesOf({ ...options, layout });
  const places = openPlaces({ ...options, layout, images, disk });
  const wanted = { owner: OwnerId.parse("alice"), id: ConversationId.parse("c"), at: 1, events: [] };
  const conversation = await storage.createConversation(wanted);
  assert.ok(conversation.ok);
  const place = await places.ofConversation(conversation.value);
  assert.ok(place.ok);
  return { base, storage, places, conversation: conversation.value, place: place.value };
}

test("folders that are made by two at once are made once: what is in them stays, and no draft is left [W1][W11]", async (t) => {
  const { base, place } = await openPlace(t);
  assert.deepEqual(await Promise.all([place.make(), place.make()]), [ok(undefined), ok(undefined)]);
  writeFileSync(join(place.folder, "uploads", "a"), "mine");
  assert.deepEqual(await place.make(), ok(undefined));
  assert.equal(readFileSync(join(place.folder, "uploads", "a"), "utf8"), "mine");
  assert.deepEqual(readdirSync(join(base, "staging")), []);
});

test("where something else lies in its place a conversation gets no folders, is told so, and no draft is left [W1][W7]", async (t) => {
  const { base, place } = await openPlace(t);
  await place.make();
  rmSync(place.folder, { recursive: true });
  writeFileSync(place.folder, "somebody's file");
  assert.deepEqual(await place.make(), failure("not_a_folder", { path: "." }));
  assert.deepEqual(readdirSync(join(base, "staging")), []);
  assert.equal(readFileSync(place.folder, "utf8"), "somebody's file");
});

test("that a conversation has folders is stored before they are made, and of one that is gone neither is [W1][S6]", async (t) => {
  const { base, storage, places, conversation, place } = await openPlace(t);
  const rowOf = () => storage.findWorkspace(conversation.number);
  assert.equal((await rowOf())?.madeAt, undefined);
  const again = await places.ofConversation(conversation);
  assert.equal(again.ok && again.value, place, "it is looked up once");
  await storage.updateWorkspace("workspace/c", { cleanedAt: 5 });
  await place.make();
  const row = await rowOf();
  assert.deepEqual([row?.madeAt === undefined, row?.usedAt === row?.madeAt, row?.cleanedAt], [false, true, undefined]);
  rmSync(base, { recursive: true });
  const deleted = { at: 9 };
  await storage.append({ number: conversation.number, events: [], with: { deleted } });
  assert.deepEqual(await place.make(), failure("workspace_not_assigned", { agent: "c" }));
  assert.equal(existsSync(base), false);
});

test("folders that cannot be laid out leave no draft of themselves behind [W1][Q2]", async (t) => {
  const { base, storage, places, conversation } = await openPlace(t);
  const row = await storage.findWorkspace(conversation.number);
  // A time that no calendar has: what is written last of them cannot be written.
  const place = row && places.ofRow({ ...row, folder: "workspace/other", createdAt: 1e20 });
  assert.ok(place?.ok);
  await assert.rejects(place.value.make(), RangeError);
  assert.deepEqual(readdirSync(join(base, "staging")), []);
  assert.equal(existsSync(place.value.folder), false);
});

test(
  "on disks of their own a workspace is made once, where it has no folder yet, and a disk that fails is told by its cause [W1][X4][W7]",
  withImages(async (t) => {
    const { base, place } = await openPlace(t, { disk: "image" });
    const at = (name: string) => join(base, "mounted/workspace/c", name);
    const folders = { files: at("files"), staging: at("staging"), disk: join(base, "images/workspace") };
    const refused = failure("write_failed", { path: ".", why: "io" });
    writeFileSync(join(base, "images"), "somebody's file");
    assert.deepEqual(await place.findImage?.(), ok({ ...folders, isMade: false }));
    assert.deepEqual([await place.make(), existsSync(place.folder)], [refused, false]);
    rmSync(join(base, "images"));

    assert.deepEqual(await place.make(), ok(undefined));
    const inside = [".metadata.json", "outputs", "skills", "temp", "uploads"];
    assert.deepEqual(readdirSync(folders.files).sort(), inside, "it is there for whoever writes next");
    assert.deepEqual(await place.findImage?.(), ok({ ...folders, isMade: true }));
    writeFileSync(join(place.folder, "uploads/a"), "mine");
    assert.deepEqual(await place.make(), ok(undefined));
    assert.equal(readFileSync(at("files/uploads/a"), "utf8"), "mine", "one that is there is not made anew");

    const broken = await openPlace(t, { disk: "image" });
    mkdirSync(join(broken.base, "images/workspace"), { recursive: true });
    writeFileSync(join(broken.base, "images/workspace/c"), "no file system");
    assert.deepEqual([await broken.place.make(), await broken.place.findImage?.()], [refused, failed("io")]);

    const plain = await openPlace(t, { disk: "folder" });
    assert.deepEqual([await plain.place.findImage?.(), await plain.place.make()], [ok(undefined), ok(undefined)]);
    assert.equal(existsSync(join(plain.place.folder, "uploads")), true);
    assert.equal(existsSync(join(plain.base, "images")), false);
  }),
);
