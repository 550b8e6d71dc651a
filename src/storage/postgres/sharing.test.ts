import assert from "node:assert/strict";
import { test } from "node:test";
import { partly } from "../../../test/world/partly.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { StorageAway } from "../storage.ts";
import type { Transaction } from "./lanes.ts";
import { leasing } from "./leases.ts";
import type { OwnLine } from "./own-line.ts";
import type { Parts } from "./parts.ts";
import { sharing } from "./sharing.ts";

const now = () => null;
const coded = (code: string) => Object.assign(new Error("no"), { code });

test("a home that others were quicker to take is looked for five times, and found as soon as it can be seen [N1]", async () => {
  const looking = async (seenAt: number) => {
    let looks = 0;
    const one = async () => {
      looks += 1;
      return looks === seenAt ? { id: "b", address: "host:2" } : undefined;
    };
    const { homeOf } = sharing(partly<Parts>({ reader: { one }, now }), partly<OwnLine>({}));
    return [await homeOf("c:1", "a"), looks];
  };
  const found = { id: "b", address: "host:2" };
  assert.deepEqual(
    [await looking(1), await looking(5), await looking(6)],
    [
      [found, 1],
      [found, 5],
      [undefined, 5],
    ],
  );
});

test("a beat that finds the database away is told as that, one that shows a mistake of ours is thrown on; and what is told is a name [N1][Q2]", async () => {
  let fault = coded("ECONNREFUSED");
  const told: string[] = [];
  const line = partly<OwnLine>({
    ask: () => Promise.reject(fault),
    tell: async ({ topic, key }: { topic: string; key: string }) => {
      if (topic === "lost") throw fault;
      told.push(`${topic} ${key.length}`);
    },
  });
  const { beat, addressSeen, tell } = sharing(partly<Parts>({ now }), line);
  const server = { id: "a", address: "host:1" };
  for (const asked of [() => beat(server), addressSeen]) await assert.rejects(asked, StorageAway);
  const lost = await tell("lost", "");
  assert.equal(lost.ok || lost.failure.code, "database_away");
  fault = coded("42601");
  for (const asked of [() => beat(server), addressSeen, () => tell("lost", "")]) await assert.rejects(asked, fault);
  assert.deepEqual(await tell("topic", "k".repeat(995)), ok(undefined));
  await assert.rejects(tell("topic", "k".repeat(996)));
  assert.deepEqual(told, ["topic 995"]);
});

test("a lease that could not be renewed, released or let run out at once is tried once more, and no oftener [N1][Q2][L2]", async () => {
  const attempting = async (failures: number, work: (leases: ReturnType<typeof leasing>) => Promise<unknown>) => {
    let attempts = 0;
    const write = async (_lane: unknown, writing: (transaction: Transaction) => Promise<unknown>) => {
      attempts += 1;
      const run = async () => 1;
      return attempts <= failures ? failure("storage_busy", {}) : writing(partly<Transaction>({ run }));
    };
    return [await work(leasing(partly<Parts>({ lanes: { write }, now }))), attempts];
  };
  const lease = { holder: "me", epoch: 1 };
  const renew = ({ renewLease }: ReturnType<typeof leasing>) => renewLease(1, { ...lease, ttlMs: 1 });
  assert.deepEqual(await attempting(0, renew), [ok(true), 1]);
  assert.deepEqual(await attempting(1, renew), [ok(true), 2]);
  assert.deepEqual(await attempting(9, renew), [failure("storage_busy", {}), 2]);
  for (const failures of [1, 9]) {
    assert.deepEqual(await attempting(failures, ({ releaseLease }) => releaseLease(1, lease)), [undefined, 2]);
    assert.deepEqual(await attempting(failures, ({ expireLeases }) => expireLeases()), [undefined, 2]);
  }
});
