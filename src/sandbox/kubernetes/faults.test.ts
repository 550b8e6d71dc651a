import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallFault, callFault } from "../guest/http-call.ts";
import { lateFault, podFault, startFault } from "./faults.ts";
import type { PodSeen } from "./follow.ts";

const seen = (changes: Partial<PodSeen>): PodSeen => ({
  ...{ name: "p", labels: {}, isRunning: false, isLeaving: false, end: undefined, waits: { reason: "", message: "" } },
  ...changes,
});

test("what a cluster answers to a wish for a pod tells whether somebody has to see to it, there is no room, or this one is wrong [X3]", () => {
  const refused = (status: number, said = "") => startFault(callFault("refused", said, status)).why;
  const of = (why: CallFault["why"]) => startFault(callFault(why)).why;
  assert.deepEqual(
    [401, 403, 404, 429, 500, 503].map((status) => refused(status)),
    Array<string>(6).fill("unavailable"),
  );
  assert.deepEqual(
    [400, 409, 413, 422, 499].map((status) => refused(status)),
    Array<string>(5).fill("start_failed"),
  );
  assert.deepEqual(
    [refused(403, "pods are forbidden: Exceeded quota: a"), refused(422, "exceeded quota"), refused(403, "quota")],
    ["full", "start_failed", "unavailable"],
  );
  assert.deepEqual([of("unreachable"), of("broken_off"), of("late")], Array<string>(3).fill("unavailable"));
  assert.deepEqual(
    [startFault(callFault("late")).said, startFault(callFault("broken_off", "ECONNRESET")).said],
    ["late", "ECONNRESET"],
  );
});

test("a pod that waits for what nobody brings is given up at once, and one that may come is waited for [X3]", () => {
  const waits = (reason: string) => podFault(seen({ waits: { reason, message: "why" } }));
  for (const reason of [
    ...["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"],
    ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError"],
  ])
    assert.deepEqual(waits(reason), { why: "unavailable", said: `${reason}: why` });
  for (const reason of ["ContainerCreating", "PodInitializing", "Unschedulable", ""])
    assert.equal(waits(reason), undefined);
  assert.deepEqual(
    [podFault(seen({ end: { code: 1, reason: "Evicted" } })), podFault(seen({ isLeaving: true }))],
    [
      { why: "start_failed", said: "Evicted" },
      { why: "start_failed", said: "removed" },
    ],
  );
});

test("a pod that did not run in time was without room, without its volume, or slow [X3][X4]", () => {
  const late = (reason: string, message: string) => lateFault(seen({ waits: { reason, message } }));
  assert.deepEqual(
    [
      late("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.").why,
      late("Unschedulable", "0/3 nodes are available: 3 Too many pods.").why,
      late("Unschedulable", 'persistentvolumeclaim "files" not found').why,
      late("Unschedulable", "0/3 nodes match the selector").why,
      late("ContainerCreating", "insufficient words").why,
      lateFault(undefined).why,
    ],
    ["full", "full", "unavailable", "start_timeout", "start_timeout", "start_timeout"],
  );
  assert.deepEqual(
    [late("Unschedulable", "no node").said, late("ContainerCreating", "").said],
    ["Unschedulable: no node", "ContainerCreating"],
  );
});
