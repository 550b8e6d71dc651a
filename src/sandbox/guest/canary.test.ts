import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { brokenWalls, factsIn, type GuestFacts, readCanary } from "./canary.ts";

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

test("of who looks around from inside one line is heard, however it comes, and no more than that has [X3][X4]", async () => {
  const control = new PassThrough();
  const heard = readCanary(control);
  for (const piece of ['{"a":', "1}", "\n"]) control.write(piece);
  assert.equal(await heard, '{"a":1}\n');
  const endless = new PassThrough({ highWaterMark: 1e6 });
  const cut = readCanary(endless);
  endless.write("x".repeat(64 * 1024));
  endless.write("x");
  assert.equal((await cut).length, 64 * 1024 + 1);
  assert.equal(factsIn("y".repeat(300)), `the canary said: ${"y".repeat(200)}`);
});
