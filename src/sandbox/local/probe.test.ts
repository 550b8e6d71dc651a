import assert from "node:assert/strict";
import { test } from "node:test";
import { lackOf } from "./probe.ts";

const plain = { isContainer: false, isRestricted: false };

test("what bwrap says when it cannot build its walls leads to what mends it [X3]", () => {
  const said: readonly (readonly [string, typeof plain])[] = [
    ["bwrap: setting up uid map: Permission denied", plain],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", plain],
    ["bwrap: Creating new namespace failed: Permission denied", { ...plain, isRestricted: true }],
    ["bwrap: No permissions to create new namespace, likely because the kernel does not allow it", plain],
    ["bwrap: Creating new namespace failed: Operation not permitted", { ...plain, isContainer: true }],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", { ...plain, isContainer: true }],
    ["bwrap: prctl(PR_SET_SECCOMP): Invalid argument", plain],
  ];
  assert.deepEqual(
    said.map(([text, marks]) => lackOf(text, marks)),
    [
      "apparmor_userns",
      "apparmor_userns",
      "apparmor_userns",
      "no_userns",
      "in_container",
      "in_container",
      "no_seccomp",
    ],
  );
});
