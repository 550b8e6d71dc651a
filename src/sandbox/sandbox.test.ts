import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { playedProvider } from "../../test/world/played-provider.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { artifactsOf } from "./artifacts.ts";
import { createCollected } from "./collected.ts";
import { checkProgram } from "./program-checks.ts";
import { executionLimits, fitsGuest } from "./provider.ts";
import type { ExecutionRecord, ProgramReport } from "./sandbox.ts";
import { tightenLimits, tightenUploads } from "./tighten.ts";
import { executionOf, executionRow, type KeptSession, sessionOf, sessionRow } from "./to-rows.ts";

// What the small parts of the sandbox compute: who is ended with whom, what is shown and kept of output, records and files.

const state = { bytes: 3, hash: "h", mode: 0o644 };

test("each file that a program made has the type of its ending, in whatever letters, and one without a known ending has none [X2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const types = {
    ...{ txt: "text/plain", csv: "text/csv", md: "text/markdown", json: "application/json", pdf: "application/pdf" },
    ...{ xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", jpeg: "image/jpeg" },
    ...{ svg: "image/svg+xml", PNG: "image/png", exe: "application/octet-stream" },
  };
  const changes = [];
  for (const ending of Object.keys(types)) {
    const path = `outputs/made.${ending}`;
    assert.ok((await workspace.write(path, "x")).ok);
    changes.push({ path, before: undefined, after: state, lost: undefined });
  }
  const found = await artifactsOf(workspace, changes);
  assert.deepEqual(Object.fromEntries(found.map(({ path, type }) => [path.split(".")[1], type])), types);
});

test("what a program removed, or what is gone by now, is no file that it made; the first five hundred are told [X2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const made = await workspace.write("outputs/made.csv", "x");
  assert.ok(made.ok);
  const change = (path: string) => ({ path, before: undefined, after: state, lost: undefined });
  const removed = { path: "outputs/removed", before: state, after: undefined, lost: undefined };
  const [there, gone] = [change("outputs/made.csv"), change("outputs/gone")];
  const pathsOf = async (changes: Parameters<typeof artifactsOf>[1]) =>
    (await artifactsOf(workspace, changes)).map(({ path }) => path);
  assert.deepEqual(await pathsOf([removed, gone, there]), ["outputs/made.csv"]);
  const many = (count: number) => [...Array<typeof gone>(count).fill(gone), there];
  assert.deepEqual([await pathsOf(many(499)), await pathsOf(many(500))], [["outputs/made.csv"], []]);
  assert.deepEqual(await artifactsOf(undefined, [there]), []);
  const stat = await workspace.stat("outputs/made.csv");
  assert.ok(stat.ok);
  const { modifiedAt } = stat.value;
  assert.deepEqual(await artifactsOf(workspace, [there]), [
    { path: "outputs/made.csv", bytes: 3, hash: "h", type: "text/csv", modifiedAt },
  ]);
});

test("what is shown is never cut inside a character, never longer than asked, and counts what is missing [X1][X4]", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(60), (text, bytesMax) => {
      const collected = createCollected();
      collected.add(Buffer.from(text));
      const { text: shown, cutBytes } = collected.shown(bytesMax);
      const bytes = Buffer.byteLength(text);
      if (bytes <= bytesMax) return assert.deepEqual([shown, cutBytes], [text, 0]);
      const gap = "\n[…]\n";
      const head = text.slice(0, shown.lastIndexOf(gap, text.length));
      assert.ok(shown.startsWith(head) && !shown.includes("\ufffd".repeat(2)));
      const shownBytes = Buffer.byteLength(shown) - Buffer.byteLength(gap);
      assert.ok(shownBytes <= bytesMax);
      assert.equal(cutBytes, bytes - shownBytes);
    }),
  );
});

