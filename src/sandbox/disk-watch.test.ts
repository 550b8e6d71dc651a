import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../test/world/manual-clock.ts";
import { playedProvider } from "../../test/world/played-provider.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { type Measured, noWorkspace } from "../workspace/workspace.ts";
import { openDiskWatch } from "./disk-watch.ts";
import { openGuests } from "./guests.ts";
import { checkProgram } from "./program-checks.ts";

const empty: Measured = {
  ...{ bytes: 0, files: 0, folders: 0, bytesMax: 100, filesMax: 10, freeBytes: 1000 },
  ...{ over: undefined, isFarOver: false },
};

const of = (bytes: number, more: Partial<Measured> = {}): Measured => ({
  ...{ ...empty, bytes, over: bytes > 100 ? "bytes" : undefined },
  ...more,
});

/** A workspace that takes up what the test says, and what is done about it. */
function watching() {
  const clock = manualClock();
  const done: string[] = [];
  let measured = empty;
  let unnamed = 0;
  const nothing = noWorkspace("c1", makeFailure("workspace_not_assigned", { agent: "root" }));
  let looks = 0;
  const measure: typeof nothing.measure = async ({ moreBytes = 0 } = {}) => {
    looks += 1;
    return ok(moreBytes === 0 ? measured : of(measured.bytes + moreBytes));
  };
  const workspace = { ...nothing, measure };
  const watch = openDiskWatch({
    ...{ workspace, clock, logger: quietLogger([]) },
    unnamedBytes: async () => unnamed,
    onDiskFull: () => watch.end(),
    endBackground: async () => void done.push("background"),
    endGuest: () => void done.push("guest"),
  });
  return {
    watch,
    workspace,
    looks: () => looks,
    timers: clock.timers,
    begin: (name: string, found: Measured) =>
      watch.begin({ onOver: () => void done.push(name), onCompany: () => void done.push(`${name} not alone`) }, found),
    /**
     * What is done when so much is there at the next look; after some seconds, as looks at rest are rare. `nameless`: and
     * so much in files without a name.
     */
    async at(found: Measured, nameless = 0) {
      [measured, unnamed] = [found, nameless];
      for (let second = 0; second < 5; second += 1) {
        clock.move(1000);
        await nextLoop();
      }
      return done.splice(0);
    },
  };
}

test("in a workspace that is too full a program is ended only when it takes more, also of what it freed [X4]", async () => {
  const { begin, at } = watching();
  const end = begin("first", of(150));
  assert.deepEqual(await at(of(150)), []);
  assert.deepEqual(await at(of(120)), []);
  assert.deepEqual(await at(of(121)), ["first", "background"]);
  end(of(121));
  const next = begin("next", of(121));
  assert.deepEqual(await at(of(50)), []);
  assert.deepEqual(await at(of(101)), ["next", "background"]);
  next();
  begin("files", of(0, { files: 20, over: "files" }));
  assert.deepEqual(await at(of(0, { files: 20, folders: 20, over: "files" })), []);
  assert.deepEqual(await at(of(0, { files: 20, folders: 21, over: "files" })), ["files", "background"]);
});

test("where nothing runs, only what is written on top of what a program left ends the guest [X4]", async () => {
  const { begin, at } = watching();
  begin("program", empty)(of(150));
  assert.deepEqual(await at(of(150)), []);
  assert.deepEqual(await at(of(151)), ["guest"]);
});

test("a full disk, and far too much in the workspace, end programs at once [X4]", async () => {
  const { begin, at } = watching();
  begin("program", of(150));
  assert.deepEqual(await at(of(0, { over: "disk" })), Array(5).fill(["program", "background"]).flat());
  begin("other", of(150));
  assert.ok((await at(of(150, { isFarOver: true }))).includes("other"));
});

test("programs that run at the same time are told so, and do not raise the limit for each other [X1][X4]", async () => {
  const { begin, at } = watching();
  const end = begin("a", empty);
  begin("b", of(150));
  assert.deepEqual(await at(of(130)), ["a not alone", "b not alone", "a", "b", "background"]);
  end(of(130));
  assert.deepEqual(await at(of(130)), []);
});

test("a file that is open and has no name counts, and ends the sandbox where nothing else is too much [X4]", async () => {
  const { begin, at } = watching();
  begin("program", empty);
  assert.deepEqual(await at(of(50), 50), []);
  assert.deepEqual((await at(of(50), 51)).slice(0, 3), ["program", "background", "guest"]);
  const other = watching();
  other.begin("program", empty);
  assert.deepEqual((await other.at(of(101), 1)).slice(0, 3), ["program", "background"], "those with names are enough");
});

