import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { type EventOf, fileChanged, type LogEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { FileChange, FileFailure, Workspace } from "../workspace/workspace.ts";
import { giveBackFiles } from "./give-back.ts";
import { conversationRow } from "./rows.testing.ts";

const conversation = conversationRow("c");

/** The files of a conversation and of a task, and the lines of the ledger about them. */
async function place(t: TestContext) {
  const own = (await testWorkspace(t)).workspace;
  const task = (await testWorkspace(t, { kind: "task" })).workspace;
  const events: LogEvent[] = [];
  const note = (change: FileChange, who: Parameters<typeof fileChanged>[1]) =>
    void events.push({ ...fileChanged(change, who), seq: events.length + 1, at: 0 });
  const trashed: { at?: number; of: string } = { of: "c" };
  const entry = { id: "x", movedAt: 0, bytes: 0, files: 0, until: 0 };
  let shown: Workspace = own;
  const giveBack = () =>
    giveBackFiles(
      {
        workspaces: {
          ofConversation: () => shown,
          taskOf: async (_, agent) => (agent === "t1" ? ok(task) : failure("workspace_not_assigned", { agent })),
          cleanedAt: async () => trashed.at,
          trash: async () => [{ ...entry, conversation: trashed.of }],
        },
      },
      conversation,
      events,
    );
  return {
    ...{ own, task, events, note, trashed, giveBack },
    /** A tool writes, or takes away where there is no text. */
    async tool(path: string, text?: string, files = own) {
      const key = `key-${events.length}`;
      const done = await (text === undefined ? files.remove(path, { key }) : files.write(path, text, { key }));
      assert.ok(done.ok, path);
      note(done.value, { by: "tool", ...(files === task ? { workspace: "t1" } : {}) });
    },
    replace: (more: Partial<Workspace>) => {
      shown = { ...own, ...more };
    },
  };
}

const textOf = async (files: Workspace, path: string) => {
  const found = await files.read(path);
  return found.ok ? found.value.bytes.toString() : found.failure.code;
};

test("each file is given back as it was before the first change of a tool that nobody came in between of, in its own workspace, and all is told by path [W12][W3]", async (t) => {
  const { own, task, note, tool, giveBack } = await place(t);
  const before = ["twice", "between", "gone", "later", "swapped", "task"].map((name) => `outputs/${name}`);
  for (const path of before) await own.write(path, "old");
  await task.write("outputs/task", "of the task");
  await tool("outputs/twice", "one");
  await tool("outputs/twice", "three");
  await tool("outputs/between", "one");
  const theirs = await own.write("outputs/between", "theirs", { keeps: true });
  assert.ok(theirs.ok);
  note(theirs.value, { by: "person" });
  await tool("outputs/between", "two");
  await tool("outputs/gone");
  await tool("outputs/later", "new");
  await own.write("outputs/later", "theirs");
  // A file makes way for a folder of the same name.
  await tool("outputs/swapped");
  await tool("outputs/swapped/in.txt", "new");
  await tool("outputs/task", "changed here");
  await tool("outputs/task", "changed there", task);
  const persons = await own.write("outputs/persons", "by hand");
  assert.ok(persons.ok);
  note(persons.value, { by: "person" });
  const given = await giveBack();
  assert.ok(given.ok);
  const { restored, left, events } = given.value;
  assert.deepEqual(restored, [
    { path: "outputs/between", now: "as_before" },
    { path: "outputs/gone", now: "as_before" },
    { path: "outputs/swapped", now: "as_before" },
    { path: "outputs/swapped/in.txt", now: "removed" },
    { path: "outputs/task", now: "as_before" },
    { path: "outputs/task", now: "as_before" },
    { path: "outputs/twice", now: "as_before" },
  ]);
  assert.deepEqual(left, [{ path: "outputs/later", why: "changed_since" }]);
  const isLine = (event: object): event is EventOf<"file.changed"> => "by" in event;
  const lines = events.map((event) => isLine(event) && `${event.path} ${event.by} ${event.workspace ?? ""}`.trim());
  const paths = [...new Set(restored.map((one) => one.path))];
  assert.deepEqual(lines.toSorted(), [...paths.map((one) => `${one} undo`), "outputs/task undo t1"].toSorted());
  const now = await Promise.all([...before, "outputs/persons"].map((path) => textOf(own, path)));
  assert.deepEqual(now, ["old", "theirs", "old", "theirs", "old", "old", "by hand"]);
  assert.equal(await textOf(task, "outputs/task"), "of the task");
  const again = await giveBack();
  assert.deepEqual(again.ok && [again.value.restored, again.value.events], [restored, []], "and once more, the same");
});

test("while the files lie in the trash nothing is given back, unless they are another's there, or no file was changed [W12][W10]", async (t) => {
  const { own, events, tool, giveBack, trashed } = await place(t);
  await own.write("outputs/a", "old");
  trashed.at = 0;
  assert.deepEqual(await giveBack(), ok({ restored: [], left: [], events: [] }));
  await tool("outputs/a", "new");
  const refused = await giveBack();
  assert.deepEqual([refused.ok || refused.failure.code, await textOf(own, "outputs/a")], ["files_in_trash", "new"]);
  trashed.of = "another";
  assert.equal((await giveBack()).ok, true);
  assert.equal(await textOf(own, "outputs/a"), "old");
  await tool("outputs/b", "new");
  Object.assign(trashed, { at: undefined, of: "c" });
  assert.equal((await giveBack()).ok, true, "moved there once, and back since");
  assert.deepEqual([await textOf(own, "outputs/b"), events.length], ["file_not_found", 2]);
});

const path = "outputs/a";
const limited = { path, what: "bytes", limit: 1, setting: "workspace.bytes_max" } as const;
const locked = { path, folder: "outputs", why: "not_writable" } as const;
const refusals: readonly [FileFailure, whenLooked: string, whenGiven: string][] = [
  [failure("path_invalid", { path, why: "too_long" }).failure, "not_kept", "not_kept"],
  [failure("path_traversal_blocked", { path }).failure, "not_kept", "not_kept"],
  [failure("not_a_file", { path }).failure, "changed_since", "changed_since"],
  [failure("not_a_folder", { path }).failure, "changed_since", "changed_since"],
  [failure("permission_denied", locked).failure, "changed_since", "changed_since"],
  [failure("conflict", { path }).failure, "changed_since", "changed_since"],
  [failure("read_failed", { path, why: "io" }).failure, "read_failed", "not_kept"],
  [failure("quota_exceeded", limited).failure, "quota_exceeded", "quota_exceeded"],
  [failure("write_failed", { path, why: "full" }).failure, "write_failed", "write_failed"],
];

test("what stands in the way for good is told of its file and the others are given back; what passes is told as it is, to be tried again [W12][Q2]", async (t) => {
  for (const [reason, whenLooked, whenGiven] of refusals) {
    for (const [name, expected] of [
      ["stat", whenLooked],
      ["restore", whenGiven],
    ] as const) {
      const { own, tool, giveBack, replace } = await place(t);
      for (const one of [path, "outputs/b"]) {
        await own.write(one, "old");
        await tool(one, "new");
      }
      const refuse = async () => ({ ok: false, failure: reason }) as const;
      const { stat, restore } = own;
      const only =
        <Given extends [string, ...never[]], T>(usual: (...given: Given) => Promise<T>) =>
        (...given: Given) =>
          given[0] === path ? refuse() : usual(...given);
      replace(name === "stat" ? { stat: only(stat) } : { restore: only(restore) });
      const given = await giveBack();
      const told = given.ok ? given.value.left.map(({ why }) => why) : given.failure.code;
      const isTold = expected === "not_kept" || expected === "changed_since";
      assert.deepEqual(told, isTold ? [expected] : expected, `${reason.code} of ${name}`);
      if (given.ok) assert.deepEqual(given.value.restored, [{ path: "outputs/b", now: "as_before" }]);
    }
  }
});

test("of a folder that a tool removed with all in it it is said that it is gone, and of one that is there nothing [W12]", async (t) => {
  const { own, note, giveBack } = await place(t);
  await own.write("outputs/there/a", "old");
  const folder = { before: undefined, after: undefined, lost: undefined };
  for (const name of ["gone", "there"]) note({ ...folder, path: `outputs/${name}` }, { by: "tool" });
  const given = await giveBack();
  assert.deepEqual(given, ok({ restored: [], left: [{ path: "outputs/gone", why: "not_kept" }], events: [] }));
});
