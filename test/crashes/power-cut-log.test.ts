import assert from "node:assert/strict";
import { test } from "node:test";
import { cutPower, linesOf, tellCuts, withoutSyncs } from "../world/power-cut.ts";
import { checkLog, recordLog } from "../world/power-cut-log.ts";
import { cannotRecord, type Recording } from "../world/power-cut-record.ts";

const talk = { conversations: 4, batches: [5, 4], eventBytes: 20 };

test("whenever the power fails, from the first start on, every acknowledged event of several conversations is there once and in order, and writing goes on [L2][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordLog(t, talk);
  tellCuts("appends", await cutPower(recording, { randomCuts: 80, check: checkLog(recording) }));
  await checkThatItCanFail(recording);
});

test("a power cut while the write-ahead log is folded into the database and begun anew loses nothing acknowledged [L2][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordLog(t, { conversations: 4, batches: [24], eventBytes: 22_000 });
  const folds = (path: string) => path.endsWith("/sessions.db");
  const opened = linesOf(recording).find(({ line }) => line === "opened")?.moment ?? 0;
  const pages = recording.steps.filter((step) => step.does === "write" && folds(step.path));
  const folded = pages.filter(({ began }) => began > opened);
  assert.ok(folded.length > 500, `${folded.length} pages were folded in while others were appended`);
  const options = { check: checkLog(recording), from: Math.min(...folded.map(({ began }) => began)) - 1 };
  const isWritten = (path: string) => /sessions\.db(-wal)?$/.test(path);
  tellCuts("a folded log", await cutPower(recording, { ...options, randomCuts: 25, where: isWritten }));
  // The log may be written over only when its pages are safe in the database.
  const careless = cutPower(withoutSyncs(recording, folds), { ...options, randomCuts: 0 });
  await assert.rejects(careless, /power cut at moment/, "a disk that ignores the syncs of the database is seen");
});

test("with storage.synchronous normal a power cut can take what was acknowledged, and this test sees it [L2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordLog(t, { ...talk, synchronous: "normal" });
  await assert.rejects(
    cutPower(recording, { randomCuts: 0, check: checkLog(recording) }),
    /everything unsynced is lost.*acknowledged and (is )?gone/s,
  );
});

/** The same calls on a disk that ignores some syncs: what was acknowledged is lost, and that is seen. */
async function checkThatItCanFail(recording: Recording): Promise<void> {
  const check = checkLog(recording);
  const ignored: Record<string, (path: string) => boolean> = {
    "of the write-ahead log": (path) => path.endsWith("-wal"),
    "of the folder of the database": (path) => path === "data",
    "of the folder above": (path) => path === "",
  };
  for (const [what, isIgnored] of Object.entries(ignored)) {
    const loses = cutPower(withoutSyncs(recording, isIgnored), { randomCuts: 0, check });
    await assert.rejects(loses, /acknowledged and (is )?gone/, `without the syncs ${what} it is seen`);
  }
}
