import assert from "node:assert/strict";
import { test } from "node:test";
import { openWorkQueue } from "./work-queue.ts";

function watched(atOnceMax: number) {
  const queue = openWorkQueue(atOnceMax);
  const [begun, left]: [string[], string[]] = [[], []];
  const names = new Map<string, object>();
  const ends = new Map<string, () => void>();
  return {
    queue,
    begun,
    left,
    add(name: string, isFirst = false) {
      const key = { name };
      names.set(name, key);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      const work = () => {
        begun.push(name);
        return promise;
      };
      queue.add(key, { work, leave: () => void left.push(name) }, { isFirst });
    },
    named: (name: string) => names.get(name) ?? {},
    async end(name: string) {
      ends.get(name)?.();
      // What ends lets the next one begin a few steps later.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("a few are done at a time, and what somebody waits for comes before what only came earlier [D4]", async () => {
  const { queue, begun, add, named, end } = watched(2);
  for (const name of ["a", "b", "c", "d", "e"]) add(name);
  add("f", true);
  queue.hasten(named("e"));
  queue.hasten(named("a"));
  assert.deepEqual(begun, ["a", "b"]);
  for (const name of ["b", "a", "e", "f", "c", "d"]) await end(name);
  assert.deepEqual(begun, ["a", "b", "e", "f", "c", "d"]);
});

test("what is not wanted any more is never begun, and whoever waits for it hears so, also at the end [D4]", async () => {
  const { queue, begun, left, add, named, end } = watched(1);
  for (const name of ["a", "b", "c"]) add(name);
  queue.remove(named("a"));
  queue.remove(named("b"));
  assert.deepEqual([begun, left], [["a"], ["b"]]);
  const closed = queue.close();
  assert.deepEqual(left, ["b", "c"]);
  await end("a");
  await closed;
  assert.deepEqual(begun, ["a"]);
});