test("what is shown ends with what was said last, also where the middle was not kept [X1][X4]", () => {
  const collected = createCollected();
  collected.add(Buffer.from("0123456789"));
  collected.cut(5000, Buffer.from("é the end"));
  assert.deepEqual(collected.shown(1000), { ...{ text: "0123456789\n[…]\né the end", cutBytes: 4990, keptBytes: 10 } });
  assert.deepEqual(collected.shown(8), { text: "0123\n[…]\n end", cutBytes: 5002, keptBytes: 10 });
  // Half of its first character is left out, too.
  assert.deepEqual(collected.shown(18), { text: "012345678\n[…]\n the end", cutBytes: 4993, keptBytes: 10 });
  assert.equal(Buffer.from(collected.all()).toString(), "0123456789");
});

test("variables fit a program up to their limit as they are written, with names and values that a process can have [X2][X4]", () => {
  const long = (bytes: number) => ({ A: "x".repeat(bytes - '{"A":""}'.length) });
  assert.deepEqual([fitsGuest(long(32 * 1024)), fitsGuest(long(32 * 1024 + 1))], [true, false]);
  const odd = [{ "A=B": "" }, { "": "" }, { "A\0": "" }, { A: "a\0" }, { A: "\ud800" }, { "\ud800": "" }];
  assert.deepEqual(
    odd.map((env) => fitsGuest(env)),
    odd.map(() => false),
  );
  assert.equal(fitsGuest({ "a b.c": "=\n\u0001界" }), true);
});

test("code and a folder are taken up to their limits, and what is longer is refused [X1][X4]", async () => {
  const checked = async (code: string, folder: string) => {
    const place = { owner: localOwner, conversation: undefined, workspace: undefined, agent: "root" };
    const answer = await checkProgram(playedProvider(), place, { language: "bash", code, timeoutMs: 1, folder });
    return answer.ok ? answer : [answer.failure.code, "why" in answer.failure.params && answer.failure.params.why];
  };
  const { codeBytesMax, folderCharactersMax } = executionLimits;
  assert.deepEqual(await checked("é".repeat(codeBytesMax / 2), "a".repeat(folderCharactersMax)), ok(undefined));
  assert.deepEqual(await checked(`${"é".repeat(codeBytesMax / 2)}x`, ""), ["code_too_long", false]);
  assert.deepEqual(await checked("", "a".repeat(folderCharactersMax + 1)), ["path_invalid", "too_long"]);
  assert.deepEqual(await checked("", "a/../.."), ["path_traversal_blocked", false]);
  assert.deepEqual(await checked("", "/etc"), ["path_traversal_blocked", false]);
  assert.deepEqual(await checked("", "a\nb"), ["path_invalid", "control_character"]);
  assert.deepEqual(await checked("", "a..b/..c/..."), ok(undefined));
});

const limits = { memoryBytes: 100, processesMax: 10, cpus: 2, fileBytesMax: 50, tmpBytesMax: 20, outputBytesMax: 30 };
const uploads = { fileBytesMax: 100, filesMax: 5, types: ["csv", "jpg", "text"] };

test("a session's own limits count where they are smaller, and nowhere else [S1][X4]", () => {
  assert.deepEqual(tightenLimits(limits, {}), limits);
  assert.deepEqual(tightenLimits(limits, { memoryBytes: 1000, cpus: 1, outputBytesMax: 1 }), {
    ...limits,
    cpus: 1,
    outputBytesMax: 1,
  });
  const least = { memoryBytes: 6, processesMax: 5, cpus: 1, fileBytesMax: 4, tmpBytesMax: 3, outputBytesMax: 2 };
  assert.deepEqual([tightenLimits(limits, least), tightenLimits(least, limits)], [least, least]);
});

test("a session's own upload policy lets in less, never more, however types are spelled [S1][F4]", () => {
  assert.deepEqual(tightenUploads(uploads, {}), uploads);
  assert.deepEqual(tightenUploads(uploads, { fileBytesMax: 1000, filesMax: 2, types: [".CSV", "jpeg", "exe"] }), {
    ...{ fileBytesMax: 100, filesMax: 2, types: ["csv", "jpg"] },
  });
});

const ann = OwnerId.parse("ann");

