import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ConversationRow, Storage, Told } from "../storage/storage.ts";
import { leftOver, running, waiting } from "./left-over.testing.ts";
import { openTakeOver } from "./take-over.ts";

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** One of several servers: what others tell it, and what it wakes. */
async function amongOthers(
  t: TestContext,
  { random = () => 0.5, isShared = true }: { random?: () => number; isShared?: boolean } = {},
) {
  const told = new Set<(told: Told) => void>();
  const gone = new Set<(server: string) => void>();
  const back = new Set<() => void>();
  const looks: PromiseWithResolvers<void>[] = [];
  const met: { onRow?: () => Promise<unknown>; looked?: number } = {};
  let isHeld = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    onTold(listener) {
      told.add(listener);
      return () => told.delete(listener);
    },
    async conversationByNumber(number) {
      await met.onRow?.();
      return real.conversationByNumber(number);
    },
    async dueWakes(...given) {
      const look = Promise.withResolvers<void>();
      looks.push(look);
      if (!isHeld) look.resolve();
      const due = await real.dueWakes(...given);
      await look.promise;
      met.looked = (met.looked ?? 0) + 1;
      return due;
    },
  });
  const left = await leftOver(t, { wrap });
  Object.assign(left.homes, {
    isShared,
    onGone(listener: (server: string) => void) {
      gone.add(listener);
      return () => gone.delete(listener);
    },
    onBack(listener: () => void) {
      back.add(listener);
      return () => back.delete(listener);
    },
  });
  const woken: string[] = [];
  const wake = (conversation: ConversationRow) => void woken.push(conversation.id);
  const takeOver = openTakeOver({ ...left.parts, random }, { wake });
  return {
    ...{ ...left, takeOver, woken, looks, met },
    listeners: () => told.size + gone.size + back.size,
    tell: (topic: string) => told.forEach((listener) => void listener({ topic, key: "1" })),
    hold: (held: boolean) => {
      isHeld = held;
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await soon();
}

test("a server looks for what others left in each second, give or take a fifth of it, once, and not before it has started; alone it never looks [N1]", async (t) => {
  for (const [chance, ms] of [
    [0, 800],
    [0.5, 1_000],
    [1, 1_200],
  ] as const) {
    const { takeOver, clock, looks, tell, met } = await amongOthers(t, { random: () => chance });
    tell("wake");
    await soon();
    assert.deepEqual([clock.timers(), looks.length], [0, 0]);
    takeOver.start({ ageMsMax: 5 });
    takeOver.start({ ageMsMax: 7 });
    for (let second = 1; second <= 2; second += 1) {
      clock.move(ms - 1);
      assert.deepEqual([clock.timers(), looks.length], [1, second - 1]);
      clock.move(2);
      assert.deepEqual([clock.timers(), looks.length], [1, second]);
      await until(() => met.looked === second);
      await soon();
    }
    await takeOver.close();
  }
  const alone = await amongOthers(t, { isShared: false });
  alone.takeOver.start({ ageMsMax: 5 });
  alone.tell("wake");
  await soon();
  assert.deepEqual([alone.clock.timers(), alone.looks.length], [0, 0]);
  await alone.takeOver.close();
});

test("what waits is woken, what lies too long back is not, and only what is told of something to do, or of something missed, is a reason to look at once [N1][L2]", async (t) => {
  const { takeOver, woken, looks, tell, start, clock } = await amongOthers(t);
  await start("old", ...running);
  clock.move(6);
  await start("a", waiting);
  takeOver.start({ ageMsMax: 5 });
  tell("settings");
  await soon();
  assert.equal(looks.length, 0);
  tell("wake");
  await until(() => woken.length > 0);
  tell("gap");
  await until(() => looks.length === 2);
  assert.deepEqual(woken, ["a"]);
  await takeOver.close();
});

test("a server that ends hears nobody any more, waits for the look that is under way, and wakes nothing that it finds [N1][L2]", async (t) => {
  const { takeOver, woken, looks, tell, hold, listeners, start, clock } = await amongOthers(t);
  await start("a", waiting);
  takeOver.start({ ageMsMax: 5 });
  assert.equal(listeners(), 3);
  hold(true);
  tell("wake");
  // Asked for again meanwhile: after the end nobody looks any more.
  tell("wake");
  let isClosed = false;
  const closed = takeOver.close().then(() => {
    isClosed = true;
  });
  await soon();
  await soon();
  assert.deepEqual([isClosed, listeners(), clock.timers()], [false, 0, 0]);
  looks[0]?.resolve();
  await closed;
  await soon();
  assert.deepEqual([woken, looks.length], [[], 1]);
});

test("what a server has found in the moment in which it is told to end is left to others [N1][L2]", async (t) => {
  const { takeOver, woken, tell, met, start } = await amongOthers(t);
  await start("a", waiting);
  takeOver.start({ ageMsMax: 5 });
  const [isAsked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  met.onRow = () => {
    isAsked.resolve();
    return mayGoOn.promise;
  };
  tell("wake");
  await isAsked.promise;
  const closed = takeOver.close();
  mayGoOn.resolve();
  await closed;
  assert.deepEqual(woken, []);
});
