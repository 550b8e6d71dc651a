import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { must, startYard } from "../world/yard.ts";

test("of an earlier state it is said whether it can be had again: not where its bytes were lost, or nobody has replaced it yet [W12][F3]", async () => {
  await using yard = await startYard({ isOneProcess: true });
  const row = await yard.start("c");
  const state = (hash: string) => ({ bytes: 3, mode: 0o644, hash });
  const changed = (change: Partial<NewEvent & { type: "file.changed" }>): NewEvent => ({
    ...{ type: "file.changed", path: "uploads/a.txt", by: "upload" },
    ...change,
  });
  await must(
    yard.log.append(row.number, [
      changed({ after: state("one") }),
      changed({ before: state("one"), after: state("two") }),
      changed({ before: state("two"), after: state("three"), lost: "too_large" }),
      changed({ before: state("three"), by: "tool", program: true }),
      changed({ path: "outputs/b.txt", after: state("b"), workspace: "task-1" }),
    ]),
  );
  const versions = await yard.engine.fileHistory(row, { path: "uploads/a.txt", limit: 10 });
  assert.deepEqual(
    versions.map(({ seq, change, canRestore, program }) => [seq, change, canRestore, program]),
    [
      [4, "removed", false, true],
      [3, "changed", true, undefined],
      [2, "changed", false, undefined],
      [1, "made", true, undefined],
    ],
  );
  const all = await yard.engine.fileHistory(row, { limit: 10 });
  assert.deepEqual(
    all.map(({ path, seq }) => [path, seq]),
    [["uploads/a.txt", 4]],
  );
  for (const seq of [0, 4, 5]) {
    const restored = await yard.engine.restoreFile(row, { path: "uploads/a.txt", seq });
    assert.equal(restored.ok ? "restored" : restored.failure.code, "content_not_kept", `${seq}`);
  }
});

test("whoever puts a file there, takes it away, has it back or empties a folder uses the conversation: its list says when [W12][L9]", async () => {
  let now = 1_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await using yard = await startYard({ clock, isOneProcess: true });
  const row = await yard.start("c");
  const put = (text: string) => {
    const chunks = (async function* () {
      yield Buffer.from(text);
    })();
    return yard.engine.upload(row, { name: "a.txt", chunks, keep: false });
  };
  const path = "uploads/a.txt";
  const deeds = [
    ...[() => put("one"), () => put("two"), () => yard.engine.restoreFile(row, { path, seq: 1 })],
    ...[() => yard.engine.removeFile(row, path), () => yard.engine.emptyFolder(row, "uploads")],
  ];
  const used: number[] = [];
  for (const deed of deeds) {
    now += 1_000;
    await must<unknown>(deed());
    used.push((await must(yard.log.find(localOwner, row.id))).updatedAt);
  }
  assert.deepEqual(used, [2_000, 3_000, 4_000, 5_000, 6_000]);
  const versions = await yard.engine.fileHistory(row, { path, limit: 10 });
  assert.deepEqual(
    versions.map(({ seq, by, change, at }) => [seq, by, change, at]),
    [
      [4, "person", "removed", 5_000],
      [3, "person", "changed", 4_000],
      [2, "upload", "changed", 3_000],
      [1, "upload", "made", 2_000],
    ],
  );
});
