import assert from "node:assert/strict";
import { alice, bob, codeOf, facts, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { remove } from "./storage-workspaces.ts";

/** What is there already and changes: all of it is as new as what was stored last. */
export const changedPromises: readonly Promised[] = [
  {
    says: "a user, a memory and a sign-in that are stored again have all that is new, and nothing of before [S7][Z4]",
    async holds(place) {
      const storage = await place.open();
      const user = { id: alice, name: "Alice", password: "one", isAdmin: false, subject: undefined, at: morning };
      const changes = [
        { password: "two" },
        { isAdmin: true },
        { isAdmin: false, password: undefined },
        { subject: "s" },
      ];
      unwrap(await storage.putUser(user));
      let expected: typeof user | Parameters<typeof storage.putUser>[0] = user;
      for (const change of changes) {
        expected = { ...expected, ...change };
        unwrap(await storage.putUser(expected));
        assert.deepEqual(await storage.findUser(alice), expected);
      }
      const memory = { owner: alice, id: "m", fact: "tea", conversation: "c", at: morning };
      const other = { ...memory, id: "n", at: morning + 1 };
      for (const row of [memory, other]) unwrap(await storage.putMemory(row));
      const later = { ...memory, fact: "coffee", conversation: undefined, at: morning + 2 };
      unwrap(await storage.putMemory(later));
      assert.deepEqual(await storage.listMemory(alice, 9), [other, later]);
      const signIn = { hash: "h", owner: alice, kind: "link", at: morning, endsAt: morning + 1 } as const;
      const again = { hash: "h", owner: bob, kind: "cookie", at: morning + 2, endsAt: morning + 3 } as const;
      for (const row of [signIn, again]) unwrap(await storage.putSignIn(row));
      assert.deepEqual(await storage.findSignIn("h"), again);
    },
  },
  {
    says: "an execution that ends has its whole output, and counts with the size that it has then [X2]",
    async holds(place) {
      const storage = await place.open();
      const row = { id: "e", owner: alice, createdAt: morning, endedAt: undefined, body: "{}", full: undefined };
      unwrap(await storage.putExecution(row));
      const done = { ...row, createdAt: morning + 1, endedAt: morning + 2, full: "x".repeat(98) };
      unwrap(await storage.putExecution(done));
      assert.deepEqual(await storage.findExecution(alice, "e"), done);
      unwrap(await storage.trimExecutions(alice, { rowsMax: 9, bytesMax: 100 }));
      assert.deepEqual(await storage.findExecution(alice, "e"), done);
      unwrap(await storage.trimExecutions(alice, { rowsMax: 9, bytesMax: 99 }));
      assert.equal(await storage.findExecution(alice, "e"), undefined);
    },
  },
  {
    says: "what is put into the trash again under its id lies where it was put last [W10]",
    async holds(place) {
      const storage = await place.open();
      const [number, other] = [await makeConversation(storage, "c"), await makeConversation(storage, "d")];
      const row = {
        id: "t",
        owner: alice,
        number,
        workspace: "c",
        folder: "one",
        movedAt: morning,
        bytes: 1,
        files: 1,
      };
      const again = { ...row, number: other, workspace: "d", folder: "two", movedAt: morning + 1 };
      for (const each of [row, again]) unwrap(await storage.putTrash(each));
      assert.deepEqual(await storage.findTrash(alice, "t"), { ...again, conversation: "d" });
    },
  },
  {
    says: "a conversation that got another title is found by that one and no more by its old one, deleted by neither [C4][L9]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const found = async (title: string) =>
        (await storage.searchConversations(alice, { title, limit: 9, offset: 0 })).total;
      const row = (title: string) => ({ number, events: [], with: { row: { title } } });
      unwrap(await storage.append(row("Plum Jam")));
      unwrap(await storage.append(row("Ärger mit ÖL")));
      unwrap(await storage.append({ number, events: [], with: { row: { lastMessage: "plum" } } }));
      assert.deepEqual([await found("plum"), await found("ärger MIT öl"), await found("")], [0, 1, 1]);
      await remove(storage, number);
      assert.deepEqual([await found("öl"), await found("")], [0, 0]);
    },
  },
  {
    says: "a lease lasts from its last renewal on, also where the clock was set back after it [Q2][L2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const { epoch } = unwrap(await storage.claimLease(number, "a", 3000));
      place.clock.set(morning + 2000);
      assert.equal(unwrap(await storage.renewLease(number, { holder: "a", epoch, ttlMs: 3000 })), true);
      place.clock.set(morning - 1000);
      assert.equal(codeOf(await storage.claimLease(number, "b", 3000)), "fenced");
      place.clock.set(morning - 1001);
      assert.deepEqual(unwrap(await storage.claimLease(number, "b", 3000)), { epoch: 2, wasAbandoned: true });
    },
  },
  {
    says: "what ends or was begun in the very moment that is named as the last one is not yet old [S7][L2]",
    async holds(place) {
      const storage = await place.open();
      const signIn = { hash: "h", owner: alice, kind: "cookie", at: morning, endsAt: morning + 5 } as const;
      unwrap(await storage.putSignIn(signIn));
      unwrap(await storage.dropSignIns({ before: morning + 5 }));
      assert.deepEqual(await storage.findSignIn("h"), signIn);
      unwrap(await storage.dropSignIns({ before: morning + 6 }));
      assert.equal(await storage.findSignIn("h"), undefined);
    },
  },
  {
    says: "a message and what it wakes, asks and changes are stored together, and of a message that comes again nothing is [L2]",
    async holds(place) {
      const storage = await place.open();
      const number = await makeConversation(storage);
      const asked = [{ decision: "d", body: "{}" }];
      const side = { received: "m", wake: { notBefore: morning }, row: { title: "One" }, asked };
      unwrap(await storage.append({ number, events: facts("a", "b"), with: side }));
      unwrap(await storage.append({ number, events: facts("c"), with: { decided: ["d"], wake: { doneAtHead: 2 } } }));
      const again = { ...side, row: { title: "Two" } };
      assert.deepEqual(unwrap(await storage.append({ number, events: facts("a", "b"), with: again })), { lastSeq: 2 });
      assert.deepEqual(
        [await storage.dueWakes(9), await storage.openDecisions(alice, 9), await storage.headOf(number)],
        [[], [], 3],
      );
      assert.equal((await storage.conversationByNumber(number))?.title, "One");
    },
  },
];
