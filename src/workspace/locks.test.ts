import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { openLocks } from "./locks.ts";

test("who writes a file when one writer is done and the next is at it comes after both; writers of other files do not wait [W11]", async () => {
  const locks = openLocks();
  const told: string[] = [];
  const write = (file: string, writer: string, until?: Promise<void>) =>
    locks(file, async () => {
      told.push(`${writer} begins`);
      await until;
      told.push(`${writer} ends`);
    });
  const room = Promise.withResolvers<void>();
  const first = locks("a", () => Promise.reject(new Error("the disk is full")));
  const second = write("a", "second", room.promise);
  await assert.rejects(first, { message: "the disk is full" });
  await nextLoop(); // All that the end of the first brings with it has happened.
  const third = write("a", "third");
  await write("b", "other");
  room.resolve();
  await Promise.all([second, third]);
  assert.deepEqual(told, [
    ...["second begins", "other begins", "other ends"],
    ...["second ends", "third begins", "third ends"],
  ]);
});
