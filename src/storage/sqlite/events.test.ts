import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { baseOf, seqMax } from "../checks.ts";
import type { EncodedEvent } from "../storage.ts";
import { closeConnections, openConnections } from "./connections.ts";
import { openEvents } from "./events.ts";

const fact = (text: string): EncodedEvent => ({ type: "message.user", version: 1, at: 1, body: text });

function openLog(t: TestContext) {
  const path = join(folderWith(t, {}), "d.db");
  const opened = openConnections({ path, synchronous: "normal", busyTimeoutMs: 0 });
  assert.ok(opened.ok);
  t.after(() => closeConnections(opened.value));
  const { writer, reader } = opened.value;
  return { writer, events: openEvents(writer, reader) };
}

test("a conversation that is full takes nothing more, and none of its events becomes its neighbour's [L2]", (t) => {
  const { writer, events } = openLog(t);
  const last = { seq: seqMax, ...fact("last") };
  writer
    .prepare("INSERT INTO event (id, type, v, at, body) VALUES (?, 'message.user', 1, 1, 'before')")
    .run(baseOf(1) + seqMax - 1);
  assert.throws(() => events.append(1, [fact("a"), fact("b")]), /fewer than 2\^24/);
  assert.equal(events.append(1, [last]), seqMax);
  assert.throws(() => events.append(1, [fact("more")]), /fewer than 2\^24/);
  assert.equal(events.append(2, [fact("first")]), 1);
  assert.deepEqual(events.read(1, { after: seqMax - 1, limit: 9 }), [last]);
  assert.deepEqual(events.readBack(1, { before: 2 ** 24, limit: 1 }), [last]);
  assert.deepEqual([events.head(1), events.head(2), events.head(3)], [seqMax, 1, 0]);
  assert.deepEqual(events.readBack(2, { before: 9, limit: 9 }), [{ seq: 1, ...fact("first") }]);
  events.remove(1);
  assert.deepEqual([events.head(1), events.head(2)], [0, 1]);
});

test("who follows is told once of what was committed, of the last of it, and of nothing that was taken back [L2]", (t) => {
  const { writer, events } = openLog(t);
  const told: string[] = [];
  for (const number of [1, 2]) events.onAppend(number, (seq) => told.push(`${number}: ${seq}`));
  const write = (isKept: boolean) => {
    writer.exec("BEGIN");
    events.began();
    for (const number of [1, 2, 3]) events.append(number, [fact("a")]);
    events.append(1, [fact("b")]);
    writer.exec(isKept ? "COMMIT" : "ROLLBACK");
    if (isKept) events.committed();
    else events.rolledBack();
    return told.splice(0);
  };
  assert.deepEqual(write(false), []);
  assert.deepEqual(write(true), ["1: 2", "2: 1"]);
  events.committed();
  assert.deepEqual(told, []);
  assert.deepEqual(write(true), ["1: 4", "2: 2"]);
});
