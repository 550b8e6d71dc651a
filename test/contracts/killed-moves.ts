import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { MoveOrder, MoveTold } from "./postgres-move-child.ts";

/** In a process that is killed at the end, with all that stand; what it told of each. */
export function runMoves(order: MoveOrder): MoveTold[] {
  const script = join(import.meta.dirname, "postgres-move-child.ts");
  const { signal, stdout } = spawnSync(process.execPath, [script, JSON.stringify(order)], {
    ...{ encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  });
  assert.equal(signal, "SIGKILL");
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * Of one that came to its end: before which of its questions it is killed. All, or the last one of each kind, which is its
 * first word; `chosen`: of these kinds alone.
 */
export function questionsIn([whole]: readonly MoveTold[], isEvery: boolean, chosen?: readonly string[]): number[] {
  const { asked, code } = whole ?? assert.fail("it was told of");
  assert.ok(code === 0 && asked.length > 20, JSON.stringify(whole));
  const kinds = asked.map((words) => words.split(" ")[0] ?? "");
  const numbers = asked.map((_, index) => index + 1);
  if (isEvery) return numbers;
  const last = new Map(kinds.map((kind, index) => [kind, index + 1]));
  return numbers.filter((number) => [...last].some(([kind, at]) => at === number && chosen?.includes(kind) !== false));
}

/** Nothing first, and then all of it; each as often as there are places. */
export const changesOf = (found: readonly boolean[]) => found.filter((isDone, index) => isDone !== found[index - 1]);
