import assert from "node:assert/strict";
import { test } from "node:test";
import { openFollowers } from "./followers.ts";

test("one who follows twice hears twice and ends one by one, and an end that is told again ends nobody else [L2]", () => {
  const followers = openFollowers();
  const heard: string[] = [];
  const listen = (seq: number) => heard.push(`${seq}`);
  const ends = [followers.add(1, listen), followers.add(1, listen)];
  followers.tell(1, 1);
  ends[0]?.();
  followers.tell(1, 2);
  assert.deepEqual([heard.splice(0), followers.has(1)], [["1", "1", "2"], true]);
  ends[1]?.();
  followers.tell(1, 3);
  assert.deepEqual([heard, followers.has(1), followers.has(2)], [[], false, false]);
  followers.add(1, listen);
  for (const end of ends) end();
  followers.tell(1, 4);
  followers.tell(2, 5);
  assert.deepEqual([heard, followers.has(1)], [["4"], true]);
});
