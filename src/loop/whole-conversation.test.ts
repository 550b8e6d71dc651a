import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { manualClock } from "../../test/world/manual-clock.ts";
import { noted, partly } from "../../test/world/partly.ts";
import { failed, ok } from "../base/result.ts";
import type { LogEvent } from "../protocol/events.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Driver } from "./driver.ts";
import { openFileHistory } from "./file-history.ts";
import type { Parts } from "./parts.ts";
import { openWhole } from "./whole-conversation.ts";

const row = { id: "c", number: 7, owner: localOwner } as ConversationRow;
const workspace = { name: "of c" };

test("of a conversation that is deleted nothing is found or runs any more, and one whose end is not stored stays as it is [S6][D2]", async () => {
  const deleting = async (stored: unknown, leave = async () => {}) => {
    const done: unknown[] = [];
    const clock = manualClock();
    clock.move(5);
    const { remove } = openWhole(
      partly<Parts>({
        clock,
        logger: { error: (what) => noted(done, what, undefined) },
        log: { append: async (number, events, options) => noted(done, [number, ...events, options?.with], stored) },
        workspaces: { ofConversation: () => workspace },
        documents: { forget: (where, path) => noted(done, ["documents", where, path], undefined) },
        lookup: { forget: ({ id }) => noted(done, ["lookup", id], undefined) },
        sandbox: { leave: (number) => noted(done, ["programs", number], leave()) },
        sweepSoon: () => noted(done, "sweep", undefined),
      }),
      partly<Driver>({ stop: async (number) => noted(done, ["stop", number], undefined) }),
    );
    const answer = await remove(row);
    await settle();
    return [answer, ...done];
  };
  const ends = [
    ["stop", 7],
    [7, { type: "conversation.deleted", by: localOwner }, { deleted: { at: 5 } }],
  ];
  const all = [...ends, ["programs", 7], ["documents", workspace, "."], ["lookup", "c"], "sweep"];
  assert.deepEqual(await deleting(ok({ lastSeq: 1 })), [ok(undefined), ...all]);
  const full = failure("storage_full", {});
  assert.deepEqual(await deleting(full), [full, ...ends]);
  const broken = async () => {
    throw new Error("no way");
  };
  const told = await deleting(ok({ lastSeq: 1 }), broken);
  assert.deepEqual(told.slice(0, -1), [ok(undefined), ...all], "whoever deletes it does not wait for programs");
  assert.match(String(told.at(-1)), /programs of c could not be ended/);
});

test("a file that is brought back is found again, and its line says that a person did it; one that is not kept changes nothing [W12][D2]", async () => {
  const after = { hash: "h", bytes: 3, mode: 0o644 };
  const change: LogEvent = { type: "file.changed", seq: 4, at: 1, path: "a.pdf", after, by: "tool" };
  const restoredAs = { path: "a.pdf", before: undefined, after, lost: undefined };
  const restoring = async (
    wanted: { readonly path: string; readonly seq: number },
    { restored = ok(restoredAs), stored = ok({ lastSeq: 9 }), event = change }: Partial<Record<string, unknown>> = {},
  ) => {
    const done: unknown[] = [];
    const { restoreFile } = openFileHistory(
      partly<Parts>({
        clock: manualClock(),
        workspaces: {
          ofConversation: () => ({
            ...workspace,
            restore: async (...of: unknown[]) => noted(done, ["restore", ...of], restored),
          }),
        },
        documents: { notice: ({ name }, path) => noted(done, ["notice", name, path], undefined) },
        log: {
          read: async (_, page) => noted(done, page, event === "none" ? [] : [event]),
          append: async (number, [line]) =>
            noted(done, [number, line?.type, Object(line).by, Object(line).path], stored),
        },
      }),
    );
    const answer = await restoreFile(row, wanted);
    return [answer, ...done];
  };
  const page = { after: 3, limit: 1 };
  const restore = ["restore", "a.pdf", after];
  const rest = [
    ["notice", "of c", "a.pdf"],
    [7, "file.changed", "person", "a.pdf"],
  ];
  const wanted = { path: "a.pdf", seq: 4 };
  assert.deepEqual(await restoring(wanted), [ok(restoredAs), page, restore, ...rest]);
  const none = failure("content_not_kept", { path: "a.pdf" });
  const lost = failed(makeFailure("read_failed", { path: "a.pdf", why: "io" }));
  assert.deepEqual(await restoring(wanted, { restored: lost }), [none, page, restore]);
  const no = failure("permission_denied", { path: "a.pdf", folder: ".", why: "not_writable" });
  assert.deepEqual(await restoring(wanted, { restored: no }), [no, page, restore]);
  const full = failure("storage_full", {});
  assert.deepEqual(await restoring(wanted, { stored: full }), [full, page, restore, ...rest]);
  for (const event of [
    { ...change, path: "b.pdf" },
    { ...change, seq: 5 },
    { ...change, after: undefined, before: after },
    { ...change, workspace: "other" },
    { type: "conversation.renamed", seq: 4, at: 1, title: "t" },
    "none",
  ])
    assert.deepEqual(await restoring(wanted, { event }), [none, page]);
});
