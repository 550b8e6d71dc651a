import assert from "node:assert/strict";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { ExecutionRow, ListedExecution, SessionRow } from "../../src/storage/storage.ts";
import { alice, bob, idOf, makeConversation, morning, type Promised, unwrap } from "./storage-place.ts";
import { ask, conversationRow, remove } from "./storage-workspaces.ts";

/** Sandbox sessions, and what became of the programs that ran in them. */
export const executionPromises: readonly Promised[] = [
  {
    says: "a user has one sandbox session, the one that was stored last, and sees nobody else's [S1][S7]",
    async holds(place) {
      const first = await place.open();
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
  },
  {
    says: "the sessions of all users are listed, those used last first [S1]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "a session that is forgotten takes the records of its own executions along [S1]",
    async holds(place) {
      const storage = await place.open();
      for (const owner of [alice, bob]) {
        unwrap(await storage.putSession(sessionOf(owner)));
        unwrap(await storage.putExecution(executionOf(`of-${owner}`, { owner })));
      }
      for (const owner of [alice, alice, OwnerId.parse("carol")]) unwrap(await storage.forgetSession(owner));
      assert.deepEqual(await storage.listSessions(9), [sessionOf(bob)]);
      assert.deepEqual(await storage.openExecutions(9), [executionOf("of-bob", { owner: bob })]);
      assert.deepEqual(await storage.listExecutions(alice, all), { items: [], total: 0 });
    },
  },
  {
    says: "who has a conversation or an execution can be asked for a caller whom nothing else names [S7]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "an execution changes until it has its end, and then never again [X2]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "of two ends that come in one moment the first counts, also in two processes [X2]",
    async holds(place) {
      const [here, there] = [await place.open(), await place.open()];
      unwrap(await here.putExecution(executionOf("e")));
      const ends = [here, here, there].map((storage, index) => ({ storage, row: ended("e", index + 1) }));
      const answers = await Promise.all(ends.map(({ storage, row }) => storage.putExecution(row)));
      const kept = ends.filter((_, index) => unwrap(answers[index] ?? assert.fail()));
      assert.equal(kept.length, 1);
      for (const storage of [here, there]) assert.deepEqual(await storage.findExecution(alice, "e"), kept[0]?.row);
    },
  },
  {
    says: "executions are listed for their owner, newest first and page by page, and nobody else finds them [X2][S7]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "a list shows the short form of an execution, and who asks for it by its id gets all of it [X2]",
    async holds(place) {
      const storage = await place.open();
      const long = ended("long");
      for (const full of ["x".repeat(1_000_000), '{"all":"一 👋"}']) {
        const row = executionOf(`of ${full.length}`, { full });
        unwrap(await storage.putExecution(row));
        assert.deepEqual(await storage.findExecution(alice, row.id), row);
        const { items } = await storage.listExecutions(alice, { limit: 1, offset: 0 });
        assert.deepEqual(items, [listed(row)]);
      }
      const open = await storage.openExecutions(9);
      assert.deepEqual(
        open.map(({ full }) => full?.length),
        [1_000_000, '{"all":"一 👋"}'.length],
      );
      unwrap(await storage.putExecution({ ...long, full: "all" }));
      assert.deepEqual(await storage.findExecution(alice, "long"), { ...long, full: "all" });
    },
  },
  {
    says: "a user's oldest records make room for newer ones, by their number and their size; open ones stay [X2]",
    async holds(place) {
      const storage = await place.open();
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
  },
  {
    says: "whose a conversation or an execution is can be found by its id alone, and the living go before the deleted [S7]",
    async holds(place) {
      const storage = await place.open();
      const owners = (id: string, limit = 9) => storage.ownersOfConversation(idOf(id), limit);
      assert.deepEqual([await owners("c"), await storage.ownerOfExecution("e")], [[], undefined]);
      const hers = await makeConversation(storage, "c");
      await makeConversation(storage, "c", bob);
      unwrap(await storage.putExecution(executionOf("e", { owner: bob })));
      assert.deepEqual((await owners("c")).toSorted(), [alice, bob]);
      assert.equal((await owners("c", 1)).length, 1);
      await remove(storage, hers);
      assert.deepEqual(await owners("c"), [bob]);
      await remove(storage, await makeConversation(storage, "gone"));
      assert.deepEqual(await owners("gone"), [alice]);
      assert.equal(await storage.ownerOfExecution("e"), bob);
      assert.equal(unwrap(await storage.check()), undefined);
    },
  },
  {
    says: "executions without an end are found after a restart, over all users, oldest first [X2][L2]",
    async holds(place) {
      const first = await place.open();
      const [newer, older] = [executionOf("new", { createdAt: morning + 2 }), executionOf("old", { owner: bob })];
      for (const row of [newer, older, ended("over")]) unwrap(await first.putExecution(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.openExecutions(9), [older, newer]);
      assert.deepEqual(await storage.openExecutions(1), [older]);
      for (const limit of [0, -1, 1.5]) await assert.rejects(storage.openExecutions(limit));
    },
  },
  {
    says: "records that are old enough are taken away; what has no end yet stays, however old [X2]",
    async holds(place) {
      const storage = await place.open();
      const rows = [ended("old", 1), ended("new", 2), executionOf("open", { createdAt: 1 })];
      for (const row of rows) unwrap(await storage.putExecution(row));
      unwrap(await storage.dropExecutions(morning + 2));
      const { items } = await storage.listExecutions(alice, all);
      assert.deepEqual(
        items.map(({ id }) => id),
        ["new", "open"],
      );
    },
  },
  {
    says: "deleting a conversation leaves sessions, records of executions and other conversations as they are [S1][S6]",
    async holds(place) {
      const storage = await place.open();
      const [gone, kept] = [await makeConversation(storage, "gone"), await makeConversation(storage, "kept")];
      unwrap(await ask(storage, kept, "workspace/kept"));
      unwrap(await storage.putSession(sessionOf(alice)));
      const rows = [executionOf("open"), ended("over", 1, morning - 1)];
      for (const row of rows) unwrap(await storage.putExecution(row));
      await remove(storage, gone);
      assert.deepEqual(await storage.findSession(alice), sessionOf(alice));
      assert.deepEqual(await storage.listExecutions(alice, all), { items: rows.map(listed), total: 2 });
      assert.deepEqual(await storage.findWorkspace(kept), conversationRow(kept, "kept"));
    },
  },
];

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
