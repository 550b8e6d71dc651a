import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenWalls, type GuestFacts, lackOf } from "./probe.ts";

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

test("a guest that can do one thing too many is no sandbox [X3]", () => {
  const found: GuestFacts = {
    capabilities: 0,
    noNewPrivs: "1",
    seccomp: "2",
    user: [1000, 1000, 1],
    descriptors: [1, 2, 3],
    canNestUsers: false,
    writable: [],
    interfaces: ["lo"],
    routes: 0,
    canSeeFirst: false,
    libraries: [],
    hasChinese: true,
  };
  const wrong: readonly Partial<GuestFacts>[] = [
    {},
    { capabilities: 2097152 },
    { seccomp: "0" },
    { user: [0, 0, 1] },
    { descriptors: [1, 2, 3, 9], canNestUsers: true },
    { writable: ["/usr"], interfaces: ["lo", "eth0"], routes: 1, canSeeFirst: true, noNewPrivs: "0" },
  ];
  assert.deepEqual(
    wrong.map((change) => brokenWalls({ ...found, ...change })),
    [
      [],
      [["no_userns", "capabilities 2097152"]],
      [["no_seccomp", "seccomp 0"]],
      [["no_userns", "user [0,0,1]"]],
      [["no_userns", "descriptors [1,2,3,9], canNestUsers true"]],
      [["no_userns", 'noNewPrivs "0", writable ["/usr"], interfaces ["lo","eth0"], routes 1, canSeeFirst true']],
    ],
  );
});
