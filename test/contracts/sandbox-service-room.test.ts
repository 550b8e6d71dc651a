import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../world/events.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { openGround, report, told } from "./sandbox-service-place.ts";

const real = { skip: cannotStart };
const bytesMax = 4 * 2 ** 20;
const filling = (name: string, bytes: number) => `head -c ${bytes} /dev/zero > outputs/${name}; echo on; sleep 60`;

test("a program that fills the workspace is ended, and the next one can make room [X4]", real, async (t) => {
  const ground = await openGround(t, { limits: { bytesMax } });
  const place = await ground.place("c1");
  const { how, changes } = await report(ground, place, "bash", filling("fill", bytesMax + 1));
  assert.deepEqual([how, changes.map(({ path }) => path)], ["disk_full", ["outputs/fill"]]);
  const looked = await report(ground, place, "bash", "ls outputs; sleep 2; echo still here");
  assert.deepEqual(
    { ...told(looked), isOverLimit: looked.isOverLimit },
    { how: "done", exitCode: 0, stdout: "fill\nstill here\n", stderr: "", isOverLimit: true },
  );
  assert.equal((await report(ground, place, "bash", filling("more", 1_000_000))).how, "disk_full");
  const removed = await report(ground, place, "bash", "rm outputs/*; echo gone");
  assert.deepEqual(
    { ...told(removed), isOverLimit: removed.isOverLimit },
    { how: "done", exitCode: 0, stdout: "gone\n", stderr: "", isOverLimit: undefined },
  );
  assert.deepEqual(
    removed.changes.map(({ path, after }) => [path, after]),
    [
      ["outputs/fill", undefined],
      ["outputs/more", undefined],
    ],
  );
});

test("a report says where its changes may be those of programs that ran at the same time [X1][X4]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const alone = await report(ground, place, "bash", "echo 1 > outputs/alone");
  const wait = "touch temp/on; while [ ! -e temp/go ]; do sleep 0.05; done";
  const first = report(ground, place, "bash", wait);
  await until("it runs", async () => (await place.workspace?.stat("temp/on"))?.ok === true);
  const second = await report(ground, place, "bash", "echo 1 > outputs/second");
  await report(ground, place, "bash", "touch temp/go");
  const company = [alone, await first, second, await report(ground, place, "bash", "true")];
  assert.deepEqual(
    company.map(({ hadCompany }) => hadCompany),
    [undefined, true, true, undefined],
  );
});
