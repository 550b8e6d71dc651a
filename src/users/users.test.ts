import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { openDatabase } from "../../test/world/database.ts";
import { passwordCost } from "../../test/world/yard.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { createOnce, rememberedMax } from "./proofs.ts";
import { sealWith } from "./seal.ts";
import { openUsers, type Person, type Users } from "./users.ts";

const dayMs = 86_400_000;

test("a password fits only its own user, in any spelling of the same letters, and is nowhere to be read [C6][Q1]", async (t) => {
  const { users, storage, parts } = open(t);
  await users.add({ id: "ann", password: "p\u00e4ssword" });
  await users.add({ id: "bob" });
  assert.equal(codeOf(await users.signIn("ann", "pa\u0308ssword")), "ok");
  const wrong = [
    ["ann", "passwort"],
    ["ann", ""],
    ["bob", ""],
    ["bob", "p\u00e4ssword"],
    ["nobody", "x"],
    ["a b", "x"],
  ] as const;
  for (const [id, password] of wrong) assert.equal(codeOf(await users.signIn(id, password)), "sign_in_failed", id);
  await openUsers(parts).add({ id: "cyd", password: "at its usual cost" });
  const row = (await storage.listUsers(10)).find(({ id }) => id === "cyd");
  assert.match(row?.password ?? "", /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  assert.equal(codeOf(await users.signIn("cyd", "at its usual cost")), "ok", "at the cost it was made with");
  assert.equal(codeOf(await users.setPassword("ann", "another one")), "ok");
  assert.deepEqual(
    [codeOf(await users.signIn("ann", "p\u00e4ssword")), codeOf(await users.signIn("ann", "another one"))],
    ["sign_in_failed", "ok"],
  );
});

test("guessing from many places at once is slowed down, not the machine [C6]", async (t) => {
  const { users } = open(t);
  const tries = await Promise.all(Array.from({ length: 10 }, () => users.signIn("nobody", "x")));
  assert.deepEqual(
    Object.entries(Object.groupBy(tries, codeOf)).map(([code, all]) => [code, all?.length]),
    [
      ["sign_in_failed", 8],
      ["rate_limited", 2],
    ],
  );
});

test("who is no admin has no key that is one, and the keys of a removed user open nothing, also when the name comes back [C6]", async (t) => {
  const { users } = open(t);
  await users.add({ id: "ann" });
  await users.add({ id: "bob" });
  const made = await users.addKey("bob", { id: "k", name: "", scopes: ["admin", "chat"] });
  const link = await users.makeLink("bob");
  assert.ok(made.ok && link.ok);
  assert.deepEqual((await users.byKey(made.value.key))?.scopes, ["chat"]);
  await users.remove("bob");
  await users.add({ id: "bob" });
  assert.equal(await users.byKey(made.value.key), undefined);
  assert.equal(codeOf(await users.signInByLink(link.value.token)), "sign_in_link_used");
});

test("a user waits for one person of the sign-in service: by the letters of their sub or of a checked address [C6]", async (t) => {
  const { users } = open(t);
  const come = comeTo(users);
  await users.add({ id: "ann", signInAs: "4711" });
  await users.add({ id: "bob", signInAs: "bob@example.com" });
  await users.add({ id: "cat", signInAs: "cat@example.com" });
  const strangers = [
    person("47110"),
    person("1", { names: ["4711", "bob@example.com"] }),
    person("2", { email: "4711" }),
    person("3", { email: "Bob@example.com" }),
    person("4", { email: "b\u00f3b@example.com" }),
    // At some services people choose their sub.
    person("bob@example.com"),
  ];
  for (const one of strangers) assert.equal(await come(one), "sign_in_stranger", JSON.stringify(one));
  assert.equal(await come(person("4711", { names: ["whoever"] })), "ann");
  assert.equal(await come(person("5", { email: "bob@example.com" })), "bob");
  assert.equal(await come(person("5", { names: ["robert"] })), "bob", "by who they are from then on");
  assert.equal(await come(person("6", { email: "bob@example.com" })), "sign_in_stranger", "it is taken");
  const other = { ...person("4711"), subject: "https://other.example 4711" };
  assert.equal(await come(other), "sign_in_stranger", "another service");
  assert.equal(codeOf(await users.add({ id: "dan", signInAs: "cat@example.com" })), "sign_in_as_taken");
  const cat = person("7", { email: "cat@example.com", addsUsers: true });
  await users.addKey("cat", { id: "k", name: "", scopes: ["chat"] });
  assert.equal(await come(cat), "sign_in_stranger", "one that is in use is not handed over");
  await users.removeKey("cat", "k");
  assert.equal(await come(cat), "cat");
});

function person(sub: string, more: Partial<Person> = {}): Person {
  return {
    subject: `https://id.example ${sub}`,
    sub,
    email: undefined,
    names: [sub],
    name: "",
    addsUsers: false,
    ...more,
  };
}

function comeTo(users: Users) {
  return async (one: Person): Promise<string> => {
    const signed = await users.signInFromService(one);
    return signed.ok ? signed.value.user.id : signed.failure.code;
  };
}

test("a key or a sign-in that is revoked at another process stays so, whatever this one is just noting of it [C6][N1]", async (t) => {
  const { storage, clock, parts, users: other } = open(t);
  await other.add({ id: "ann", password: "a good password" });
  for (const nth of [1, 2]) {
    let [looks, taken, take] = [0, false, async () => {}];
    const afterLook = async <T>(row: T) => {
      looks += 1;
      if (looks === nth) await takeBack();
      return row;
    };
    const takeBack = async () => {
      if (!taken) await take();
      taken = true;
    };
    const slow = {
      ...storage,
      findKey: async (hash: string) => afterLook(await storage.findKey(hash)),
      findSignIn: async (hash: string) => afterLook(await storage.findSignIn(hash)),
    };
    const users = openUsers({ ...parts, storage: slow });

    const made = await other.addKey("ann", { id: "k", name: "", scopes: ["chat"], endsAt: undefined });
    assert.ok(made.ok);
    take = async () => void (await other.removeKey("ann", "k"));
    clock.move(dayMs);
    await users.byKey(made.value.key);
    await takeBack();
    assert.equal(await other.byKey(made.value.key), undefined, `a key, look ${nth}`);

    const signed = await other.signIn("ann", "a good password");
    assert.ok(signed.ok);
    [looks, taken, take] = [0, false, async () => void (await other.setPassword("ann", "a good password"))];
    clock.move(2 * dayMs);
    await users.byCookie(signed.value.token);
    await takeBack();
    assert.equal(await other.byCookie(signed.value.token), undefined, `a cookie, look ${nth}`);
  }
});

function open(t: TestContext) {
  const storage = openDatabase(t);
  let now = 0;
  const move = (ms: number) => {
    now += ms;
  };
  const clock = { ...systemClock, now: () => now, move };
  const parts = { storage, clock, ids: systemIds, signInLastsMs: () => 30 * dayMs };
  return { storage, clock, parts, users: openUsers({ ...parts, passwordCost }) };
}

function codeOf(result: { ok: true } | { ok: false; failure: { code: string } }): string {
  return result.ok ? "ok" : result.failure.code;
}

test("what counts once is refused for as long as it is good, and no more is remembered than a server has room for [Q1]", () => {
  const isFirst = createOnce();
  assert.deepEqual(
    [isFirst("a", 100, 0), isFirst("a", 100, 50), isFirst("a", 100, 100), isFirst("a", 300, 101)],
    [true, false, false, true],
  );
  for (let count = 1; count < rememberedMax; count += 1) isFirst(`${count}`, 300, 101);
  assert.equal(isFirst("a", 300, 101), true);
  assert.equal(isFirst(`${rememberedMax - 1}`, 300, 101), false);
});

const nonce = Buffer.alloc(12, 7);
const place = "ann\ntoken";

test("what is sealed opens to the same text under the same key, and holds none of it [Q1][C6]", () => {
  const seal = sealWith("a key that is long enough for this test");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 4 }), (text) => {
      const sealed = Buffer.from(seal.seal(text, { place, nonce }));
      assert.equal(sealed.includes(Buffer.from(text)), false);
      assert.deepEqual(seal.open(sealed, place), { ok: true, value: text.toWellFormed() });
    }),
  );
});

test("another key, another place, a changed bit or a missing end open nothing, and a wrong key is told as one [Q1]", () => {
  const seal = sealWith("a key that is long enough for this test");
  const sealed = Buffer.from(seal.seal("a token", { place, nonce }));
  const why = (result: ReturnType<typeof seal.open>) => (result.ok ? result.value : result.failure);
  assert.equal(why(sealWith("another key that is long enough too").open(sealed, place)), "other_key");
  assert.equal(why(seal.open(sealed, "bob\ntoken")), "damaged");
  for (const length of [0, 1, 36, 37, sealed.length - 1])
    assert.equal(why(seal.open(sealed.subarray(0, length), place)), "damaged");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(why(seal.open(changed, place)), at >= 1 && at <= 8 ? "other_key" : "damaged", `byte ${at}`);
  }
});
