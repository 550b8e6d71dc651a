import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { playApi, podOf } from "../../../test/world/played-api.ts";
import { openApi } from "./api.ts";
import { reapLeft } from "./reap.ts";

test("a sweep ends what this server left and removes what is over of others; what others run, and what they wrote an hour ago, stays [X3]", async (t) => {
  const stages = mkdtempSync(join(tmpdir(), "agentyard-stages-"));
  t.after(() => rmSync(stages, { recursive: true, force: true }));
  const clock = { ...manualClock(), now: () => 10_000_000 };
  const of = (server: string) => ({ labels: { "agentyard.server": server } });
  const over = { status: { phase: "Succeeded" } };
  const leaving = { metadata: { name: "agentyard-leaving", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const items = [
    ...[podOf("left"), podOf("used"), podOf("used-over", over), podOf("leaving", leaving)],
    ...[podOf("theirs", of("two")), podOf("theirs-over", { ...of("two"), ...over })],
  ];
  let isAway = false;
  const { address, asked } = await playApi(t, {
    answer(_, response) {
      response.writeHead(isAway ? 500 : 200);
      response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
    },
  });
  const api = openApi({ address, clock });
  const folders = ["one/left", "one/used", "two/a", "gone/a", "gone/b", "just/a", "pools/a"];
  const make = () => {
    for (const name of folders) mkdirSync(join(stages, name), { recursive: true });
    for (const [name, ms] of [
      ["two", 0],
      ["gone", 6_399_999],
      ["just", 6_400_000],
      ["pools", 0],
    ] as const)
      utimesSync(join(stages, name), ms / 1000, ms / 1000);
  };
  const place = {
    ...{ api, clock, pods: "/pods", installation: "yard", server: "one", stages, folder: join(stages, "one") },
    spared: () => new Set(["used", "used-over"]),
  };
  make();
  assert.deepEqual(await reapLeft(place), { processes: 2, groups: 0, mounts: 3 });
  const removed = (names: readonly string[]) => names.filter((name) => !existsSync(join(stages, name)));
  assert.deepEqual(removed(folders), ["one/left", "gone/a", "gone/b"]);
  assert.equal(existsSync(join(stages, "gone")), false);
  assert.deepEqual(asked, [
    "GET /pods?labelSelector=agentyard.mark%3Dyard",
    "DELETE /pods/agentyard-left?gracePeriodSeconds=1",
    "DELETE /pods/agentyard-theirs-over?gracePeriodSeconds=1",
  ]);
  // Where the cluster does not say who lives, nobody's folder is old.
  make();
  isAway = true;
  assert.deepEqual(await reapLeft(place), { processes: 0, groups: 0, mounts: 1 });
  assert.deepEqual(removed(folders), ["one/left"]);
});
