import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { duplexPair } from "node:stream";
import { type TestContext, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Play, playedProvider } from "../../test/world/played-provider.ts";
import { systemClock } from "../base/clock.ts";
import { derivedHex, systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { localOwner } from "../protocol/ids.ts";
import { installInGuest } from "./install-packages.ts";
import { type Network, openNetwork } from "./network/network.ts";
import { isOver, openPackageFolders } from "./package-folders.ts";
import type { Package } from "./package-programs.ts";
import type { Session } from "./sandbox.ts";

// What becomes of an installation, with a guest whose part is played.

const greeter = { manager: "pip", name: "greeter", version: undefined } as const;
const limits = {
  ...{ memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 },
};
/** Of the session: another one than those of the settings. */
const ownLimits = { ...limits, memoryBytes: 2 };
const quiet = () => {};
const done = async () => {};
const logger: Logger = {
  ...{ path: undefined, debug: quiet, info: quiet, warn: quiet, error: quiet, flush: done, close: done },
};

type Rules = { readonly packageIndex: string; readonly npmRegistry: string | undefined };
const pypi: Rules = { packageIndex: "https://pypi.org/simple", npmRegistry: undefined };

function openPlayed(t: TestContext, play: Play, way?: Network, set = pypi, packages: readonly Package[] = [greeter]) {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-install-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const folders = openPackageFolders(dir, { ids: systemIds, logger });
  const provider = playedProvider(play);
  const rules = { hosts: [], privateHosts: [], ...set };
  const network = way ?? openNetwork({ rules, clock: systemClock, logger });
  const host = { provider, reaped: Promise.resolve(), settings: { limits }, network, rules, folders };
  const install = (signal = new AbortController().signal) =>
    installInGuest(
      { ...host, clock: systemClock, ids: systemIds, logger },
      {
        ...{ owner: localOwner, session: session(), packages, signal },
        wanted: { packages, timeoutMs: 1000, allowsConflicts: false },
      },
    );
  return { install, folders, guests: provider.guests, own: join(dir, derivedHex(32, localOwner)) };
}

function session(): Session {
  return {
    ...{ id: "s", owner: localOwner, status: "running", error: undefined, dialect: "seed", generation: 1, ttlMs: 1 },
    ...{ createdAt: 0, updatedAt: 0, usedAt: 0, endedAt: undefined, agentId: undefined, businessDomain: undefined },
    ...{ templateId: undefined, uploads: { fileBytesMax: 1, filesMax: 1, types: [] }, limits: ownLimits, env: {} },
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
  assert.deepEqual([first?.limits, first?.near], [ownLimits, localOwner]);
});

test("a sandbox without pip, an index that says no and a list that makes no sense leave everything as it was [X5]", async (t) => {
  const cases = [
    [() => ({ code: 97 }), { code: "installer_missing", params: { manager: "pip" } }],
    [
      () => ({ code: 1, says: "\u001b[31mno such package\u001b[0m\n" }),
      { code: "packages_failed", params: { why: "index", said: "no such package" } },
    ],
    [() => ({ code: 0, says: "{" }), { code: "packages_failed", params: { why: "lost", said: "" } }],
    [() => ({ code: 0, how: "timeout" as const }), { code: "packages_failed", params: { why: "time", said: "" } }],
    [() => ({ code: 0, how: "lost" as const }), { code: "packages_failed", params: { why: "lost", said: "" } }],
    [
      () => ({ code: 0, how: "cancelled" as const }),
      { code: "packages_failed", params: { why: "cancelled", said: "" } },
    ],
  ] as const;
  for (const [play, expected] of cases) {
    const { install, own, guests } = openPlayed(t, play);
    const failed = await install();
    assert.deepEqual([failed.ok, readdirSync(own), guests[0]?.told], [false, ["current", "none"], ["close done"]]);
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
  assert.equal(await isOver(folder, { ...room, filesMax: 4 }), false);
  assert.equal(await isOver(folder, { ...room, filesMax: 3 }), true);
  assert.equal(await isOver(folder, { ...room, freeBytesMin: Number.MAX_SAFE_INTEGER }), true);
  writeFileSync(join(folder, "large"), Buffer.alloc(200_000, "x"));
  assert.equal(await isOver(folder, room), true);
});

test("packages of pip and npm are installed in turn, by a sandbox that reaches the two indexes and where PyPI keeps its files [X5]", async (t) => {
  const reached: (readonly string[] | undefined)[] = [];
  const asked: string[] = [];
  const play: Play = ({ code, stdin, env }) => {
    const list = code.includes("pip list") || code.includes("npm ls");
    if (!list) asked.push(`${Buffer.from(stdin ?? []).toString()}${env?.PIP_INDEX_URL ?? env?.npm_config_registry}`);
    if (code.includes("npm ls"))
      return { code: 0, says: JSON.stringify({ dependencies: { left: { version: "2.0" } } }) };
    return good({ ...noExecution, code });
  };
  const way: Network = {
    wayOut(_, more) {
      reached.push(more?.hosts);
      return () => {};
    },
  };
  const set = { ...pypi, npmRegistry: "https://registry.test" };
  const packages = [{ manager: "npm", name: "left", version: undefined } as const, greeter];
  const { install } = openPlayed(t, play, way, set, packages);
  assert.deepEqual(
    await install(),
    ok([
      { manager: "pip", name: "greeter", version: "1.0" },
      { manager: "npm", name: "left", version: "2.0" },
    ]),
  );
  assert.deepEqual(asked, ["greeter\nhttps://pypi.org/simple", "left\nhttps://registry.test"]);
  await openPlayed(t, good, way, { packageIndex: "http://mirror.test:81/simple", npmRegistry: undefined }).install();
  assert.deepEqual(reached, [["pypi.org:443", "registry.test:443", "files.pythonhosted.org:443"], ["mirror.test:81"]]);
});

const noExecution = { id: "", language: "bash", agent: "packages", timeoutMs: 1 } as const;

test("where packages cannot be kept an installation fails, and nobody waits for it [X5][Q2]", async (t) => {
  const { install, own, guests } = openPlayed(t, good);
  const dir = dirname(own);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, "no folder");
  const failed = await install();
  assert.deepEqual([failed.ok || failed.failure.params, guests.length], [{ why: "room", said: "" }, 0]);
});

test("an installation that is called off before it begins starts no guest [X5]", async (t) => {
  const { install, guests } = openPlayed(t, good);
  const called = await install(AbortSignal.abort());
  assert.deepEqual([called.ok || called.failure.params, guests.length], [{ why: "cancelled", said: "" }, 0]);
});

test("a package that asks for host after host while it is installed fills no memory, and of what it was kept from three are told [X5][X4]", async (t) => {
  const heard: ((text: string) => void)[] = [];
  const asks: Play = () => {
    const before = heldBytes();
    for (let host = 0; host < 2_000; host += 1)
      for (const refused of heard) refused(Buffer.alloc(50_000, `${host} `).toString("latin1"));
    assert.ok(heldBytes() - before < 20_000_000, "texts that nobody is shown are not kept");
    return { code: 1, says: "no" };
  };
  const { install } = openPlayed(t, asks, {
    wayOut(_, more) {
      if (more !== undefined) heard.push(more.onRefusal);
      return () => {};
    },
  });
  const failed = await install();
  assert.ok(!failed.ok && failed.failure.code === "packages_failed");
  const [said, ...texts] = String(failed.failure.params.said).split("\n");
  assert.deepEqual([said, texts.map((text) => text.slice(0, 4))], ["no", ["0 0 ", "1 1 ", "2 2 "]]);
});

test("a host with a name longer than any is no host, and a refusal does not say it again [X5][X4]", async (t) => {
  const asked = async (name: string) => {
    const answer = Promise.withResolvers<string>();
    const asks: Play = async () => {
      const [guest, link] = duplexPair();
      guests[0]?.wanted.network?.(link);
      let said = "";
      guest.on("data", (bytes: Buffer) => {
        said += bytes.toString("latin1");
        const [line] = /HTTP[^\r]+(?=\r)/.exec(said) ?? [];
        if (line !== undefined) answer.resolve(line);
      });
      const request = Buffer.from(`CONNECT ${name}:443 HTTP/1.1\r\n\r\n`);
      guest.write(Buffer.concat([frame(0, 0), frame(1, request.length), request]));
      await answer.promise;
      return { code: 1 };
    };
    const { install, guests } = openPlayed(t, asks);
    await install();
    return answer.promise;
  };
  const longest = `${"a.".repeat(126)}a`;
  assert.match(await asked(longest), new RegExp(`^HTTP/1.1 403 Forbidden: ${longest}:443 is not allowed here`));
  assert.match(await asked(`a${longest}`), /^HTTP\/1.1 400 Bad Request: this is a proxy/);
  assert.ok((await asked("a".repeat(16_000))).length < 200);
});

function frame(kind: number, number: number): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(1, 1);
  head.writeUInt32BE(number, 5);
  return head;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

function heldBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
