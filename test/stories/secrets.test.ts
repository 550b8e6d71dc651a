import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob")];
const token = "tok-5d1f9c0b77e34a21";
const own = { AGENTYARD_KEY: "an operator's own key of many characters" };

test("a secret is stored sealed under a key that is made when it is needed, and is there after a restart [Q1][C6]", async (t) => {
  const data = folder(t);
  await using yard = await startYard({ data });
  assert.equal(statSync(join(data, "key"), { throwIfNoEntry: false }), undefined, "nobody needed one yet");
  assert.deepEqual(await yard.secrets.open(ann, "weather"), { ok: true, value: undefined });
  await must(yard.secrets.put(ann, "weather", token));
  assert.equal(statSync(join(data, "key")).mode & 0o777, 0o600);
  await yard.close();
  for (const name of ["sessions.db", "sessions.db-wal"]) assert.equal(holds(join(data, name), token), false);

  await using again = await startYard({ data });
  assert.equal(await must(again.secrets.open(ann, "weather")), token);
  assert.equal(await must(again.secrets.open(bob, "weather")), undefined, "another user has none of this name");
  assert.deepEqual([(await again.secrets.list(ann)).map(({ name }) => name)], [["weather"]]);
  await must(again.secrets.put(ann, "weather", "another"));
  assert.equal(await must(again.secrets.open(ann, "weather")), "another");
  assert.equal(await must(again.secrets.drop(ann, "weather")), true);
  assert.equal(await must(again.secrets.open(ann, "weather")), undefined);
});

test("the operator's own key counts before the file, and without the right key a secret is told to be sealed [Q1][C6]", async (t) => {
  const data = folder(t);
  await withYard({ data, env: own }, async ({ secrets }) => {
    await must(secrets.put(ann, "weather", token));
    assert.equal(statSync(join(data, "key"), { throwIfNoEntry: false }), undefined, "no file is made for it");
  });
  await withYard({ data }, async ({ secrets }) => {
    assert.deepEqual(await failureOf(secrets.open(ann, "weather")), ["secret_key_unusable", { why: "missing" }]);
    await must(secrets.put(ann, "mail", token));
  });
  await withYard({ data, env: own }, async ({ secrets }) => {
    assert.equal(await must(secrets.open(ann, "weather")), token);
    const sealed = ["secret_sealed", { name: "mail", why: "other_key" }];
    assert.deepEqual(await failureOf(secrets.open(ann, "mail")), sealed);
    await must(secrets.put(ann, "mail", "entered anew"));
    assert.equal(await must(secrets.open(ann, "mail")), "entered anew");
  });
});

test("a secret of which a byte is another one on the disk is told to be damaged, and can be entered anew [Q1][C6]", async () => {
  let stored: Storage | undefined;
  const wrapStorage = (storage: Storage): Storage => {
    stored = storage;
    return storage;
  };
  await using yard = await startYard({ env: own, wrapStorage });
  const { secrets } = yard;
  await must(secrets.put(ann, "weather", token));
  const row = (await stored?.findSecret(ann, "weather")) ?? assert.fail();
  const sealed = Buffer.from(row.sealed);
  sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
  assert.ok((await stored?.putSecret({ ...row, sealed }))?.ok);
  const damaged = ["secret_sealed", { name: "weather", why: "damaged" }];
  assert.deepEqual(await failureOf(secrets.open(ann, "weather")), damaged);
  await must(secrets.put(ann, "weather", token));
  assert.equal(await must(secrets.open(ann, "weather")), token);
});

test("a key file that holds no key, or cannot be read or made, is told, and what is stored stays [Q1][C6]", async (t) => {
  const data = folder(t);
  const path = join(data, "key");
  await using yard = await startYard({ data });
  const { secrets } = yard;
  await must(secrets.put(ann, "weather", token));
  const right = readFileSync(path, "utf8");
  writeFileSync(path, "short\n");
  assert.deepEqual(await failureOf(secrets.open(ann, "weather")), ["secret_key_unusable", { why: "unfit" }]);
  assert.deepEqual(await failureOf(secrets.put(ann, "weather", "x")), ["secret_key_unusable", { why: "unfit" }]);
  rmSync(path);
  // A folder in its place: nobody can read it as a file, or put one there, root included.
  mkdirSync(join(path, "in-the-way"), { recursive: true });
  assert.deepEqual(await failureOf(secrets.open(ann, "weather")), ["secret_key_unusable", { why: "unreadable" }]);
  rmSync(path, { recursive: true });
  mkdirSync(`${path}.part/in-the-way`, { recursive: true });
  assert.deepEqual(await failureOf(secrets.put(ann, "mail", "x")), ["secret_key_unusable", { why: "unwritable" }]);
  rmSync(`${path}.part`, { recursive: true });
  writeFileSync(path, right);
  assert.equal(await must(secrets.open(ann, "weather")), token);
});

test("a secret may have 64 KiB and no byte more [Q1]", async () => {
  await using yard = await startYard({ env: own });
  await must(yard.secrets.put(ann, "long", "x".repeat(65_536)));
  assert.deepEqual(await failureOf(yard.secrets.put(ann, "long", "x".repeat(65_537))), [
    "secret_too_long",
    { limitBytes: 65_536 },
  ]);
  assert.equal((await must(yard.secrets.open(ann, "long")))?.length, 65_536, "the one from before is still there");
});

async function withYard(options: Parameters<typeof startYard>[0], work: (yard: TestYard) => Promise<void>) {
  await using yard = await startYard(options);
  await work(yard);
}

async function failureOf(
  result: Promise<{ ok: true } | { ok: false; failure: { code: string; params: object } }>,
): Promise<unknown> {
  const settled = await result;
  return settled.ok ? undefined : [settled.failure.code, settled.failure.params];
}

function holds(path: string, text: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined && readFileSync(path).includes(text);
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "secrets-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
