import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openGates } from "./gates.ts";

test("appends to one log pass side by side, and whoever must pass alone has it to itself, in any order [L2]", async () => {
  const steps = fc.array(fc.record({ isAlone: fc.boolean(), ticks: fc.nat(3), number: fc.nat(1) }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (wanted) => {
      const gates = openGates();
      const inside = [new Set<number>(), new Set<number>()];
      const passed: number[] = [];
      const pass =
        (index: number, { number, ticks, isAlone }: (typeof wanted)[number]) =>
        async () => {
          const here = inside[number] ?? assert.fail();
          here.add(index);
          if (isAlone) assert.equal(here.size, 1, "others are out");
          for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
          assert.ok(!isAlone || here.size === 1, "nobody came in meanwhile");
          here.delete(index);
          passed.push(index);
        };
      await Promise.all(
        wanted.map((one, index) => gates[one.isAlone ? "alone" : "among"](one.number, pass(index, one))),
      );
      assert.equal(passed.length, wanted.length, "everybody passed, once");
    }),
  );
});

test("who passes alone and fails lets the others pass; one that waits is not passed by for ever [L2]", async () => {
  const gates = openGates();
  const held = Promise.withResolvers<void>();
  const order: string[] = [];
  const note = (name: string) => async () => void order.push(name);
  const first = gates.among(1, () => held.promise);
  const alone = gates.alone(1, async () => {
    order.push("alone");
    throw new Error("broken");
  });
  const late = gates.among(1, note("late"));
  const other = gates.among(2, note("another log"));
  await other;
  assert.deepEqual(order, ["another log"], "who came after the one that waits, waits as well");
  held.resolve();
  await assert.rejects(alone, /broken/);
  await Promise.all([first, late, gates.alone(1, note("again"))]);
  assert.deepEqual(order, ["another log", "alone", "late", "again"]);
});

test("whoever comes while another one has a log to itself waits for that one, also where that one had waited first [L2]", async () => {
  const gates = openGates();
  const [held, inside, over] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const order: string[] = [];
  const first = gates.among(1, () => held.promise);
  const alone = gates.alone(1, async () => {
    inside.resolve();
    await over.promise;
    order.push("alone");
  });
  held.resolve();
  await Promise.all([first, inside.promise]);
  const late = [
    gates.among(1, async () => void order.push("among")),
    gates.alone(1, async () => void order.push("the next")),
  ];
  await gates.among(2, async () => void order.push("another log"));
  over.resolve();
  await Promise.all([alone, ...late]);
  assert.deepEqual(order, ["another log", "alone", "among", "the next"]);
});
