import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { openWorkspaces } from "../../src/workspace/workspace.ts";
import { testLimits } from "../world/workspace.ts";
import { alice, idOf, morning, unwrap } from "./storage-place.ts";

// What is left to do for deleted conversations: it is done one after another, and nothing of it holds up the rest.

test("a deleted conversation whose program does not end is left after 30 seconds and tried again; others go meanwhile [S6]", async (t) => {
  const waited: number[] = [];
  const clock = {
    ...systemClock,
    async wait(ms: number, signal?: AbortSignal) {
      waited.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
      return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
    },
    monotonic: () => 0,
  };
  const stuck = Promise.withResolvers<void>();
  const left: number[] = [];
  const ground = openOutbox(t, clock, async (conversation) => {
    left.push(conversation);
    if (conversation === 1) await stuck.promise;
  });
  for (const id of ["stuck", "other"]) await ground.deleted(id, 1);
  assert.deepEqual(await ground.workspaces.sweep(), { left: 1 });
  assert.deepEqual([ground.folders(), left, waited], [["stuck"], [1, 2], [30_000, 30_000]]);
  assert.deepEqual(ground.logged, [
    'the workspace {folder} is not removed yet: a program in it does not end {"folder":"workspace/stuck"}',
  ]);
  stuck.resolve();
  assert.deepEqual([await ground.workspaces.sweep(), ground.folders()], [{ left: 0 }, []]);
});

test("a removal that takes longer than 30 seconds is cut, hides its files at once, and is gone on with until nothing is left [S6]", async (t) => {
  let now = 0;
  // A second passes each time that somebody looks.
  const clock = { ...systemClock, monotonic: () => (now += 1000) };
  const ground = openOutbox(t, clock);
  await ground.deleted("large", 100);
  await ground.deleted("small", 1);
  const sweeps: (readonly [left: number, staged: boolean])[] = [];
  do {
    const { left } = await ground.workspaces.sweep();
    assert.deepEqual(ground.folders(), [], "whatever is left of it, nobody finds it any more");
    sweeps.push([left, ground.staged() > 0]);
  } while (sweeps.at(-1)?.[0] !== 0 && sweeps.length < 50);
  assert.ok(sweeps.length > 2, JSON.stringify(sweeps));
  assert.deepEqual(sweeps.at(-1), [0, false]);
  assert.deepEqual(await ground.storage.orphanedWorkspaces(9), []);
});

test("what a cut removal left goes with the next clean-up, also beside one that goes on [S6][W11]", async (t) => {
  let stepMs = 1000;
  let now = 0;
  const clock = { ...systemClock, monotonic: () => (now += stepMs) };
  const ground = openOutbox(t, clock);
  await ground.deleted("large", 100);
  await ground.workspaces.sweep();
  assert.ok(ground.staged() > 0);
  stepMs = 0;
  const { workspaces, storage } = ground;
  const row = unwrap(await storage.createConversation({ owner: alice, id: idOf("busy"), at: morning, events: [] }));
  const files = workspaces.ofConversation(row);
  for (let number = 0; number < 300; number += 1) unwrap(await files.write(`temp/a/${number}/b.txt`, "x"));
  const [emptied] = await Promise.all([files.empty("temp"), workspaces.sweep(), workspaces.sweep()]);
  assert.deepEqual([emptied.ok, ground.staged(), unwrap(await files.list("temp")).entries], [true, 0, []]);
});

test("a program's conversation that somebody speaks to in the moment of its end stays, and the others go [S6]", async (t) => {
  const ground = openOutbox(t, systemClock);
  const { storage, workspaces } = ground;
  for (const id of ["left", "spoken-to", "person"])
    unwrap(
      await workspaces.create(
        unwrap(
          await storage.createConversation({
            ...{ owner: alice, id: idOf(id), at: 1, events: [], origin: id === "person" ? "person" : "program" },
          }),
        ),
      ),
    );
  // Between the look and the end.
  const { headOf } = storage;
  storage.headOf = async (number) => {
    const head = await headOf(number);
    const events = [{ type: "message.user", version: 1, at: morning, body: "{}" }] as const;
    if (number === 2) unwrap(await storage.append({ number, events, with: { wake: { notBefore: 0 } } }));
    return head;
  };
  assert.deepEqual(await workspaces.sweep(), { left: 0 });
  assert.deepEqual(ground.folders().toSorted(), ["person", "spoken-to"]);
  assert.equal((await storage.findConversation(alice, idOf("spoken-to")))?.deletedAt, undefined);
  assert.equal(await storage.findConversation(alice, idOf("left")), undefined);
});

function openOutbox(t: TestContext, clock: Clock, leave?: (conversation: number) => Promise<void>) {
  const base = mkdtempSync(join(tmpdir(), "outbox-"));
  const data = join(base, "data");
  mkdirSync(data);
  const storage = unwrap(openSqlite({ path: join(base, "sessions.db"), clock: systemClock }));
  const logged: string[] = [];
  const limits = testLimits;
  const logger = loggerInto(logged);
  const workspaces = openWorkspaces({ dataDir: data, storage, clock, ids: systemIds, logger, limits, leave });
  t.after(async () => {
    await workspaces.close();
    await storage.close();
    rmSync(base, { recursive: true, force: true });
  });
  const namesIn = (folder: string) => (existsSync(join(data, folder)) ? readdirSync(join(data, folder)) : []);
  return {
    ...{ storage, workspaces, logged },
    /** A conversation with so many files that was just deleted. */
    async deleted(id: string, count: number) {
      const row = unwrap(await storage.createConversation({ owner: alice, id: idOf(id), at: morning, events: [] }));
      unwrap(await workspaces.create(row));
      const files = workspaces.ofConversation(row);
      for (let number = 0; number < count; number += 1) unwrap(await files.write(`outputs/${number}.txt`, "x"));
      unwrap(await storage.append({ number: row.number, events: [], with: { deleted: { at: morning } } }));
    },
    folders: () => namesIn("workspace"),
    staged: () => namesIn("staging").length,
  };
}

function loggerInto(lines: string[]): Logger {
  const quiet = () => {};
  const warn = (text: string, fields?: object) => void lines.push(`${text} ${JSON.stringify(fields ?? {})}`);
  const ended = async () => {};
  return { path: undefined, debug: quiet, info: quiet, warn, error: warn, flush: ended, close: ended };
}
