import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { localOwner } from "../protocol/ids.ts";
import { openActivities } from "./activities.ts";

const of = (conversation: number) => ({ owner: localOwner, conversation });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what uses a sandbox is ended by whoever ends it there, or by its own caller, and no other with it [X1]", async () => {
  const activities = openActivities();
  const caller = new AbortController();
  const [one, two, three] = [
    activities.begin(of(1), caller.signal),
    activities.begin(of(2)),
    activities.begin(of(3), AbortSignal.abort()),
  ];
  const aborted = () => [one, two, three].map(({ signal }) => signal.aborted);
  assert.deepEqual(aborted(), [false, false, true]);
  caller.abort();
  assert.deepEqual(aborted(), [true, false, true]);
  await activities.end(({ conversation }) => conversation === 2);
  assert.deepEqual(aborted(), [true, true, true]);
});

test("who ends a conversation waits for what is busy there, and for nothing that only waits itself [X1][S6]", async () => {
  const activities = openActivities();
  const [busy, idle, other] = [activities.begin(of(1)), activities.begin(of(1)), activities.begin(of(2))];
  const isOne = ({ conversation }: { readonly conversation: number | undefined }) => conversation === 1;
  assert.equal(activities.has(isOne), false);
  busy.busy();
  other.busy();
  assert.equal(activities.has(isOne), true);
  let isOver = false;
  const ending = activities.end(isOne).then(() => (isOver = true));
  await turn();
  assert.deepEqual([isOver, idle.signal.aborted, other.signal.aborted], [false, true, false]);
  busy.over();
  await ending;
  assert.deepEqual([activities.has(isOne), activities.has(({ conversation }) => conversation === 2)], [false, true]);
});

test("what is over holds its caller's signal no more, and what begins after the end is ended at once [X1][X4]", () => {
  const activities = openActivities();
  const { signal } = new AbortController();
  const activity = activities.begin(of(1), signal);
  assert.equal(getEventListeners(signal, "abort").length, 1);
  activity.over();
  assert.equal(getEventListeners(signal, "abort").length, 0);
  activities.close();
  assert.deepEqual([activity.signal.aborted, activities.begin(of(1)).signal.aborted], [false, true]);
});