const report: ProgramReport = {
  ...{ how: "done", exitCode: 3, signal: "SIGTERM", value: "41", returned: "{}", figures: ["outputs/figure-1.png"] },
  stdout: { text: "out", cutBytes: 2, path: "temp/output.txt", keptBytes: 9 },
  stderr: { text: "err", cutBytes: 0, path: undefined },
  changes: [
    { path: "made", before: undefined, after: state, lost: undefined },
    ...(["too_large", "quota", "unreadable"] as const).map((lost) => ({
      path: lost,
      before: state,
      after: undefined,
      lost,
    })),
  ],
  ...{ isOverLimit: true, isPythonNew: true, isPythonLost: true, hadCompany: true, startedAt: 2, endedAt: 3 },
  metrics: { durationMs: 1, cpuMs: 2, memoryPeakBytes: 3, readBytes: 4, writtenBytes: 5 },
};

const record: ExecutionRecord = {
  ...{ id: "e", owner: ann, session: "s", conversationId: "c", status: "completed", language: "python" },
  ...{ code: "x", codeCutBytes: 1, timeoutMs: 1000, createdAt: 1, startedAt: 2, endedAt: 3 },
  ...{ failure: makeFailure("sandbox_full", { retryAfterSeconds: 5 }), wasCutOff: true, report },
  artifacts: [{ path: "made", bytes: 3, hash: "h", type: "text/csv", modifiedAt: 4 }],
};

test("what is known of an execution is the same after a restart, whatever its end was [X2]", () => {
  const statuses = ["pending", "running", "completed", "failed", "timeout", "crashed", "cancelled"] as const;
  const ends = ["done", "timeout", "cancelled", "killed", "out_of_memory", "disk_full", "lost"] as const;
  const languages = ["python", "bash", "javascript"] as const;
  const bare = { conversationId: undefined, startedAt: undefined, endedAt: undefined, failure: undefined };
  const all: readonly ExecutionRecord[] = [
    ...statuses.map((status) => ({ ...record, status })),
    ...ends.map((how) => ({ ...record, report: { ...report, how } })),
    ...languages.map((language) => ({ ...record, language })),
    { ...record, ...bare, report: undefined, artifacts: [] },
    { ...record, code: "x".repeat(5000) },
  ];
  assert.deepEqual(
    all.map((one) => executionOf(executionRow(one))),
    all,
  );
  const short = { ...record, report: undefined };
  const fulls = [short, { ...short, code: "x".repeat(5000) }].map((one) => executionRow(one).full);
  assert.deepEqual(
    fulls.map((full) => full?.includes("x".repeat(5000))),
    [undefined, true],
  );
  assert.equal(executionOf({ ...executionRow(short), body: "{}" }), undefined);
});

const kept: KeptSession = {
  ...{ owner: ann, id: "mine", usedAt: 5, status: "running", dialect: "public", createdAt: 1, updatedAt: 2 },
  ...{ endedAt: 3, generation: 4, agentId: "a", businessDomain: "b", templateId: "t", env: { A: "a" } },
  uploads: { fileBytesMax: 1, filesMax: 2, types: ["csv"] },
  limits: { ...{ memoryBytes: 1, processesMax: 2, cpus: 0.5, fileBytesMax: 3, tmpBytesMax: 4, outputBytesMax: 5 } },
  executionTimeoutMs: 6,
  packages: {
    ...{ status: "completed", error: "e", startedAt: 1, endedAt: 2 },
    requested: [{ manager: "pip", name: "a", version: "1" }],
    current: [{ manager: "npm", name: "b" }],
    installed: [{ manager: "npm", name: "b", version: "2" }],
  },
};

test("what was asked for a session is the same after a restart, and a row that nobody can read is none [S1]", () => {
  const all: readonly KeptSession[] = [
    kept,
    { ...kept, status: "stopped", dialect: "seed" },
    ...(["installing", "failed"] as const).map((status) => ({
      ...kept,
      packages: { requested: [], current: [], installed: [], startedAt: 1, status },
    })),
  ];
  assert.deepEqual(
    all.map((one) => sessionOf(sessionRow(one))),
    all,
  );
  const row = sessionRow(kept);
  for (const body of ["{", "{}", JSON.stringify({ ...JSON.parse(row.body), env: { "A=B": "" } })])
    assert.equal(sessionOf({ ...row, body }), undefined);
});
