import assert from "node:assert/strict";
import type { Result } from "../../src/base/result.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { ApiKeyRow, OnceRow, SignInRow, UserRow } from "../../src/storage/storage.ts";
import { alice, bob, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";

/** Who may call, with what, and what they did under a key of their own. */
export const peoplePromises: readonly Promised[] = [
  {
    says: "users are kept in the order they were added, found by id and by who they are elsewhere, and changed in place [S7]",
    async holds(place) {
      const first = await place.open();
      const plain = userOf("bob", { id: bob });
      const known = userOf("Alice 爱丽丝", { password: "scrypt$…", isAdmin: true, subject: "https://id.example 42" });
      for (const row of [plain, known]) unwrap(await first.putUser(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listUsers(9), [plain, known]);
      assert.deepEqual(await storage.listUsers(1), [plain]);
      assert.deepEqual(await storage.findUser(alice), known);
      assert.deepEqual(await storage.findUserBySubject("https://id.example 42"), known);
      assert.equal(await storage.findUserBySubject("https://id.example 4"), undefined);

      const renamed = { ...plain, name: "Robert", subject: "https://id.example 43" };
      unwrap(await storage.putUser({ ...renamed, at: morning + 9 }));
      assert.deepEqual(await storage.listUsers(9), [renamed, known]);
      unwrap(await storage.putUser({ ...known, subject: undefined, password: undefined }));
      assert.equal(await storage.findUserBySubject("https://id.example 42"), undefined);
      for (const limit of [0, -1, 1.5]) await assert.rejects(storage.listUsers(limit));
    },
  },
  {
    says: "a user who is removed takes keys and sign-ins along, and nobody else's [S7]",
    async holds(place) {
      const storage = await place.open();
      for (const id of [alice, bob]) {
        unwrap(await storage.putUser(userOf(id, { id })));
        unwrap(await storage.putKey(keyOf(`key-${id}`, { owner: id })));
        unwrap(await storage.putSignIn(signInOf(`sign-in-${id}`, { owner: id })));
      }
      assert.equal(unwrap(await storage.dropUser(alice)), true);
      assert.equal(unwrap(await storage.dropUser(alice)), false);
      assert.deepEqual(
        [
          await storage.findUser(alice),
          await storage.findKey("hash-key-alice"),
          await storage.findSignIn("sign-in-alice"),
        ],
        [undefined, undefined, undefined],
      );
      assert.deepEqual(await storage.listKeys(alice), []);
      assert.deepEqual(await storage.findKey("hash-key-bob"), keyOf("key-bob", { owner: bob }));
      assert.deepEqual(await storage.findSignIn("sign-in-bob"), signInOf("sign-in-bob", { owner: bob }));
    },
  },
  {
    says: "what somebody left behind is known by their name, with a user or without, and nobody else's [S7]",
    async holds(place) {
      const storage = await place.open();
      unwrap(await storage.putUser(userOf("bob", { id: bob })));
      assert.equal(await storage.ownsAnything(alice), false);
      await makeConversation(storage);
      assert.deepEqual([await storage.ownsAnything(alice), await storage.ownsAnything(bob)], [true, false]);
      // Each of these alone is something, too.
      const times = { createdAt: morning, updatedAt: morning };
      const left: Record<string, (owner: OwnerId) => Promise<Result<unknown, { code: string }>>> = {
        session: (owner) => storage.putSession({ owner, id: "s", usedAt: morning, body: "{}" }),
        execution: (owner) =>
          storage.putExecution({ id: "e", owner, createdAt: 1, endedAt: 2, body: "{}", full: undefined }),
        rule: (owner) => storage.putRule({ owner, id: "r", number: undefined, body: "{}", at: morning }),
        memory: (owner) => storage.putMemory({ owner, id: "m", fact: "tea", conversation: undefined, at: morning }),
        secret: (owner) => storage.putSecret({ owner, name: "s", sealed: Uint8Array.of(1), ...times }),
        toolbox: (owner) => storage.putToolbox({ id: "b", owner, body: "{}", ...times }, []),
      };
      for (const [kind, put] of Object.entries(left)) {
        const owner = OwnerId.parse(`of-${kind}`);
        assert.equal(await storage.ownsAnything(owner), false);
        unwrap(await put(owner));
        assert.equal(await storage.ownsAnything(owner), true, kind);
      }
    },
  },
  {
    says: "a key is found by its hash alone, told apart by its owner, and gone when it is revoked [S7]",
    async holds(place) {
      const first = await place.open();
      const old = keyOf("old", { scopes: ["chat", "files", "admin"], endsAt: morning + 1000, usedAt: morning + 1 });
      const fresh = keyOf("fresh", { at: morning + 5, scopes: [] });
      const his = keyOf("his", { owner: bob });
      for (const row of [fresh, old, his]) unwrap(await first.putKey(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listKeys(alice), [old, fresh]);
      assert.deepEqual(await storage.findKey("hash-old"), old);
      assert.equal(await storage.findKey("hash-ol"), undefined);
      assert.equal(await storage.findKey("old"), undefined);
      const used = { ...old, usedAt: morning + 7, name: "laptop", scopes: ["chat"], endsAt: undefined };
      unwrap(await storage.putKey(used));
      assert.deepEqual(await storage.findKey("hash-old"), used);
      assert.equal(unwrap(await storage.dropKey(bob, "old")), false);
      assert.equal(unwrap(await storage.dropKey(alice, "old")), true);
      assert.equal(unwrap(await storage.dropKey(alice, "old")), false);
      assert.equal(await storage.findKey("hash-old"), undefined);
      assert.deepEqual(await storage.listKeys(bob), [his]);
    },
  },
  {
    says: "a key that is put under the id of another user's key changes nothing of that one [S7]",
    async holds(place) {
      const storage = await place.open();
      const hers = keyOf("k", { scopes: ["chat"] });
      unwrap(await storage.putKey(hers));
      unwrap(await storage.putKey({ ...hers, owner: bob, name: "mine now", scopes: ["admin"], endsAt: undefined }));
      assert.deepEqual(await storage.findKey(hers.hash), hers);
      assert.deepEqual([await storage.listKeys(alice), await storage.listKeys(bob)], [[hers], []]);
    },
  },
  {
    says: "a link signs in once, also when two use it at the same moment; old sign-ins and a user's own can be ended [S7]",
    async holds(place) {
      const storage = await place.open();
      const link = signInOf("link", { kind: "link" });
      const [here, there, his] = [
        signInOf("here"),
        signInOf("there", { endsAt: morning + 50 }),
        signInOf("his", { owner: bob }),
      ];
      for (const row of [link, here, there, his]) unwrap(await storage.putSignIn(row));
      assert.deepEqual(await storage.findSignIn("link"), link);
      const used = await Promise.all([1, 2, 3].map(() => storage.dropSignIn("link")));
      assert.deepEqual(used.map(unwrap).sort(), [false, false, true]);

      unwrap(await storage.dropSignIns({ before: morning + 51 }));
      const left = async () => Promise.all(["here", "there", "his"].map((hash) => storage.findSignIn(hash)));
      assert.deepEqual(await left(), [here, undefined, his]);
      unwrap(await storage.dropSignIns({ owner: alice }));
      assert.deepEqual(await left(), [undefined, undefined, his]);
    },
  },
  {
    says: "what is noted of a key or a sign-in that is in use does not bring back one that was taken away [S7]",
    async holds(place) {
      const storage = await place.open();
      const [key, signIn] = [keyOf("k"), signInOf("here")];
      unwrap(await storage.putKey(key));
      unwrap(await storage.putSignIn(signIn));
      unwrap(await storage.touchKey(key.hash, morning + 7));
      assert.equal(unwrap(await storage.renewSignIn(signIn.hash, morning + 70)), true);
      assert.deepEqual(await storage.findKey(key.hash), { ...key, usedAt: morning + 7 });
      assert.deepEqual(await storage.findSignIn(signIn.hash), { ...signIn, endsAt: morning + 70 });
      unwrap(await storage.dropKey(alice, "k"));
      unwrap(await storage.dropSignIn(signIn.hash));
      unwrap(await storage.touchKey(key.hash, morning + 8));
      assert.equal(unwrap(await storage.renewSignIn(signIn.hash, morning + 80)), false);
      assert.deepEqual(
        [await storage.findKey(key.hash), await storage.findSignIn(signIn.hash)],
        [undefined, undefined],
      );
    },
  },
  {
    says: "a call under a key begins once, whoever asks how often, and its answer is there after a restart [L2]",
    async holds(place) {
      const first = await place.open();
      const row = onceOf("k");
      const begun = (await Promise.all([1, 2, 3].map(() => first.beginOnce(row)))).map(unwrap);
      assert.deepEqual(
        begun.map(({ isNew }) => isNew),
        [true, false, false],
      );
      assert.deepEqual(begun[0]?.row, { ...row, answer: undefined });
      await first.close();

      const storage = await place.open();
      const other = await storage.beginOnce({ ...row, fingerprint: "another call", at: morning + 9 });
      assert.deepEqual(unwrap(other), { row: { ...row, answer: undefined }, isNew: false });
      unwrap(await storage.endOnce(alice, "k", '{"status":201}'));
      unwrap(await storage.endOnce(bob, "k", "not his"));
      assert.deepEqual(unwrap(await storage.beginOnce(row)), {
        row: { ...row, answer: '{"status":201}' },
        isNew: false,
      });
      const his = { ...row, owner: bob };
      assert.deepEqual(unwrap(await storage.beginOnce(his)), { row: { ...his, answer: undefined }, isNew: true });
    },
  },
  {
    says: "a key that is long past can begin anew [L2]",
    async holds(place) {
      const storage = await place.open();
      const isNew = async (row: Omit<OnceRow, "answer">) => unwrap(await storage.beginOnce(row)).isNew;
      const [old, young] = [onceOf("old"), onceOf("young", { at: morning + 100 })];
      assert.deepEqual([await isNew(old), await isNew(young)], [true, true]);
      unwrap(await storage.dropOnceBefore(morning + 100));
      assert.deepEqual([await isNew(old), await isNew(young)], [true, false]);
    },
  },
];

function userOf(name: string, with_: Partial<UserRow> = {}): UserRow {
  return { id: alice, name, password: undefined, isAdmin: false, subject: undefined, at: morning, ...with_ };
}

function keyOf(id: string, with_: Partial<ApiKeyRow> = {}): ApiKeyRow {
  const times = { at: morning, usedAt: undefined, endsAt: undefined };
  return { id, owner: alice, name: id, hash: `hash-${id}`, shown: "ay_1234", scopes: ["chat"], ...times, ...with_ };
}

function signInOf(hash: string, with_: Partial<SignInRow> = {}): SignInRow {
  return { hash, owner: alice, kind: "cookie", at: morning, endsAt: morning + 1000, ...with_ };
}

function onceOf(key: string, with_: Partial<OnceRow> = {}): Omit<OnceRow, "answer"> {
  return { owner: alice, key, fingerprint: "POST /api/v1/conversations", at: morning, ...with_ };
}
