import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { endlessClock } from "../../test/world/manual-clock.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import type { Clock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, OwnerId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openWorkspaces } from "./workspace.ts";

const alice = OwnerId.parse("alice");

type Wrap = (real: Storage) => Storage;

/** Workspaces over a real database, some of whose answers are seen on their way, or come when the test says so. */
function openYard(t: TestContext, wrap: Wrap = (real) => real, wait: Clock["wait"] = endlessClock.wait) {
  const [dataDir, storage] = [folderWith(t, {}), openDatabase(t)];
  const clock = { ...endlessClock, wait };
  const options = { dataDir, clock, ids: systemIds, logger: quietLogger([]), limits: testLimits };
  return {
    ...{ dataDir, storage, workspaces: openWorkspaces({ ...options, storage: wrap(storage) }) },
    async start(id: string) {
      const made = await storage.createConversation({ owner: alice, id: ConversationId.parse(id), at: 1, events: [] });
      assert.ok(made.ok);
      return made.value;
    },
  };
}

test("cleaning up, sweeping and giving back come one after another, in the order they were asked for [W10]", async (t) => {
  const told: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { workspaces } = openYard(t, (real) => ({
    ...real,
    async unusedWorkspaces(...of) {
      told.push("cleaning");
      await gate.promise;
      told.push("cleaned");
      return real.unusedWorkspaces(...of);
    },
    unusedByCallers(of) {
      told.push(`swept ${of.isPassing}`);
      return real.unusedByCallers(of);
    },
    findTrash(...of) {
      told.push("given back");
      return real.findTrash(...of);
    },
  }));
  const all = [workspaces.clean({ unusedMs: 0 }), workspaces.sweep(), workspaces.restore(alice, "0123abcd")];
  for (let turns = 0; turns < 20; turns += 1) await nextLoop();
  assert.deepEqual(told, ["cleaning"]);
  assert.deepEqual(await workspaces.trash(alice), [], "who only looks does not wait");
  gate.resolve();
  await Promise.all(all);
  assert.deepEqual(told, ["cleaning", "cleaned", "swept true", "swept false", "given back"]);
});

test("the end waits for what is just being tidied, a second at the most, and then for nothing any more [W10][P3]", async (t) => {
  const waits: { ms: number; signal: AbortSignal | undefined }[] = [];
  const gate = Promise.withResolvers<void>();
  const wait: Clock["wait"] = async (ms, signal) => {
    waits.push({ ms, signal });
    return "elapsed";
  };
  const slow: Wrap = (real) => ({
    ...real,
    async unusedWorkspaces(...of) {
      await gate.promise;
      return real.unusedWorkspaces(...of);
    },
  });
  const { workspaces } = openYard(t, slow, wait);
  const cleaning = workspaces.clean({ unusedMs: 0 });
  await workspaces.close();
  assert.deepEqual(
    waits.map(({ ms, signal }) => [ms, signal?.aborted]),
    [[1000, true]],
  );
  gate.resolve();
  await cleaning;
  const told: string[] = [];
  const patient = openYard(t, (real) => ({
    ...real,
    async unusedWorkspaces(...of) {
      const unused = await real.unusedWorkspaces(...of);
      await nextLoop();
      told.push("cleaned");
      return unused;
    },
  }));
  void patient.workspaces.clean({ unusedMs: 0 });
  await patient.workspaces.close();
  assert.deepEqual([...told, "closed"], ["cleaned", "closed"]);
});

test("who only looks into a conversation without files finds none, and none are made for them [W2]", async (t) => {
  const { workspaces, start, storage, dataDir } = openYard(t);
  const conversation = await start("c");
  assert.equal(await workspaces.lookInto(conversation), undefined);
  assert.equal(await storage.findWorkspace(conversation.number), undefined);
  assert.equal(existsSync(join(dataDir, "workspace")), false);
  assert.ok((await workspaces.create(conversation)).ok);
  const files = await workspaces.lookInto(conversation);
  assert.deepEqual([files?.id, files?.kind, files?.owner, files?.name], ["c", "conversation", "alice", "1"]);
});

test("nothing is copied into a branch that is gone; into another come the files and what can be given back of them [L9][S6]", async (t) => {
  const { workspaces, storage, start, dataDir } = openYard(t);
  const [parent, gone, branch] = [await start("parent"), await start("gone"), await start("branch")];
  const files = workspaces.ofConversation(parent);
  assert.ok((await files.write("outputs/a", "one")).ok);
  const change = await files.write("outputs/a", "two", { keeps: true });
  assert.ok(change.ok && change.value.before);
  await storage.append({ number: gone.number, events: [], with: { deleted: { at: 5 } } });
  const refused = failure("conversation_not_found", { id: "gone" });
  assert.deepEqual(await workspaces.copy(parent, gone, [change.value.before]), refused);
  assert.equal(existsSync(join(dataDir, "workspace", "gone")), false);
  const copied = await workspaces.copy(parent, branch, [change.value.before, change.value.before]);
  assert.deepEqual(copied.ok && copied.value, { files: 1, leftOut: [] });
  const restored = await workspaces.ofConversation(branch).restore("outputs/a", change.value.before);
  assert.equal(restored.ok, true);
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(dataDir)),
    [],
  );
});
