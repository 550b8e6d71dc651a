import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenWalls, type GuestFacts } from "./canary.ts";

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
    reached: [],
    canSeeFirst: false,
    libraries: [],
    hasChinese: true,
    hasNode: true,
  };
  const own = { user: [1000, 1000, 1], descriptors: [1, 2, 3] };
  const wrong: readonly Partial<GuestFacts>[] = [
    {},
    { capabilities: 2097152 },
    { seccomp: "0" },
    { user: [0, 0, 1] },
    { descriptors: [1, 2, 3, 9], canNestUsers: true },
    { writable: ["/usr"], interfaces: ["lo", "eth0"], routes: 1, canSeeFirst: true, noNewPrivs: "0" },
  ];
  assert.deepEqual(
    wrong.map((change) => brokenWalls({ ...found, ...change }, own, "no_userns")),
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
