import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Observation } from "../../src/workspace/workspace.ts";
import { testWorkspace } from "../world/workspace.ts";
import { unwrap } from "./storage-place.ts";

const never = new AbortController().signal;

test("who looks for changes knows what the files take up, before and after, as a count of its own says it [W12][X4]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  writeFileSync(join(folder, ".metadata.json"), "{}");
  symlinkSync("/nowhere", join(folder, "skills", "placed-by-us"));
  writeFileSync(join(folder, "outputs", "a"), Buffer.alloc(50_000, 1));
  const counted = async () => withoutFree(unwrap(await again().measure()));
  const observation = unwrap(await workspace.observe());
  assert.deepEqual(withoutFree(observation.measured()), await counted());
  linkSync(join(folder, "outputs", "a"), join(folder, "outputs", "same"));
  mkdirSync(join(folder, "temp", "deep", "er"), { recursive: true });
  writeFileSync(join(folder, "temp", "deep", "er", "b"), Buffer.alloc(9_000, 1));
  unwrap(await observation.changes());
  assert.deepEqual(withoutFree(observation.measured()), await counted());
  assert.deepEqual([observation.measured()?.files, observation.measured()?.folders], [5, 6]);
});

test("an old count will do for whoever says so, until it is over a limit; what is free on the disk is asked anew [X4]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { limits: { filesMax: 4 } });
  const files = async (mayBeOld: boolean) => {
    const { files: found, over } = unwrap(await workspace.measure({ mayBeOld }));
    return [found, over];
  };
  const put = (name: string) => writeFileSync(join(folder, "temp", name), "");
  assert.deepEqual(await files(true), [0, undefined], "without one there is a new one");
  for (const name of ["a", "b", "c", "d", "e"]) put(name);
  assert.deepEqual(await files(true), [0, undefined]);
  assert.deepEqual(await files(false), [5, "files"]);
  put("f");
  assert.deepEqual(await files(true), [6, "files"], "who is refused must know that it still is so");
});

test("what goes on after an answer is told to who continues, once, and to nobody else [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  const put = (name: string, content: string) => writeFileSync(join(folder, "outputs", name), content);
  put("a", "0");
  const first = unwrap(await workspace.observe({ isContinued: true }));
  assert.deepEqual([first.hasEarlier, await told(first)], [false, []], "what was there at the first look is not new");
  put("a", "1");
  const second = unwrap(await again().observe({ isContinued: true }));
  put("a", "2");
  assert.deepEqual(
    [second.hasEarlier, await told(second)],
    [true, [["outputs/a", sha("0"), sha("2")]]],
    "as one change, whoever made it",
  );
  put("a", "3");
  const left = unwrap(await again().observe({ isContinued: true }));
  left.leave();
  const third = unwrap(await again().observe({ isContinued: true }));
  assert.deepEqual([third.hasEarlier, await told(third)], [true, [["outputs/a", sha("2"), sha("3")]]]);
  put("a", "4");
  const other = unwrap(await again().observe());
  assert.deepEqual([other.hasEarlier, await told(other)], [false, []]);
});

test("a look ahead keeps what is there, and the next who observes is told what programs did since it began [W12]", async (t) => {
  const { workspace, again, folder, base } = await testWorkspace(t);
  const kept = () => readdirSync(join(base, "kept", "contents")).toSorted();
  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, "outputs", name), content);
  put("a", "before");
  put("large", Buffer.alloc(300_000, 1));
  unwrap(await workspace.lookAhead({ signal: never }));
  assert.deepEqual(kept(), [sha("before"), sha(Buffer.alloc(300_000, 1))].toSorted());
  put("b", "by others, in between");
  const observation = unwrap(await again().observe());
  put("a", "after");
  put("b", "by a program");
  assert.deepEqual(await told(observation), [
    ["outputs/a", sha("before"), sha("after")],
    ["outputs/b", sha("by others, in between"), sha("by a program")],
  ]);
  put("c", "not looked at");
  unwrap(await workspace.lookAhead({ signal: never }));
  assert.equal(kept().includes(sha("not looked at")), false, "there was a look: a second one ahead is none");
});

test("a look ahead that is broken off leaves the next one all there is to tell [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, "outputs", name), name);
  const stop = new AbortController();
  const sharedFiles = async () => {
    stop.abort();
    return new Set<number>();
  };
  unwrap(await workspace.lookAhead({ sharedFiles, signal: stop.signal }));
  const observation = unwrap(await again().observe({ isContinued: true }));
  assert.deepEqual([observation.hasEarlier, await told(observation)], [false, []]);
  writeFileSync(join(folder, "outputs", "b"), "changed");
  assert.deepEqual(await told(observation), [["outputs/b", sha("b"), sha("changed")]]);
});

function withoutFree(measured: ReturnType<Observation["measured"]>) {
  assert.ok(measured);
  const { freeBytes: _, ...rest } = measured;
  return rest;
}

async function told(observation: Observation) {
  return unwrap(await observation.changes()).map(({ path, before, after }) => [path, before?.hash, after?.hash]);
}

function sha(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
