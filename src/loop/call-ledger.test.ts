import assert from "node:assert/strict";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import type { FileState, NewEvent } from "../protocol/events.ts";
import type { FileChange } from "../workspace/workspace.ts";
import { watchChanges } from "./call-changes.ts";
import { openCallLedger } from "./call-ledger.ts";

const state = (hash: string | undefined, mode = 0o644): FileState => ({
  ...{ bytes: 3, mode },
  ...(hash === undefined ? {} : { hash }),
});
const change = (path: string, before?: FileState, after?: FileState): FileChange => ({
  ...{ path, before, after, lost: undefined },
});

test("the ledger tells what a call did and did not tell itself, but not the same bytes once more [W12]", async () => {
  const ledger = openCallLedger({ by: "tool", call: "c1" });
  const note = (changes: FileChange[], workspace?: string) =>
    ledger.watch(Promise.resolve(changes), (all) => all, workspace);
  await note([change("same", state("a"), state("a")), change("told", undefined, state("b"))]);
  await note([change("mode", state("a"), state("a", 0o755)), change("large", state(undefined), state(undefined))]);
  await note([change("gone", state("a"), undefined)], "task-1");
  const line = (path: string, more: object) => ({ type: "file.changed", by: "tool", call: "c1", path, ...more });
  const told: NewEvent = { type: "file.changed", by: "tool", path: "told", after: state("b") };
  assert.deepEqual(ledger.untold([told]), [
    line("mode", { before: state("a"), after: state("a", 0o755) }),
    line("large", { before: state(undefined), after: state(undefined) }),
    line("gone", { before: state("a"), workspace: "task-1" }),
  ]);
  assert.equal(ledger.untold([]).length, 4);
});

test("who waits for a call's changes waits for those that began meanwhile, too, and for those that fail [W12][L6]", async () => {
  const ledger = openCallLedger({ by: "tool", call: "c1" });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failed = ledger.watch(first.promise);
  let isSettled = false;
  const settled = ledger.settled().then(() => {
    isSettled = true;
  });
  void ledger.watch(second.promise);
  first.reject(new Error("planted"));
  await assert.rejects(failed, /planted/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSettled, false);
  second.resolve();
  await settled;
});

test("what a call changes ends with the call or with whoever asked for the change, whichever comes first [L6][W12]", async (t) => {
  const { workspace } = await testWorkspace(t, { kind: "task" });
  const [call, caller] = [new AbortController(), new AbortController()];
  const changes = watchChanges("c1", call.signal);
  const files = changes.over(workspace);
  const { signal } = caller;
  const whyNot = async (write: ReturnType<typeof files.write>) => {
    const written = await write;
    if (written.ok) return "written";
    return "why" in written.failure.params ? written.failure.params.why : written.failure.code;
  };
  assert.equal(await whyNot(files.write("a.txt", "one", { signal })), "written");
  caller.abort();
  assert.equal(await whyNot(files.write("b.txt", "two", { signal })), "broken_off");
  assert.equal(await whyNot(files.write("c.txt", "three")), "written");
  call.abort();
  assert.equal(await whyNot(files.write("d.txt", "four")), "broken_off");
  await changes.settled();
  const lines = changes.untold([]).map((event) => event.type === "file.changed" && [event.path, event.workspace]);
  assert.deepEqual(lines, [
    ["a.txt", "w1"],
    ["c.txt", "w1"],
  ]);
});

test("a stopped call takes nothing away, brings nothing back and empties no folder; what it brought back before is in the ledger [L6][W12]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const call = new AbortController();
  const changes = watchChanges("c1", call.signal);
  const files = changes.over(workspace);
  await workspace.write("outputs/a.txt", "one");
  const removed = await files.remove("outputs/a.txt", { key: "c1" });
  const before = removed.ok ? removed.value.before : undefined;
  if (before === undefined) return assert.fail("it was there");
  assert.ok((await files.restore("outputs/a.txt", before)).ok);
  await workspace.write("outputs/b.txt", "two");
  call.abort();
  const refused = [
    await files.remove("outputs/b.txt", { signal: new AbortController().signal }),
    await files.restore("outputs/c.txt", before),
    await files.empty("outputs"),
  ].map((done) => (done.ok ? "done" : done.failure.code));
  assert.deepEqual(refused, ["write_failed", "write_failed", "write_failed"]);
  const found = await Promise.all(
    ["a", "b", "c"].map(async (name) => (await workspace.read(`outputs/${name}.txt`)).ok),
  );
  assert.deepEqual(found, [true, true, false]);
  const lines = changes.untold([]).map((event) => event.type === "file.changed" && [event.path, event.after?.bytes]);
  assert.deepEqual(lines, [
    ["outputs/a.txt", undefined],
    ["outputs/a.txt", 3],
  ]);
});

test("who waits for a call's changes waits until the folder is empty that it empties [W12][L6]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const mayEmpty = Promise.withResolvers<void>();
  const empty: typeof workspace.empty = (path) => mayEmpty.promise.then(() => workspace.empty(path));
  const changes = watchChanges("c1", new AbortController().signal);
  const emptied = changes.over({ ...workspace, empty }).empty("temp");
  let isSettled = false;
  const settled = changes.settled().then(() => {
    isSettled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSettled, false);
  mayEmpty.resolve();
  await settled;
  assert.ok((await emptied).ok);
});
