import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { notingClock } from "../../../test/world/manual-clock.ts";
import { playApi, podOf } from "../../../test/world/played-api.ts";
import { openApi } from "./api.ts";
import { followPods, listPods, type PodSeen } from "./follow.ts";

const running = { phase: "Running", containerStatuses: [{ state: { running: {} } }] };

/** A cluster that has these pods, and who listens to what becomes of them. */
async function playFollowed(t: TestContext) {
  const { clock, waits } = notingClock();
  const state = { items: [] as object[], status: 200, watchers: [] as ServerResponse[] };
  const { address, asked } = await playApi(t, {
    answer({ url = "" }, response) {
      if (!url.includes("watch=1")) {
        response.writeHead(state.status);
        return void response.end(JSON.stringify({ metadata: { resourceVersion: "7" }, items: state.items }));
      }
      response.writeHead(200).flushHeaders();
      state.watchers.push(response);
      response.once("close", () => state.watchers.splice(state.watchers.indexOf(response), 1));
    },
  });
  const api = openApi({ address, clock });
  const follower = followPods({ api, clock, pods: "/pods" }, { "agentyard.mark": "yard", "agentyard.server": "one" });
  const heard: string[] = [];
  const follow = (guest: string) =>
    follower.follow(guest, (seen) => {
      const what = seen === "gone" ? seen : (seen.end?.reason ?? (seen.isRunning ? "running" : seen.waits.reason));
      heard.push(`${guest} ${what}`);
    });
  const hears = async (...wanted: string[]) => {
    await until(`${wanted} is heard`, () => heard.length >= wanted.length);
    assert.deepEqual(heard.splice(0), wanted);
  };
  const watched = () => until("it is watched", () => state.watchers.length === 1);
  const write = (text: string) => state.watchers[0]?.write(text);
  return { state, asked, waits, follow, hears, heard, watched, write, api };
}

const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

test("what becomes of a pod is heard as it happens, from what is there on, and only by who follows it [X3]", async (t) => {
  const { state, asked, follow, hears, heard, watched, write } = await playFollowed(t);
  state.items = [podOf("one"), podOf("other", { status: running })];
  const leave = follow("one");
  await hears("one ");
  await watched();
  const selector = "labelSelector=agentyard.mark%3Dyard%2Cagentyard.server%3Done";
  assert.deepEqual(asked, [
    `GET /pods?${selector}`,
    `GET /pods?${selector}&watch=1&resourceVersion=7&timeoutSeconds=240`,
  ]);
  const text = line("MODIFIED", podOf("other")) + line("MODIFIED", podOf("one", { status: running }));
  write(text.slice(0, -30));
  write(text.slice(-30));
  await hears("one running");
  // Who comes later is told of what happens from then on, over the same connection.
  const leaveOther = follow("other");
  write(line("ADDED", podOf("other", { status: running })));
  await hears("other running");
  write(line("DELETED", podOf("one", { status: { phase: "Failed", reason: "Evicted" } })));
  await hears("one Evicted", "one gone");
  write(line("DELETED", podOf("other")));
  await hears("other gone");
  assert.equal(asked.length, 2);
  leave();
  assert.equal(state.watchers.length, 1);
  leaveOther();
  await until("nobody is listened to any more", () => state.watchers.length === 0);
  assert.deepEqual([heard, asked.length], [[], 2]);
  follow("one")();
});

test("a cluster that has forgotten, says nonsense or was away is asked for all of them again, and what is missing then is gone [X3]", async (t) => {
  const { state, waits, follow, hears, watched, write } = await playFollowed(t);
  state.items = [podOf("one"), podOf("two")];
  const leaves = [follow("one"), follow("two"), follow("three")];
  await hears("one ", "two ");
  await watched();
  state.items = [podOf("one")];
  write(line("ERROR", { kind: "Status", code: 410 }));
  await hears("one ", "two gone");
  await watched();
  for (const nonsense of ["no JSON\n", line("MODIFIED", { kind: "Status" })]) {
    write(nonsense);
    await hears("one ");
    await watched();
  }
  assert.deepEqual(waits, [250, 250, 250]);
  state.status = 500;
  write("{}\n");
  await until("it is asked again", () => waits.length > 5);
  state.items = [];
  state.status = 200;
  await hears("one gone");
  assert.deepEqual(waits.slice(3, 6), [250, 1000, 1000]);
  for (const leave of leaves) leave();
});

test("how a pod is follows from all that a cluster says of it [X3]", async (t) => {
  const { state, api } = await playFollowed(t);
  const terminated = (exitCode: number, reason?: string) => ({
    containerStatuses: [{ state: { terminated: { exitCode, reason } } }],
  });
  const unscheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" };
  const waiting = { containerStatuses: [{ state: { waiting: { reason: "ErrImagePull", message: "no such host" } } }] };
  const cases: readonly (readonly [status: object, seen: Partial<PodSeen>])[] = [
    [{}, { isRunning: false, end: undefined, waits: { reason: "", message: "" } }],
    [running, { isRunning: true, end: undefined }],
    [
      { ...running, phase: "Failed", reason: "Evicted" },
      { isRunning: false, end: { code: null, reason: "Evicted" } },
    ],
    [{ phase: "Running", ...terminated(137, "OOMKilled") }, { end: { code: 137, reason: "OOMKilled" } }],
    [{ phase: "Failed", reason: "Evicted", ...terminated(137, "Error") }, { end: { code: 137, reason: "Evicted" } }],
    [{ phase: "Succeeded", message: "well" }, { end: { code: null, reason: "well" } }],
    [
      { ...waiting, reason: "x" },
      { end: undefined, waits: { reason: "ErrImagePull", message: "no such host" } },
    ],
    [
      { ...waiting, conditions: [{ ...unscheduled, status: "True" }] },
      { waits: { reason: "ErrImagePull", message: "no such host" } },
    ],
    [{ ...waiting, conditions: [unscheduled] }, { waits: { reason: "Unschedulable", message: "no node" } }],
    [{ reason: "NodeLost", message: "m" }, { waits: { reason: "NodeLost", message: "m" } }],
  ];
  state.items = cases.map(([status], number) => podOf(`${number}`, { status }));
  const metadata = { name: "leaving", deletionTimestamp: "2026-01-01T00:00:00Z" };
  state.items.push(podOf("leaving", { metadata }));
  const listed = await listPods({ api, pods: "/pods" }, {});
  assert.ok(listed.ok);
  const { pods, version } = listed.value;
  for (const [number, [, seen]] of cases.entries())
    assert.partialDeepStrictEqual(pods[number], { name: `agentyard-${number}`, isLeaving: false, ...seen });
  assert.deepEqual([pods.at(-1)?.isLeaving, pods.at(-1)?.name, version], [true, "leaving", "7"]);
  state.items = [{ kind: "none" }];
  const wrong = await listPods({ api, pods: "/pods" }, {});
  assert.partialDeepStrictEqual(wrong, { ok: false, failure: { why: "broken_off", said: "no list of pods" } });
});
