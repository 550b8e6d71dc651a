import assert from "node:assert/strict";
import type { Result } from "../../src/base/result.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import type {
  ApiKeyRow,
  BoxToolRow,
  ExecutionRow,
  ListedExecution,
  OnceRow,
  SecretRow,
  SessionRow,
  SignInRow,
  ToolboxRow,
  UserRow,
} from "../../src/storage/storage.ts";
import { alice, bob, idOf, makeConversation, morning, type Promises, unwrap } from "./storage-place.ts";
import { remove } from "./storage-workspaces.ts";

/** Who may call, with what, and what they did under a key of their own. */
export const peoplePromises: Promises = {
  "users are kept in the order they were added, found by id and by who they are elsewhere, and changed in place [S7]":
    async (first, place) => {
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
  "a user who is removed takes keys and sign-ins along, and nobody else's [S7]": async (storage) => {
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
  "what somebody left behind is known by their name, with a user or without, and nobody else's [S7]": async (
    storage,
  ) => {
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
  "a key is found by its hash alone, told apart by its owner, and gone when it is revoked [S7]": async (
    first,
    place,
  ) => {
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
  "a key that is put under the id of another user's key changes nothing of that one [S7]": async (storage) => {
    const hers = keyOf("k", { scopes: ["chat"] });
    unwrap(await storage.putKey(hers));
    unwrap(await storage.putKey({ ...hers, owner: bob, name: "mine now", scopes: ["admin"], endsAt: undefined }));
    assert.deepEqual(await storage.findKey(hers.hash), hers);
    assert.deepEqual([await storage.listKeys(alice), await storage.listKeys(bob)], [[hers], []]);
  },
  "a link signs in once, also when two use it at the same moment; old sign-ins and a user's own can be ended [S7]":
    async (storage) => {
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
  "what is noted of a key or a sign-in that is in use does not bring back one that was taken away [S7]": async (
    storage,
  ) => {
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
    assert.deepEqual([await storage.findKey(key.hash), await storage.findSignIn(signIn.hash)], [undefined, undefined]);
  },
  "a call under a key begins once, whoever asks how often, and its answer is there after a restart [L2]": async (
    first,
    place,
  ) => {
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
};

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

/** What is kept, sealed, for calls to others. */
export const secretPromises: Promises = {
  "a secret is kept byte for byte under its owner and name, and replaced in place [C6][Q1]": async (first, place) => {
    const [hers, his] = [secretOf("token"), secretOf("token", { owner: bob, sealed: Uint8Array.of(255, 0, 10) })];
    for (const row of [secretOf("zz"), hers, his]) unwrap(await first.putSecret(row));
    await first.close();

    const storage = await place.open();
    assert.deepEqual(withHex(await storage.findSecret(alice, "token")), withHex(hers));
    assert.deepEqual(withHex(await storage.findSecret(bob, "token")), withHex(his));
    assert.equal(await storage.findSecret(alice, "toke"), undefined);
    unwrap(
      await storage.putSecret({ ...hers, sealed: Uint8Array.of(7), createdAt: morning + 9, updatedAt: morning + 9 }),
    );
    assert.deepEqual(
      withHex(await storage.findSecret(alice, "token")),
      withHex({ ...hers, sealed: Uint8Array.of(7), updatedAt: morning + 9 }),
    );
  },
  "secrets are listed by name without what they hold, and taken away by their owner alone [C6][Q1]": async (
    storage,
  ) => {
    for (const name of ["b", "a", "c"]) unwrap(await storage.putSecret(secretOf(name)));
    const noted = (name: string) => ({ owner: alice, name, createdAt: morning, updatedAt: morning });
    assert.deepEqual(await storage.listSecrets(alice, 2), [noted("a"), noted("b")]);
    assert.deepEqual(await storage.listSecrets(bob, 9), []);
    assert.equal(unwrap(await storage.dropSecret(bob, "a")), false);
    assert.equal(unwrap(await storage.dropSecret(alice, "a")), true);
    assert.equal(unwrap(await storage.dropSecret(alice, "a")), false);
    assert.deepEqual(await storage.listSecrets(alice, 9), [noted("b"), noted("c")]);
    await assert.rejects(storage.listSecrets(alice, 0));
  },
  "a user who is removed takes secrets along, and whoever is called so later finds none [C6][S7]": async (storage) => {
    const user = { name: "", password: undefined, isAdmin: false, subject: undefined, at: morning };
    unwrap(await storage.putUser({ ...user, id: alice }));
    for (const owner of [alice, bob]) unwrap(await storage.putSecret(secretOf("token", { owner })));
    assert.equal(await storage.ownsAnything(bob), true);
    unwrap(await storage.dropUser(alice));
    assert.deepEqual([await storage.listSecrets(alice, 9), await storage.ownsAnything(alice)], [[], false]);
    assert.equal((await storage.listSecrets(bob, 9)).length, 1);
  },
};

function secretOf(name: string, with_: Partial<SecretRow> = {}): SecretRow {
  return { owner: alice, name, sealed: Uint8Array.of(1, 2, 3), createdAt: morning, updatedAt: morning, ...with_ };
}

/** Bytes are compared as bytes, whatever class they come in. */
function withHex(row: SecretRow | undefined): unknown {
  return row && { ...row, sealed: Buffer.from(row.sealed).toString("hex") };
}

/** Tool boxes with their tools. */
export const toolboxPromises: Promises = {
  "a tool box is kept with its tools, all at once, in the order they came, and changed in place [T4]": async (
    first,
    place,
  ) => {
    const [box, other] = [boxOf("box"), boxOf("other", { owner: bob, createdAt: morning + 1 })];
    const tools = ["z", "a"].map((id) => toolOf("box", id));
    unwrap(await first.putToolbox(box, tools));
    unwrap(await first.putToolbox(other, [toolOf("other", "a", { owner: bob })]));
    await first.close();

    const storage = await place.open();
    assert.deepEqual(await storage.listToolboxes(9), [box, other]);
    assert.deepEqual(await storage.listToolboxes(1), [box]);
    assert.deepEqual(await storage.listBoxTools(2), tools);
    const changed = { ...box, body: '{"b":2}', updatedAt: morning + 5 };
    const tool = { ...toolOf("box", "a"), body: '{"t":2}', updatedAt: morning + 5 };
    unwrap(await storage.putToolbox({ ...changed, createdAt: 0 }, [{ ...tool, createdAt: 0 }]));
    assert.deepEqual(await storage.listToolboxes(1), [changed]);
    assert.deepEqual(await storage.listBoxTools(2), [tools[0], tool]);
    for (const limit of [0, -1]) await assert.rejects(storage.listToolboxes(limit));
  },
  "a tool box goes with its tools, and nobody else can change it or take it away [T4][S7]": async (storage) => {
    const box = boxOf("box");
    const tools = ["a", "b", "c"].map((id) => toolOf("box", id));
    unwrap(await storage.putToolbox(box, tools));
    unwrap(
      await storage.putToolbox({ ...box, owner: bob, body: "{}" }, [toolOf("box", "a", { owner: bob, body: "{}" })]),
    );
    assert.deepEqual([await storage.listToolboxes(9), await storage.listBoxTools(9)], [[box], tools]);
    unwrap(await storage.dropBoxTools(bob, "box", ["a"]));
    unwrap(await storage.dropBoxTools(alice, "box", ["b", "none"]));
    assert.deepEqual(await storage.listBoxTools(9), [tools[0], tools[2]]);
    assert.equal(unwrap(await storage.dropToolbox(bob, "box")), false);
    assert.deepEqual(await storage.listBoxTools(9), [tools[0], tools[2]]);
    assert.equal(await storage.ownsAnything(alice), true);
    assert.equal(unwrap(await storage.dropToolbox(alice, "box")), true);
    assert.deepEqual([await storage.listToolboxes(9), await storage.listBoxTools(9)], [[], []]);
    assert.equal(await storage.ownsAnything(alice), false);
  },
};

function boxOf(id: string, with_: Partial<ToolboxRow> = {}): ToolboxRow {
  return { id, owner: alice, body: '{"b":1}', createdAt: morning, updatedAt: morning, ...with_ };
}

function toolOf(box: string, id: string, with_: Partial<BoxToolRow> = {}): BoxToolRow {
  return { box, id, owner: alice, body: '{"t":1}', createdAt: morning, updatedAt: morning, ...with_ };
}

/** Sandbox sessions, and what became of the programs that ran in them. */
export const executionPromises: Promises = {
  "a user has one sandbox session, the one that was stored last, and sees nobody else's [S1][S7]": async (
    first,
    place,
  ) => {
    assert.equal(await first.findSession(alice), undefined);
    const hers = sessionOf(alice, { usedAt: morning + 5 });
    unwrap(await first.putSession(sessionOf(alice, { id: "other", body: '{"n":1}' })));
    unwrap(await first.putSession(hers));
    unwrap(await first.putSession(sessionOf(bob)));
    await first.close();

    const storage = await place.open();
    assert.deepEqual(await storage.findSession(alice), hers);
    assert.deepEqual(await storage.findSession(bob), sessionOf(bob));
    assert.equal(await storage.findSession(OwnerId.parse("carol")), undefined);
  },
  "the sessions of all users are listed, those used last first [S1]": async (storage) => {
    const uses: [name: string, afterMs: number][] = [
      ["a", 2],
      ["b", 3],
      ["c", 1],
    ];
    const rows = uses.map(([name, afterMs]) => sessionOf(OwnerId.parse(name), { usedAt: morning + afterMs }));
    for (const row of rows) unwrap(await storage.putSession(row));
    const [a, b, c] = rows;
    assert.deepEqual(await storage.listSessions(9), [b, a, c]);
    assert.deepEqual(await storage.listSessions(2), [b, a]);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.listSessions(limit));
    // A later use moves it up and changes nothing else of it; an earlier one that is told late counts no more.
    for (const afterMs of [9, 4]) unwrap(await storage.touchSession(OwnerId.parse("c"), morning + afterMs));
    assert.deepEqual(await storage.listSessions(9), [{ ...c, usedAt: morning + 9 }, b, a]);
  },
  "a session that is forgotten takes the records of its own executions along [S1]": async (storage) => {
    for (const owner of [alice, bob]) {
      unwrap(await storage.putSession(sessionOf(owner)));
      unwrap(await storage.putExecution(executionOf(`of-${owner}`, { owner })));
    }
    for (const owner of [alice, alice, OwnerId.parse("carol")]) unwrap(await storage.forgetSession(owner));
    assert.deepEqual(await storage.listSessions(9), [sessionOf(bob)]);
    assert.deepEqual(await storage.openExecutions(9), [executionOf("of-bob", { owner: bob })]);
    assert.deepEqual(await storage.listExecutions(alice, all), { items: [], total: 0 });
  },
  "who has a conversation or an execution can be asked for a caller whom nothing else names [S7]": async (storage) => {
    const hers = await makeConversation(storage, "shared");
    assert.deepEqual(await storage.ownersOfConversation(idOf("shared"), 2), [alice]);
    const his = await makeConversation(storage, "shared", bob);
    assert.deepEqual(await storage.ownersOfConversation(idOf("shared"), 2), [alice, bob]);
    assert.deepEqual(await storage.ownersOfConversation(idOf("shared"), 1), [alice]);
    // Whoever has it still comes before those who deleted it; when all did, it was theirs.
    await remove(storage, hers);
    assert.deepEqual(await storage.ownersOfConversation(idOf("shared"), 2), [bob]);
    await remove(storage, his);
    assert.deepEqual(await storage.ownersOfConversation(idOf("shared"), 2), [alice, bob]);
    unwrap(await storage.putExecution(executionOf("hers", { owner: alice })));
    assert.deepEqual(
      [await storage.ownerOfExecution("hers"), await storage.ownerOfExecution("his")],
      [alice, undefined],
    );
    unwrap(await storage.check());
  },
  "an execution changes until it has its end, and then never again [X2]": async (storage) => {
    const waiting = executionOf("e");
    const running = { ...waiting, body: '{"status":"running"}' };
    const done = { ...running, endedAt: morning + 9, body: '{"status":"completed","text":"完 👋"}' };
    for (const row of [waiting, running, done]) {
      assert.equal(unwrap(await storage.putExecution(row)), true);
      assert.deepEqual(await storage.findExecution(alice, "e"), row);
    }
    for (const row of [running, { ...done, body: '{"status":"cancelled"}' }, done])
      assert.equal(unwrap(await storage.putExecution(row)), false);
    assert.deepEqual(await storage.listExecutions(alice, all), { items: [listed(done)], total: 1 });
  },
  "of two ends that come in one moment the first counts, also in two processes [X2]": async (_, place) => {
    const [here, there] = [await place.open(), await place.open()];
    unwrap(await here.putExecution(executionOf("e")));
    const ends = [here, here, there].map((storage, index) => ({ storage, row: ended("e", index + 1) }));
    const answers = await Promise.all(ends.map(({ storage, row }) => storage.putExecution(row)));
    const kept = ends.filter((_, index) => unwrap(answers[index] ?? assert.fail()));
    assert.equal(kept.length, 1);
    for (const storage of [here, there]) assert.deepEqual(await storage.findExecution(alice, "e"), kept[0]?.row);
  },
  "executions are listed for their owner, newest first and page by page, and nobody else finds them [X2][S7]": async (
    storage,
  ) => {
    const rows = ["a", "b", "c", "d"].map((id, index) =>
      executionOf(id, { createdAt: morning + Math.floor(index / 2) }),
    );
    for (const row of [...rows, executionOf("his", { owner: bob })]) unwrap(await storage.putExecution(row));
    const page = async (limit: number, offset: number) => {
      const { items, total } = await storage.listExecutions(alice, { limit, offset });
      return [items.map(({ id }) => id).join(""), total];
    };
    assert.deepEqual(
      [await page(9, 0), await page(3, 0), await page(3, 3), await page(3, 4)],
      [
        ["dcba", 4],
        ["dcb", 4],
        ["a", 4],
        ["", 4],
      ],
    );
    assert.equal(await storage.findExecution(alice, "his"), undefined);
    assert.equal(await storage.findExecution(bob, "a"), undefined);
    await assert.rejects(storage.putExecution(executionOf("a", { owner: bob })));
    assert.deepEqual(await storage.findExecution(alice, "a"), rows[0]);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.listExecutions(alice, { limit, offset: 0 }));
    for (const offset of [-1, 0.5]) await assert.rejects(storage.listExecutions(alice, { limit: 1, offset }));
  },
  "a user's oldest records make room for newer ones, by their number and their size; open ones stay [X2]": async (
    storage,
  ) => {
    const full = "一".repeat(100); // 300 bytes.
    const rows = [executionOf("open", { createdAt: 1, full }), ...["a", "b", "c"].map((id) => ended(id))];
    for (const row of rows) unwrap(await storage.putExecution({ ...row, full }));
    unwrap(await storage.putExecution(ended("his", 1, 1, bob)));
    const left = async (to: { rowsMax: number; bytesMax: number }) => {
      unwrap(await storage.trimExecutions(alice, to));
      return (await storage.listExecutions(alice, all)).items.map(({ id }) => id).join(" ");
    };
    assert.equal(await left({ rowsMax: 4, bytesMax: 10_000 }), "c b a open");
    assert.equal(await left({ rowsMax: 2, bytesMax: 10_000 }), "c b open");
    assert.equal(await left({ rowsMax: 9, bytesMax: 600 }), "c open");
    // 300 bytes, and eleven of what a list shows.
    assert.equal(await left({ rowsMax: 9, bytesMax: 311 }), "c open");
    assert.equal(await left({ rowsMax: 9, bytesMax: 310 }), "open");
    assert.equal((await storage.listExecutions(bob, all)).total, 1);
  },
  "executions without an end are found after a restart, over all users, oldest first [X2][L2]": async (
    first,
    place,
  ) => {
    const [newer, older] = [executionOf("new", { createdAt: morning + 2 }), executionOf("old", { owner: bob })];
    for (const row of [newer, older, ended("over")]) unwrap(await first.putExecution(row));
    await first.close();

    const storage = await place.open();
    assert.deepEqual(await storage.openExecutions(9), [older, newer]);
    assert.deepEqual(await storage.openExecutions(1), [older]);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.openExecutions(limit));
  },
  "records that are old enough are taken away; what has no end yet stays, however old [X2]": async (storage) => {
    const rows = [ended("old", 1), ended("new", 2), executionOf("open", { createdAt: 1 })];
    for (const row of rows) unwrap(await storage.putExecution(row));
    unwrap(await storage.dropExecutions(morning + 2));
    const { items } = await storage.listExecutions(alice, all);
    assert.deepEqual(
      items.map(({ id }) => id),
      ["new", "open"],
    );
  },
};

const all = { limit: 99, offset: 0 };

function listed({ full: _, ...row }: ExecutionRow): ListedExecution {
  return row;
}

function sessionOf(owner: OwnerId, changes: Partial<SessionRow> = {}): SessionRow {
  return { owner, id: `sb-session-${owner}`, usedAt: morning, body: "{}", ...changes };
}

/** Alice's, without an end. */
function executionOf(id: string, changes: Partial<ExecutionRow> = {}): ExecutionRow {
  const times = { createdAt: morning, endedAt: undefined };
  return { id, owner: alice, ...times, body: '{"status":"pending"}', full: undefined, ...changes };
}

/** Alice's, ended so many milliseconds after the morning. */
function ended(id: string, afterMs = 1, createdAt = morning, owner = alice): ExecutionRow {
  return executionOf(id, { createdAt, owner, endedAt: morning + afterMs, body: `{"after":${afterMs}}` });
}