test("how much was taken is counted from the least of the last minute [X4]", async () => {
  const { watch, begin, at } = watching();
  assert.equal(watch.grownBytes(), 0);
  begin("program", of(10));
  await at(of(50));
  assert.equal(watch.grownBytes(), 40);
  await at(of(30));
  assert.equal(watch.grownBytes(), 20);
  for (let seconds = 0; seconds < 60; seconds += 5) await at(of(60));
  assert.equal(watch.grownBytes(), 0);
});

test("a program may run where too much is there, so that it can make room, but not where it is far too much [X4]", async () => {
  const { workspace } = watching();
  const provider = playedProvider();
  const checked = (found: Measured) =>
    checkProgram(
      provider,
      {
        owner: localOwner,
        conversation: 1,
        agent: "root",
        workspace: { ...workspace, measure: async () => ok(found) },
      },
      { language: "bash", code: "rm outputs/*", timeoutMs: 1000 },
    );
  const refused = (what: "bytes" | "files", limit: number) =>
    failure("quota_exceeded", { path: ".", what, limit, setting: `workspace.${what}_max` });
  const far = { isFarOver: true } as const;
  assert.deepEqual(
    [await checked(of(150)), await checked(of(900, far)), await checked(of(0, { ...far, over: "files" }))],
    [ok(undefined), refused("bytes", 100), refused("files", 10)],
  );
  assert.deepEqual(await checked(of(0, { over: "disk" })), failure("write_failed", { path: ".", why: "full" }));
});

test("when the disk is full, who took the most of it is ended, and the others go on [X4]", async () => {
  const [clock, provider] = [manualClock(), playedProvider()];
  const settings = { ...testSettings, guestsPerOwnerMax: 9, guestsMax: 9, kernelIdleMs: 1e9, guestIdleMs: 1e9 };
  const guests = openGuests({
    ...{ provider, clock, logger: quietLogger([]), ids: systemIds, reaped: Promise.resolve(), settings },
    ...{ network: { wayOut: () => undefined }, folderOf: async () => undefined, onRoom() {} },
  });
  const ended: string[] = [];
  const of = (bytes: number, more: Partial<Measured> = {}): Measured => ({ ...empty, bytes, bytesMax: 1e9, ...more });
  const measured = new Map<string, Measured>();
  const begin = async (id: string) => {
    const marks = {};
    const folder = { folder: "/", writable: "all", skills: undefined, uid: undefined, marks, release() {} } as const;
    const nothing = noWorkspace(id, makeFailure("workspace_not_assigned", { agent: "root" }));
    const measure = async () => ok(measured.get(id) ?? of(100));
    const workspace = { ...nothing, measure, guestFolder: async () => ok({ ...folder, inside: `/workspace/${id}` }) };
    const place = { owner: localOwner, conversation: 1, workspace, agent: "root" };
    const held = guests.take({ place, session: { limits: testSettings.limits, env: {} } });
    assert.ok(typeof held !== "string");
    await held.opened;
    held.watch?.begin({ onOver: () => void ended.push(id) }, of(100));
  };
  for (const id of ["small", "greedy", "still"]) await begin(id);
  const at = async (now: Readonly<Record<string, Measured>>) => {
    for (const [id, found] of Object.entries(now)) measured.set(id, found);
    clock.move(1000);
    await nextLoop();
    return new Set(ended.splice(0));
  };
  assert.deepEqual(
    await at({ still: of(100, { over: "disk" }) }),
    new Set(["still"]),
    "nobody took anything: who noticed it",
  );
  assert.deepEqual(await at({ small: of(200), greedy: of(5000), still: of(100) }), new Set());
  const full = {
    small: of(300, { over: "disk" }),
    greedy: of(5000, { over: "disk" }),
    still: of(100, { over: "disk" }),
  };
  assert.deepEqual(await at(full), new Set(["greedy"]));
  assert.deepEqual(
    provider.guests.map(({ wanted, told }) => [wanted.workspace?.inside, new Set(told)]),
    [
      ["/workspace/small", new Set()],
      ["/workspace/greedy", new Set(["end all"])],
      ["/workspace/still", new Set(["end all"])],
    ],
  );
});
