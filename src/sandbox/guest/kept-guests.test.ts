import assert from "node:assert/strict";
import { test } from "node:test";
import { playedProvider } from "../../../test/world/played-provider.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Guest, GuestWanted, Lack, SandboxFault } from "../provider.ts";
import { canaryLimits } from "./canary.ts";
import { keepGuests, keepGuestsOf } from "./kept-guests.ts";

const wanted = (id: string): GuestWanted => ({
  id,
  workspace: undefined,
  limits: canaryLimits,
  uid: undefined,
  env: {},
});
const closed = failed({ why: "unavailable", said: "closed" });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a guest is known from when it is asked for until it is gone, and one that does not start is forgotten [X3]", async () => {
  const provider = playedProvider();
  const starts = new Map<string, PromiseWithResolvers<Result<Guest, SandboxFault>>>();
  const kept = keepGuests(({ id }) => {
    const start = Promise.withResolvers<Result<Guest, SandboxFault>>();
    starts.set(id, start);
    return start.promise;
  });
  const [good, bad, broken] = ["good", "bad", "broken"].map((id) => kept.open(wanted(id)));
  assert.deepEqual([...kept.ids()], ["good", "bad", "broken"]);
  await assert.rejects(kept.open(wanted("good")), /an id of its own/);
  const fault = failed({ why: "start_failed", said: "no room" } as const);
  starts.get("bad")?.resolve(fault);
  starts.get("broken")?.reject(new Error("a mistake"));
  starts.get("good")?.resolve(provider.open(wanted("good")));
  assert.deepEqual([await bad, (await good)?.ok], [fault, true]);
  await assert.rejects(Promise.resolve(broken), /a mistake/);
  assert.deepEqual([...kept.ids()], ["good"]);
  provider.guests[0]?.crash();
  await turn();
  assert.deepEqual([...kept.ids()], []);
});

test("when guests are ended, those that are just starting are ended too, and none is started any more [X3]", async () => {
  const provider = playedProvider();
  const [late, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let starts = 0;
  const kept = keepGuests(async (one) => {
    starts += 1;
    if (one.id === "late") await late.promise;
    if (one.id === "broken") throw new Error("a mistake");
    const opened = await provider.open(one);
    if (!opened.ok) return opened;
    const guest = opened.value;
    return ok({ ...guest, close: (why: string) => Promise.all([guest.close(why), slow.promise]).then(() => {}) });
  });
  await kept.open(wanted("open"));
  const opening = [kept.open(wanted("late")), assert.rejects(kept.open(wanted("broken")), /a mistake/)];
  let isOver = false;
  const closing = kept.close().then(() => {
    isOver = true;
  });
  await turn();
  assert.deepEqual([isOver, kept.isClosed(), provider.guests[0]?.told], [false, true, ["close closed"]]);
  assert.deepEqual([await kept.open(wanted("next")), starts], [closed, 3]);
  late.resolve();
  await Promise.all(opening);
  await turn();
  assert.equal(isOver, false);
  slow.resolve();
  await closing;
  await turn();
  assert.deepEqual([provider.guests[1]?.told, provider.living(), [...kept.ids()]], [["close closed"], [], []]);
});

test("a guest is started where the machine can, and one that went away since is looked at anew [X3]", async () => {
  const provider = playedProvider();
  const lack = (name: Lack["name"]): Lack => ({ name, reason: "", fix: "" });
  let found: { missing: Lack[]; host: string | undefined } = {
    missing: [lack("no_bwrap"), lack("no_python")],
    host: undefined,
  };
  let forgotten = 0;
  const kept = keepGuestsOf(
    {
      look: async () => ({ probe: { missing: found.missing, degraded: [] }, host: found.host }),
      forget() {
        forgotten += 1;
      },
    },
    (one, host) => {
      assert.equal(host, "host");
      return provider.open(one);
    },
  );
  assert.deepEqual(await kept.open(wanted("a")), failed({ why: "unavailable", said: "no_bwrap no_python" }));
  found = { missing: [], host: "host" };
  const told: (readonly [unknown, number])[] = [];
  for (const why of ["start_failed", "unavailable", undefined] as const) {
    provider.fault = why && { why, said: "" };
    const { ok: isOpen } = await kept.open(wanted("a"));
    told.push([isOpen, forgotten]);
  }
  assert.deepEqual(told, [
    [false, 0],
    [false, 1],
    [true, 1],
  ]);
  const looking = kept.open(wanted("b"));
  await kept.close();
  assert.deepEqual([await looking, provider.guests.length], [closed, 1]);
});
