import assert from "node:assert/strict";
import type { MemoryRow, RuleRow, Storage } from "../../src/storage/storage.ts";
import {
  alice,
  bob,
  codeOf,
  facts,
  makeConversation,
  morning,
  type Promises,
  readAll,
  stored,
  unwrap,
} from "./storage-place.ts";
import { remove } from "./storage-workspaces.ts";

/** Who works on a conversation, what waits to be done, what people are asked. */
export const leasePromises: Promises = {
  "one holder at a time has a conversation, and each new one has a higher epoch [L2]": async (storage, place) => {
    const number = await makeConversation(storage);
    const claims = await Promise.all(["a", "b", "a"].map((holder) => storage.claimLease(number, holder, 1000)));
    assert.deepEqual(claims.map(codeOf), ["ok", "fenced", "fenced"]);
    assert.deepEqual(claims[0] && unwrap(claims[0]), { epoch: 1, wasAbandoned: false });
    await storage.releaseLease(number, { holder: "b", epoch: 1 });
    assert.equal(codeOf(await storage.claimLease(number, "b", 1000)), "fenced");
    await storage.releaseLease(number, { holder: "a", epoch: 1 });
    assert.deepEqual(unwrap(await storage.claimLease(number, "b", 1000)), { epoch: 2, wasAbandoned: false });
    // Neither an earlier time of its own nor the number alone makes somebody the holder.
    await storage.releaseLease(number, { holder: "b", epoch: 1 });
    for (const lease of [
      { holder: "b", epoch: 1 },
      { holder: "a", epoch: 2 },
    ])
      assert.equal(unwrap(await storage.renewLease(number, { ...lease, ttlMs: 9000 })), false);
    assert.equal(codeOf(await storage.append({ number, epoch: 2, events: facts("mine") })), "ok");
    place.clock.set(morning + 1000);
    assert.deepEqual(unwrap(await storage.claimLease(number, "c", 1000)), { epoch: 3, wasAbandoned: true });
  },
  "a lease that is not renewed runs out, and the next holder learns that it was abandoned [L2]": async (_, place) => {
    const [here, there] = [await place.open(), await place.open()];
    const number = await makeConversation(here);
    const { epoch } = unwrap(await here.claimLease(number, "here", 3000));
    place.clock.set(morning + 2999);
    assert.equal(codeOf(await there.claimLease(number, "there", 3000)), "fenced");
    assert.equal(unwrap(await here.renewLease(number, { holder: "here", epoch, ttlMs: 3000 })), true);
    place.clock.set(morning + 5998);
    assert.equal(codeOf(await there.claimLease(number, "there", 3000)), "fenced");
    place.clock.set(morning + 5999);
    assert.deepEqual(unwrap(await there.claimLease(number, "there", 3000)), { epoch: 2, wasAbandoned: true });
    assert.equal(unwrap(await here.renewLease(number, { holder: "here", epoch, ttlMs: 3000 })), false);
    assert.equal(unwrap(await there.renewLease(number, { holder: "there", epoch: 2, ttlMs: 3000 })), true);
  },
  "a lease that ran out while nobody wanted it can still be renewed [L2]": async (storage, place) => {
    const number = await makeConversation(storage);
    const { epoch } = unwrap(await storage.claimLease(number, "a", 1000));
    place.clock.set(morning + 60_000);
    assert.equal(codeOf(await storage.append({ number, epoch, events: facts("late") })), "ok");
    assert.equal(unwrap(await storage.renewLease(number, { holder: "a", epoch, ttlMs: 1000 })), true);
    assert.equal(codeOf(await storage.claimLease(number, "b", 1000)), "fenced");
  },
  "a holder whose lease was taken over can append nothing more, and only its own batch is refused [L2]": async (
    _,
    place,
  ) => {
    const [old, fresh] = [await place.open(), await place.open()];
    const number = await makeConversation(old, "taken");
    const other = await makeConversation(old, "other");
    const first = unwrap(await old.claimLease(number, "old", 1000));
    unwrap(await old.append({ number, epoch: first.epoch, events: facts("a") }));
    place.clock.set(morning + 1000);
    const second = unwrap(await fresh.claimLease(number, "fresh", 1000));
    const appends = await Promise.all([
      old.append({ number: other, events: facts("x") }),
      old.append({
        number,
        epoch: first.epoch,
        events: facts("stale"),
        with: { wake: { notBefore: 0 }, received: "m" },
      }),
      old.append({ number: other, events: facts("y") }),
      old.append({ number, epoch: second.epoch + 1, events: facts("ahead") }),
    ]);
    assert.deepEqual(appends.map(codeOf), ["ok", "fenced", "ok", "fenced"]);
    unwrap(await fresh.append({ number, epoch: second.epoch, events: facts("b") }));
    assert.deepEqual(await readAll(fresh, number), stored(1, "a", "b"));
    assert.deepEqual(await readAll(fresh, other), stored(1, "x", "y"));
    assert.deepEqual(await fresh.dueWakes(5), []);
    assert.equal(await fresh.received(number, "m"), undefined);
    await fresh.releaseLease(number, { holder: "fresh", epoch: second.epoch });
    assert.equal(codeOf(await fresh.append({ number, epoch: second.epoch, events: facts("after release") })), "fenced");
  },
  "a process that is alone takes over at once what the process before it had abandoned [L2]": async (killed, place) => {
    const [running, resting] = [await makeConversation(killed, "running"), await makeConversation(killed, "resting")];
    const { epoch } = unwrap(await killed.claimLease(resting, "killed", 60_000));
    await killed.releaseLease(resting, { holder: "killed", epoch });
    unwrap(await killed.claimLease(running, "killed", 60_000));
    const storage = await place.open();
    await storage.expireLeases();
    assert.deepEqual(unwrap(await storage.claimLease(running, "new", 60_000)), { epoch: 2, wasAbandoned: true });
    assert.deepEqual(unwrap(await storage.claimLease(resting, "new", 60_000)), { epoch: 2, wasAbandoned: false });
  },
  "a clock that was set back by a day holds up neither a lease nor a wake [Q2]": async (storage, place) => {
    const [left, waiting] = [await makeConversation(storage, "left"), await makeConversation(storage, "waiting")];
    unwrap(await storage.claimLease(left, "dead", 3000));
    await wake(storage, waiting, morning);
    for (const backMs of [1000, 3000]) {
      place.clock.set(morning - backMs);
      assert.equal(codeOf(await storage.claimLease(left, "new", 3000)), "fenced");
    }
    place.clock.set(morning - 10_000);
    assert.deepEqual(await storage.dueWakes(5), []);
    for (const backMs of [10_001, 86_400_000]) {
      place.clock.set(morning - backMs);
      assert.deepEqual(await storage.dueWakes(5), [{ number: waiting, notBefore: morning, head: 0 }]);
    }
    place.clock.set(morning - 3001);
    assert.deepEqual(unwrap(await storage.claimLease(left, "new", 3000)), { epoch: 2, wasAbandoned: true });
  },
  "what waits is handed out when its time has come, oldest first, and not while somebody works on it [L2]": async (
    storage,
    place,
  ) => {
    const numbers = await Promise.all(["a", "b", "c", "d"].map((id) => makeConversation(storage, id)));
    const [a = 0, b = 0, c = 0, d = 0] = numbers;
    for (const [index, number] of [c, a, b].entries()) await wake(storage, number, morning - 100 + index);
    await wake(storage, d, morning + 5000);
    const due = async (limit = 9) => (await storage.dueWakes(limit)).map((each) => each.number);
    assert.deepEqual(await due(), [c, a, b]);
    assert.deepEqual(await due(2), [c, a]);
    const { epoch } = unwrap(await storage.claimLease(a, "me", 1000));
    assert.deepEqual(await due(), [c, b]);
    place.clock.set(morning + 1000);
    assert.deepEqual(await due(), [c, a, b]);
    await storage.releaseLease(a, { holder: "me", epoch });
    await wake(storage, c, morning + 9000);
    place.clock.set(morning + 5000);
    assert.deepEqual(await due(), [a, b, d]);
  },
  "a message that arrives while its turn ends keeps its wake [L2]": async (storage) => {
    const number = await makeConversation(storage);
    await storage.append({ number, events: facts("first"), with: { wake: { notBefore: morning } } });
    await Promise.all([
      storage.append({ number, events: facts("second"), with: { wake: { notBefore: morning } } }),
      storage.append({ number, events: facts("turn ends"), with: { wake: { doneAtHead: 1 } } }),
    ]);
    assert.deepEqual(await storage.dueWakes(5), [{ number, notBefore: morning, head: 3 }]);
    await storage.append({ number, events: facts("turn ends"), with: { wake: { doneAtHead: 3 } } });
    assert.deepEqual(await storage.dueWakes(5), []);
  },
  "open decisions are listed for their owner in the order of asking until they are made [H2]": async (
    storage,
    place,
  ) => {
    const [one, two] = [await makeConversation(storage, "one"), await makeConversation(storage, "two")];
    const bobs = await makeConversation(storage, "bobs", bob);
    const ask = (number: number, ...decisions: string[]) =>
      storage.append({
        number,
        events: facts("asked"),
        with: { asked: decisions.map((decision) => ({ decision, body: `{"of":"${decision}"}` })) },
      });
    await ask(two, "z", "a");
    await ask(bobs, "b");
    await ask(one, "m");
    await ask(two, "z");
    const open = async () => (await storage.openDecisions(alice, 9)).map(({ decision }) => decision);
    assert.deepEqual(await open(), ["z", "a", "m"]);
    assert.deepEqual(
      (await storage.openDecisions(alice, 1)).map(({ conversation, ...rest }) => ({
        number: conversation.number,
        ...rest,
      })),
      [{ number: two, decision: "z", body: '{"of":"z"}', at: morning }],
    );
    await storage.append({ number: two, events: facts("made"), with: { decided: ["z", "unknown"] } });
    assert.deepEqual(await open(), ["a", "m"]);
    await storage.append({
      number: two,
      events: [],
      with: { decided: ["a"], asked: [{ decision: "n", body: "{}" }] },
    });
    assert.deepEqual(await open(), ["m", "n"]);
    // Asked again in other words it keeps its place, and since when it waits: that is the time of its event.
    place.clock.set(morning + 9);
    const again = { asked: [{ decision: "m", body: "{}" }] };
    unwrap(await storage.append({ number: one, events: facts("asked"), with: again }));
    const late = { asked: [{ decision: "late", body: "{}" }] };
    unwrap(await storage.append({ number: one, events: facts("asked"), with: late }));
    assert.deepEqual(
      (await storage.openDecisions(alice, 9)).map(({ decision, body, at }) => [decision, body, at]),
      [
        ["m", "{}", morning],
        ["n", "{}", morning],
        ["late", "{}", morning],
      ],
    );
  },
};

