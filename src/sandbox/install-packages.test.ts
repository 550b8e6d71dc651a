import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Play, playedProvider } from "../../test/world/played-provider.ts";
import { systemClock } from "../base/clock.ts";
import { derivedHex, systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { localOwner } from "../protocol/ids.ts";
import { installInGuest } from "./install-packages.ts";
import { openNetwork } from "./network/network.ts";
import { isOver, openPackageFolders } from "./package-folders.ts";
import type { Session } from "./sandbox.ts";

// What becomes of an installation, with a guest whose part is played.

const greeter = { manager: "pip", name: "greeter", version: undefined } as const;
const limits = {
  ...{ memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 },
};
const quiet = () => {};
const done = async () => {};
const logger: Logger = {
  ...{ path: undefined, debug: quiet, info: quiet, warn: quiet, error: quiet, flush: done, close: done },
};

function openPlayed(t: TestContext, play: Play) {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-install-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const folders = openPackageFolders(dir, systemIds);
  const provider = playedProvider(play);
  const rules = { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry: undefined };
  const network = openNetwork({ rules, clock: systemClock, logger });
  const host = { provider, reaped: Promise.resolve(), settings: { limits }, network, rules, folders };
  const install = (signal = new AbortController().signal) =>
    installInGuest(
      { ...host, clock: systemClock, ids: systemIds, logger },
      {
        ...{ owner: localOwner, session: session(), packages: [greeter], signal },
        wanted: { packages: [greeter], timeoutMs: 1000, allowsConflicts: false },
      },
    );
  return { install, folders, guests: provider.guests, own: join(dir, derivedHex(32, localOwner)) };
}

function session(): Session {
  return {
    ...{ id: "s", owner: localOwner, status: "running", error: undefined, dialect: "seed", generation: 1, ttlMs: 1 },
    ...{ createdAt: 0, updatedAt: 0, usedAt: 0, endedAt: undefined, agentId: undefined, businessDomain: undefined },
    ...{ templateId: undefined, uploads: { fileBytesMax: 1, filesMax: 1, types: [] }, limits, env: {} },
    ...{ executionTimeoutMs: 1, packages: undefined, degraded: [] },
  };
}

const good: Play = ({ code }) => ({
  code: 0,
  says: code.includes("pip list") ? JSON.stringify([{ name: "greeter", version: "1.0" }]) : "",
});

test("an installation becomes current in one stroke, and the one before stays for those who read it [X5]", async (t) => {
  const { install, folders, own, guests } = openPlayed(t, good);
  await folders.of(localOwner);
  assert.equal(readlinkSync(join(own, "current")), "none");
  const names: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    assert.deepEqual(await install(), ok([{ manager: "pip", name: "greeter", version: "1.0" }]));
    names.push(readlinkSync(join(own, "current")));
  }
  assert.deepEqual(readdirSync(own).toSorted(), ["current", "none", ...names.slice(1)].toSorted());
  // The guest sees the new folder and nothing else, and it has a way out though nobody else has one.
  const first = guests[0]?.wanted;
  assert.deepEqual(
    [first?.workspace?.writable, first?.packages, first?.uid, typeof first?.network, first?.env],
    ["all", undefined, undefined, "function", {}],
  );
});

test("a sandbox without pip, an index that says no and a list that makes no sense leave everything as it was [X5]", async (t) => {
  const cases = [
    [() => ({ code: 97 }), { code: "installer_missing", params: { manager: "pip" } }],
    [
      () => ({ code: 1, says: "\u001b[31mno such package\u001b[0m\n" }),
      { code: "packages_failed", params: { why: "index", said: "no such package" } },
    ],
    [() => ({ code: 0, says: "{" }), { code: "packages_failed", params: { why: "lost", said: "" } }],
  ] as const;
  for (const [play, expected] of cases) {
    const { install, own } = openPlayed(t, play);
    const failed = await install();
    assert.deepEqual([failed.ok, readdirSync(own)], [false, ["current", "none"]]);
    assert.ok(!failed.ok);
    assert.deepEqual({ code: failed.failure.code, params: failed.failure.params }, expected);
  }
});

test("a folder holds too much by its bytes, its files, or a tree that cannot be walked; holes take up nothing [X5][X4]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-install-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const room = { bytesMax: 100_000, filesMax: 5, freeBytesMin: 0 };
  writeFileSync(join(folder, "holes"), "");
  truncateSync(join(folder, "holes"), 10_000_000_000);
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "x");
  assert.equal(await isOver(folder, room), false);
  assert.equal(await isOver(folder, { ...room, filesMax: 3 }), true);
  assert.equal(await isOver(folder, { ...room, freeBytesMin: Number.MAX_SAFE_INTEGER }), true);
  writeFileSync(join(folder, "large"), Buffer.alloc(200_000, "x"));
  assert.equal(await isOver(folder, room), true);
});

test("an installation that is called off before it begins starts no guest [X5]", async (t) => {
  const { install, guests } = openPlayed(t, good);
  const called = await install(AbortSignal.abort());
  assert.deepEqual([called.ok || called.failure.params, guests.length], [{ why: "cancelled", said: "" }, 0]);
});
