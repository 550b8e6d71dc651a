import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { systemIds } from "../base/ids.ts";
import type { Logger } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { BrokenOff } from "./faults.ts";
import { openIncoming } from "./incoming.ts";

const nothing = () => {};
const ended = async () => {};
const levels = { error: nothing, warn: nothing, info: nothing, debug: nothing };
const logger: Logger = { path: undefined, ...levels, flush: ended, close: ended };

test("parts are taken one after the other up to the length that was announced, and what has come when one breaks off stays [S3][F4]", async (t) => {
  const { incoming, create, stateOf, dataDir } = openPlace(t);
  const id = await create();
  assert.deepEqual(await incoming.append(id, 1, pieces("x")), failure("upload_offset_unfit", { offset: 1, have: 0 }));
  assert.deepEqual(
    await incoming.append(id, 0, pieces("123", BrokenOff)),
    failure("write_failed", { path: "a.txt", why: "broken_off" }),
  );
  assert.deepEqual(await stateOf(id), [3, sha("123")]);
  const tooLarge = { path: "a.txt", sizeBytes: 7, limitBytes: 6, setting: "" };
  assert.deepEqual(await incoming.append(id, 3, pieces("45", "67", "8")), failure("too_large", tooLarge));
  assert.deepEqual(await stateOf(id), [5, sha("12345")], "the piece that did not fit left nothing");
  const whole = await incoming.append(id, 5, pieces("6"));
  assert.deepEqual([whole.ok && whole.value.offset, await stateOf(id)], [6, [6, sha("123456")]]);
  const again = await incoming.append(id, 6, pieces("no more is read"));
  assert.equal(again.ok && again.value.offset, 6);
  const same = await incoming.create({ ...wanted, id: id.slice("tus-".length) });
  assert.deepEqual(same.ok && [same.value.id, same.value.offset], [id, 6], "created again it is the same upload");
  for (const unknown of [`tus-${"0".repeat(32)}`, "../incoming/x", id.toUpperCase(), `${id}/../${id}`, `x/../${id}`])
    assert.equal(codeOf(await incoming.append(unknown, 0, pieces("x"))), "upload_not_found");
  assert.deepEqual(openFiles(dataDir), []);
});

test("an upload is there for a day to the moment, whole or not, and then nothing of it is [S3]", async (t) => {
  const { incoming, create, clock, everything } = openPlace(t);
  const [half, whole] = [await create(), await create()];
  await incoming.append(half, 0, pieces("123"));
  await incoming.append(whole, 0, pieces("123456"));
  await incoming.finish(whole, { path: "uploads/a.txt", type: "text" });
  const there = async () =>
    (await Promise.all([half, whole].map((id) => incoming.find(id)))).map((found) => found.ok && found.value?.offset);
  clock.move(dayMs - 1);
  await incoming.sweep();
  const found = await incoming.find(half);
  assert.deepEqual([await there(), found.ok && found.value?.expiresAt], [[3, 6], dayMs]);
  clock.move(1);
  assert.deepEqual(await there(), [undefined, undefined], "also before anybody has tidied up");
  assert.equal(codeOf(await incoming.append(half, 3, pieces("4"))), "upload_not_found");
  assert.equal(await incoming.remove(half), false);
  await incoming.sweep();
  assert.deepEqual(everything(), []);
});

test("of many uploads that one user begins in the same moment there are no more than may be [S3]", async (t) => {
  const { incoming } = openPlace(t);
  const begun = await Promise.all(Array.from({ length: 25 }, () => incoming.create(wanted)));
  assert.deepEqual(
    begun.map(codeOf),
    begun.map((_, index) => (index < 20 ? "ok" : "uploads_too_many")),
  );
});

test("what belongs to no upload goes at once; where several servers have the folder, when nobody can be about to write it [S3][Q3]", async (t) => {
  for (const isShared of [false, true]) {
    const { incoming, create, clock, dataDir, everything } = openPlace(t, isShared);
    clock.move(10 * dayMs);
    const id = await create();
    const [lonely, later] = [`tus-${"1".repeat(32)}`, `tus-${"2".repeat(32)}`];
    const owners = join(dataDir, "incoming-owners", "of-somebody");
    mkdirSync(owners, { recursive: true });
    const put = (path: string, at: number) => {
      writeFileSync(path, "");
      utimesSync(path, at / 1000, at / 1000);
    };
    put(join(dataDir, "incoming", `${lonely}.part`), clock.now() - dayMs - 1000);
    put(join(dataDir, "incoming", `${later}.part`), clock.now() - dayMs + 1000);
    put(join(owners, lonely), clock.now() - dayMs - 1000);
    put(join(owners, later), clock.now() - dayMs + 1000);
    await incoming.sweep();
    const own = [id, `${id}.json`, `${id}.part`];
    const others = isShared ? [later, `${later}.part`] : [later];
    assert.deepEqual(everything(), [...own, ...others].sort());
  }
});

test("of an upload that has found its place only what became of it is kept, and of a hundred such the oldest is forgotten for a new one [S3]", async (t) => {
  const { incoming, create, clock, everything } = openPlace(t);
  const ids: string[] = [];
  for (let count = 0; count < 101; count += 1) {
    clock.move(1);
    const id = await create();
    ids.push(id);
    await incoming.append(id, 0, pieces("123456"));
    await incoming.finish(id, { path: `uploads/${count}.txt`, type: "text" });
  }
  const pathOf = async (id = "") => {
    const found = await incoming.find(id);
    return found.ok ? found.value?.done?.path : "failed";
  };
  assert.deepEqual(
    [await pathOf(ids[0]), await pathOf(ids[1]), await pathOf(ids[100])],
    [undefined, "uploads/1.txt", "uploads/100.txt"],
  );
  assert.deepEqual(
    everything(),
    ids
      .slice(1)
      .flatMap((id) => [id, `${id}.json`])
      .sort(),
    "neither bytes nor marks of those that are gone",
  );
  const first = await incoming.find(ids[1] ?? "");
  assert.deepEqual(first.ok && [first.value?.offset, first.value?.bytes, first.value?.createdAt], [6, 6, 2]);
});

const dayMs = 24 * 3_600_000;
const wanted = { owner: localOwner, name: "a.txt", conversationId: "c", folder: "uploads", bytes: 6 };

function openPlace(t: TestContext, isShared = false) {
  const dataDir = mkdtempSync(join(tmpdir(), "incoming-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = manualClock();
  const incoming = openIncoming({ dataDir, clock, ids: systemIds, logger, isShared });
  const filesIn = (folder: string) =>
    readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return {
    ...{ incoming, clock, dataDir },
    async create() {
      const made = await incoming.create(wanted);
      assert.ok(made.ok);
      return made.value.id;
    },
    async stateOf(id: string) {
      const found = await incoming.find(id);
      const hash = await (found.ok ? found.value?.hash() : undefined);
      return [found.ok && found.value?.offset, hash?.ok && hash.value];
    },
    everything: () => [...filesIn("incoming"), ...filesIn("incoming-owners")].map(({ name }) => name).sort(),
  };
}

async function* pieces(...given: (string | typeof BrokenOff)[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of given) {
    if (typeof piece !== "string") throw new piece("the other side is gone");
    yield Buffer.from(piece);
  }
}

function codeOf(answer: { readonly ok: boolean; readonly failure?: { readonly code: string } }): string {
  return answer.failure?.code ?? "ok";
}

function sha(text: string): string {
  return hash("sha256", text);
}