async function wake(storage: Storage, number: number, notBefore: number): Promise<void> {
  unwrap(await storage.append({ number, events: [], with: { wake: { notBefore } } }));
}

/** What users allowed always, and what they want to be known. */
export const rulePromises: Promises = {
  "a rule counts in its conversation or in all of its user's, newest first, and nobody else has it [H2][S7]": async (
    first,
    place,
  ) => {
    const [here, there] = [await makeConversation(first, "here"), await makeConversation(first, "there")];
    const everywhere = ruleOf("everywhere", { at: morning + 2 });
    const inHere = ruleOf("in-here", { number: here, at: morning + 2 });
    const inThere = ruleOf("in-there", { number: there });
    const his = ruleOf("everywhere", { owner: bob });
    for (const row of [everywhere, inThere, inHere, his]) unwrap(await first.putRule(row));
    await first.close();

    const storage = await place.open();
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [inHere, everywhere, inThere]);
    assert.deepEqual(await storage.listRules(alice, { number: here, limit: 9 }), [inHere, everywhere]);
    assert.deepEqual(await storage.listRules(alice, { number: there, limit: 9 }), [everywhere, inThere]);
    assert.deepEqual(await storage.listRules(alice, { limit: 1 }), [inHere]);
    assert.deepEqual(await storage.listRules(bob, { limit: 9 }), [his]);
    for (const limit of [0, -1, 1.5]) await assert.rejects(storage.listRules(alice, { limit }));
  },
  "the same rule again replaces it; one that is revoked is gone, and only its owner can do that [H2][S7]": async (
    storage,
  ) => {
    const number = await makeConversation(storage);
    unwrap(await storage.putRule(ruleOf("r", { number })));
    const changed = ruleOf("r", { body: '{"改":1}', at: morning + 1 });
    unwrap(await storage.putRule(changed));
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [changed]);
    assert.equal(unwrap(await storage.dropRule(bob, "r")), false);
    assert.equal(unwrap(await storage.dropRule(alice, "r")), true);
    assert.equal(unwrap(await storage.dropRule(alice, "r")), false);
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), []);
  },
  "a rule is stored with the events of its decision or not at all [H2][L2]": async (storage) => {
    const number = await makeConversation(storage);
    const rule = ruleOf("r", { number });
    const late = await storage.append({ number, expectedHead: 7, events: facts("a"), with: { rules: [rule] } });
    assert.equal(codeOf(late), "log_moved");
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), []);
    unwrap(await storage.append({ number, expectedHead: 0, events: facts("a"), with: { rules: [rule] } }));
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [rule]);
  },
  "a conversation that is deleted takes its rules along, but none that counts everywhere [H2]": async (storage) => {
    const number = await makeConversation(storage);
    const everywhere = ruleOf("everywhere");
    for (const row of [everywhere, ruleOf("here", { number })]) unwrap(await storage.putRule(row));
    await remove(storage, number);
    assert.deepEqual(await storage.listRules(alice, { limit: 9 }), [everywhere]);
  },
  "memories of a user are kept, oldest first, changed in place and forgotten, and nobody else has them [Z4][S7]":
    async (first, place) => {
      const tea = memoryOf("tea", { fact: "Prefers tea 茶." });
      const team = memoryOf("team", { conversation: "c", at: morning + 1 });
      const his = memoryOf("tea", { owner: bob });
      for (const row of [team, tea, his]) unwrap(await first.putMemory(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(await storage.listMemory(alice, 9), [tea, team]);
      assert.deepEqual(await storage.listMemory(alice, 1), [tea]);
      const coffee = { ...tea, fact: "Prefers coffee." };
      unwrap(await storage.putMemory(coffee));
      assert.deepEqual(await storage.listMemory(alice, 9), [coffee, team]);
      assert.equal(unwrap(await storage.dropMemory(alice, "tea")), true);
      assert.equal(unwrap(await storage.dropMemory(alice, "tea")), false);
      assert.deepEqual(await storage.listMemory(alice, 9), [team]);
      assert.deepEqual(await storage.listMemory(bob, 9), [his]);
      await assert.rejects(storage.listMemory(alice, 0));
    },
};

function ruleOf(id: string, with_: Partial<RuleRow> = {}): RuleRow {
  return { owner: alice, id, number: undefined, body: `{"id":"${id}"}`, at: morning, ...with_ };
}

function memoryOf(id: string, with_: Partial<MemoryRow> = {}): MemoryRow {
  return { owner: alice, id, fact: id, conversation: undefined, at: morning, ...with_ };
}

/** What a storage says of itself to the processes that open it, one or several. */
export const sharingPromises: Promises = {
  "who has said that it lives, and asks alone, is at home everywhere, agrees with itself and hears nothing of what it tells [N1]":
    async (storage) => {
      const server = { id: "a", address: "host:1" };
      assert.deepEqual((await storage.beat(server)).living, [server]);
      assert.deepEqual(await storage.beat(server), { wasGone: false, living: [server] });
      for (const key of ["c:1", "u:alice", "c:1"]) assert.equal((await storage.homeOf(key, "a"))?.id, "a");
      assert.equal(unwrap(await storage.agree("key", "1")), "1");
      unwrap(await storage.agreeAnew("key", "1", () => true));
      assert.equal(await storage.addressSeen(), undefined);
      const heard: unknown[] = [];
      const end = storage.onTold((told) => heard.push(told));
      unwrap(await storage.tell("models", ""));
      unwrap(await storage.leave("a"));
      end();
      assert.deepEqual(heard, []);
    },
};
