import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { until } from "../../test/world/events.ts";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type Play, type PlayedGuest, playedProvider } from "../../test/world/played-provider.ts";
import { testSettings as settings } from "../../test/world/sandbox-settings.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { derivedHex, systemIds } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { wordsFor } from "../words/words.ts";
import { installInGuest } from "./install-packages.ts";
import type { Network } from "./network/network.ts";
import { isOver, openPackageFolders } from "./package-folders.ts";
import { packageProgram } from "./package-programs.ts";
import { openSandbox, type Packages, type PackagesWanted, type SandboxProvider } from "./sandbox.ts";

// What is installed for the sessions of users, with guests whose part is played; real ones are in test/contracts/sandbox-packages.test.ts.

const pip = (name: string, version?: string) => ({ manager: "pip", name, version }) as const;
const [ann, ben, cas] = [OwnerId.parse("ann"), OwnerId.parse("ben"), OwnerId.parse("cas")];
const greeter = pip("greeter");
const left = { manager: "npm", name: "left", version: undefined } as const;
const good = pipPlay();

function unwrap<T>(result: Result<T, { readonly code: string }>): T {
  assert.ok(result.ok, result.ok ? "" : result.failure.code);
  return result.value;
}

async function told({ install }: Packages, ...packages: PackagesWanted["packages"]) {
  const installed = await install(ann, wanted(...packages));
  return installed.ok ? "it is there" : { code: installed.failure.code, ...installed.failure.params };
}

function folderOf([guest]: readonly PlayedGuest[]): string {
  return guest?.wanted.workspace?.folder ?? assert.fail("there is a folder");
}

type Options = {
  readonly clock?: Clock;
  readonly npmRegistry?: string | undefined;
  readonly provider?: Partial<SandboxProvider>;
};

function installing(t: TestContext, play: Play, options: Options = {}) {
  const { clock = systemClock, npmRegistry } = options;
  const [storage, packagesDir] = [openDatabase(t), folderWith(t, {})];
  /** May be changed, as settings are. */
  const network = { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry };
  const open = () => {
    const played = playedProvider(play);
    const sandbox = openSandbox({
      ...{ provider: { ...played, ...options.provider }, storage, clock, ids: systemIds, logger: quietLogger([]) },
      ...{ words: wordsFor("en"), settings, network, packagesDir },
    });
    t.after(() => sandbox.close());
    return { ...sandbox, guests: played.guests };
  };
  return { open, storage, network, folderOf: (owner: OwnerId) => join(packagesDir, derivedHex(32, owner)) };
}

const wanted = (...packages: PackagesWanted["packages"]) => ({
  ...{ packages, timeoutMs: 1000, allowsConflicts: false },
});

/** What pip would say; what it was asked for is heard. */
function pipPlay(heard: string[] = [], isGood: (asked: string) => boolean = () => true): Play {
  return ({ code, stdin }) => {
    if (code.includes("pip list")) return { code: 0, says: JSON.stringify([{ name: "greeter", version: "1.0" }]) };
    const asked = Buffer.from(stdin ?? []).toString();
    heard.push(asked);
    return isGood(asked) ? { code: 0 } : { code: 1, says: "no such package" };
  };
}

/** More than can be measured, and so more than may be there: the last name is longer than a path may be. */
function makeTooDeep(folder: string): void {
  let path = folder;
  for (; path.length < 3900; mkdirSync(path)) path = join(path, "d".repeat(100));
  const here = openSync(path, "r");
  writeFileSync(`/proc/self/fd/${here}/${"f".repeat(250)}`, "x");
  closeSync(here);
}

test("all that a session has is installed anew with what is added: the last wish for a name counts, and what failed is not asked for again [X5]", async (t) => {
  const heard: string[] = [];
  let isGood = true;
  const { packages, sessions } = installing(
    t,
    pipPlay(heard, () => isGood),
  ).open();
  unwrap(await packages.install(ann, wanted(pip("Two_words", "1.0"), pip("greeter"))));
  const there = unwrap(await packages.install(ann, wanted(pip("two-Words", "2.0")))).packages;
  const current = [pip("two-Words", "2.0"), pip("greeter")];
  assert.deepEqual(
    [there?.status, there?.requested, there?.current, there?.error],
    ["completed", current, current, undefined],
  );
  isGood = false;
  const failed = await packages.install(ann, wanted(pip("nowhere")));
  assert.equal(failed.ok || failed.failure.code, "packages_failed");
  const after = (await sessions.find(ann))?.packages;
  assert.deepEqual(
    [after?.status, after?.requested, after?.current, after?.installed],
    ["failed", [...current, pip("nowhere")], current, [{ manager: "pip", name: "greeter", version: "1.0" }]],
  );
  assert.match(after?.error ?? "", /no such package/);
  isGood = true;
  assert.equal(unwrap(await packages.install(ann, wanted(pip("polite")))).packages?.error, undefined);
  assert.deepEqual(heard, [
    ...["Two_words==1.0\ngreeter\n", "two-Words==2.0\ngreeter\n", "two-Words==2.0\ngreeter\nnowhere\n"],
    "two-Words==2.0\ngreeter\npolite\n",
  ]);
});

test("two installations run at once on a machine, one of a user; the next is told when to come again, and a restart ends them [X5][X4]", async (t) => {
  const end = Promise.withResolvers<void>();
  const { open } = installing(t, async (execution) => {
    await end.promise;
    return pipPlay()(execution);
  });
  const { packages, sessions, guests } = open();
  const both = [ann, ben].map((owner) => packages.install(owner, wanted(pip("greeter"))));
  await until("both are at it", () => guests.length === 2);
  const refused = async (owner: OwnerId) => {
    const answer = await packages.install(owner, wanted(pip("polite")));
    return answer.ok || [answer.failure.code, answer.failure.params];
  };
  assert.deepEqual(
    [await refused(ann), await refused(cas)],
    [
      ["packages_installing", {}],
      ["sandbox_full", { retryAfterSeconds: 30 }],
    ],
  );
  const told = async ({ find }: Pick<typeof sessions, "find">) => {
    const session = await find(ann);
    return [session?.packages?.status, session?.packages?.error];
  };
  assert.deepEqual(
    [await told(sessions), await told(open().sessions)],
    [
      ["installing", undefined],
      ["failed", "The AgentYard process that ran it ended."],
    ],
  );
  end.resolve();
  for (const installed of await Promise.all(both)) assert.equal(unwrap(installed).packages?.status, "completed");
  assert.deepEqual(await told(sessions), ["completed", undefined]);
});

test("an installation that takes too much room is ended while it is at it, and nothing of it is left [X5][X4]", async (t) => {
  const clock = manualClock();
  const place = installing(
    t,
    async () => {
      makeTooDeep(folderOf(guests));
      clock.move(1000);
      await until("it is ended", () => guests[0]?.told.length === 1);
      return { code: 0, how: "lost" };
    },
    { clock },
  );
  const { packages, guests } = place.open();
  assert.deepEqual(await told(packages, greeter), { code: "packages_failed", why: "room", said: "" });
  assert.deepEqual(guests[0]?.told, ["close disk_full", "close done"]);
  assert.deepEqual(readdirSync(place.folderOf(ann)), ["current", "none"]);
});

// How one is installed.

test("an installation becomes current in one stroke, and the one before stays for those who read it [X5]", async (t) => {
  const place = installing(t, good);
  const { packages, sessions, guests } = place.open();
  const limits = { memoryBytes: 2 };
  const { limits: ownLimits } = unwrap(await sessions.create(ann, { dialect: "public", limits }));
  const own = place.folderOf(ann);
  const names: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { installed } = unwrap(await packages.install(ann, wanted(greeter))).packages ?? assert.fail();
    assert.deepEqual(installed, [{ manager: "pip", name: "greeter", version: "1.0" }]);
    names.push(readlinkSync(join(own, "current")));
  }
  assert.deepEqual(readdirSync(own).toSorted(), ["current", "none", ...names.slice(1)].toSorted());
  // The guest sees the new folder and nothing else, and it has a way out though nobody else has one.
  const first = guests[0]?.wanted;
  assert.deepEqual(
    [first?.workspace?.writable, first?.packages, first?.uid, typeof first?.network, first?.env],
    ["all", undefined, undefined, "function", {}],
  );
  assert.deepEqual([first?.limits, first?.near], [ownLimits, ann]);
});

test("a sandbox without pip, an index that says no and a list that makes no sense leave everything as it was [X5]", async (t) => {
  const failed = (why: string, text = "") => ({ code: "packages_failed", why, said: text });
  const cases: readonly (readonly [Play, object])[] = [
    [() => ({ code: 97 }), { code: "installer_missing", manager: "pip" }],
    [() => ({ code: 1, says: "\u001b[31mno such package\u001b[0m\n" }), failed("index", "no such package")],
    [() => ({ code: 0, says: "{" }), failed("lost")],
    [() => ({ code: 0, how: "timeout" }), failed("time")],
    [() => ({ code: 0, how: "lost" }), failed("lost")],
    [() => ({ code: 0, how: "cancelled" }), failed("cancelled")],
  ];
  for (const [play, expected] of cases) {
    const place = installing(t, play);
    const { packages, guests } = place.open();
    assert.deepEqual(await told(packages, greeter), expected);
    assert.deepEqual([readdirSync(place.folderOf(ann)), guests[0]?.told], [["current", "none"], ["close done"]]);
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
  rmSync(join(folder, "large"));
  makeTooDeep(folder);
  assert.equal(await isOver(folder, { ...room, bytesMax: 1024 ** 3, filesMax: 1000 }), true, "too deep to be measured");
});

test("packages of pip and npm are installed in turn, by a sandbox that reaches the two indexes and where PyPI keeps its files [X5]", async (t) => {
  const reached: (readonly string[] | undefined)[] = [];
  const asked: string[] = [];
  const play: Play = ({ code, stdin, env }) => {
    const list = code.includes("pip list") || code.includes("npm ls");
    if (!list) asked.push(`${Buffer.from(stdin ?? []).toString()}${env?.PIP_INDEX_URL ?? env?.npm_config_registry}`);
    if (code.includes("npm ls"))
      return { code: 0, says: JSON.stringify({ dependencies: { left: { version: "2.0" } } }) };
    return good({ id: "", language: "bash", agent: "packages", timeoutMs: 1, code });
  };
  const network: Network = {
    wayOut(_, more) {
      reached.push(more?.hosts);
      return () => {};
    },
  };
  const session = unwrap(await installing(t, good).open().sessions.use(ann));
  const logger = quietLogger([]);
  const folders = openPackageFolders(folderWith(t, {}), { ids: systemIds, logger });
  const host = { reaped: Promise.resolve(), settings, network, folders, clock: systemClock, ids: systemIds, logger };
  const install = (rules: { packageIndex: string; npmRegistry?: string }, packages: PackagesWanted["packages"]) =>
    installInGuest(
      {
        ...host,
        provider: playedProvider(play),
        rules: { hosts: [], privateHosts: [], npmRegistry: undefined, ...rules },
      },
      { owner: ann, session, packages, signal: new AbortController().signal, wanted: wanted(...packages) },
    );
  const set = { packageIndex: "https://pypi.org/simple", npmRegistry: "https://registry.test" };
  assert.deepEqual(
    await install(set, [left, greeter]),
    ok([
      { manager: "pip", name: "greeter", version: "1.0" },
      { manager: "npm", name: "left", version: "2.0" },
    ]),
  );
  assert.deepEqual(asked, ["greeter\nhttps://pypi.org/simple", "left\nhttps://registry.test"]);
  await install({ packageIndex: "http://mirror.test:81/simple" }, [greeter]);
  assert.deepEqual(reached, [["pypi.org:443", "registry.test:443", "files.pythonhosted.org:443"], ["mirror.test:81"]]);
});

test("an installation that a crash cut off in its last moment does not keep the next one from its place [X5][Q2]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const folders = openPackageFolders(dir, { ids: systemIds, logger: quietLogger([]) });
  const own = await folders.of(localOwner);
  const cutOff = await folders.begin(localOwner);
  symlinkSync(cutOff.name, join(own, "current.next"));
  const { name } = await folders.begin(localOwner);
  await folders.makeCurrent(localOwner, name);
  assert.equal(readlinkSync(join(own, "current")), name);
});

test("whatever a package made of its folder while it was installed, a failed one is removed and the next one takes its place [X5][X4]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const logged: string[] = [];
  const folders = openPackageFolders(dir, { ids: systemIds, logger: quietLogger(logged) });
  const own = await folders.of(localOwner);
  const failed = await folders.begin(localOwner);
  makeDeep(failed.folder);
  await folders.drop(localOwner, failed.name);
  assert.deepEqual([readdirSync(own), readdirSync(join(dir, "gone"))], [["current", "none"], []]);
  const cutOff = await folders.begin(localOwner);
  makeDeep(cutOff.folder);
  // What a crash left of a removal.
  mkdirSync(join(dir, "gone", `gone-${"0".repeat(24)}.1`, "a"), { recursive: true });
  const good = await folders.begin(localOwner);
  assert.deepEqual(readdirSync(join(dir, "gone")), []);
  await folders.makeCurrent(localOwner, good.name);
  assert.deepEqual(readdirSync(own).toSorted(), ["current", good.name, "none"].toSorted());
  makeDeep(good.folder);
  await folders.forget(localOwner);
  assert.deepEqual([readdirSync(dir), readdirSync(join(dir, "gone")), logged], [["gone"], [], []]);
});

/** A way in that is longer than the system takes at once. */
function makeDeep(folder: string): void {
  const script = `for (let i = 0; i < 60; i += 1) { const name = "d".repeat(100); fs.mkdirSync(name); process.chdir(name); } fs.writeFileSync("f", "");`;
  execFileSync(process.execPath, ["--eval", script], { cwd: folder });
}

// What pip and npm are asked.

const npm = (name: string, version?: string) => ({ manager: "npm", name, version }) as const;

test("pip and npm are asked for what is wanted from the index that is set: a version without an operator is exactly that one, without TLS only where it is set so [X5]", () => {
  const url = "https://mirror.test/simple";
  const order = { packages: [], url, allowsConflicts: false };
  const asked = [pip("a"), pip("b", "1.0"), ...["=1", "<2", ">=1,<2", "!=3", "~=4"].map((one) => pip("c", one))];
  assert.equal(
    packageProgram("pip", { ...order, packages: asked }).wanted,
    ["a", "b==1.0", "c=1", "c<2", "c>=1,<2", "c!=3", "c~=4", ""].join("\n"),
  );
  const { wanted: ofNpm, env } = packageProgram("npm", { ...order, packages: [npm("@a/b"), npm("c", "^1.0.0")] });
  assert.deepEqual([ofNpm, env], ["@a/b\nc@^1.0.0\n", { npm_config_registry: url }]);
  const envOf = (index: string) => packageProgram("pip", { ...order, url: index }).env;
  const trusted = { PIP_INDEX_URL: "http://mirror.test:81/simple", PIP_TRUSTED_HOST: "mirror.test:81" };
  assert.deepEqual(envOf(url), { PIP_INDEX_URL: url, PIP_IGNORE_INSTALLED: "1" });
  assert.deepEqual(envOf("http://mirror.test:81/simple"), { ...trusted, PIP_IGNORE_INSTALLED: "1" });
});

test("what was installed is told by name and version, at most two thousand of them, and what makes no sense is nothing [X5][X4]", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `p${index}`, version: "1" }));
  const parsedBy = (manager: "pip" | "npm", said: unknown) =>
    packageProgram(manager, { packages: [], url: "https://mirror.test", allowsConflicts: false }).parse(
      typeof said === "string" ? said : JSON.stringify(said),
    );
  assert.deepEqual(parsedBy("pip", many(1)), [{ manager: "pip", name: "p0", version: "1" }]);
  assert.equal(parsedBy("pip", many(2000))?.length, 2000);
  for (const wrong of [many(2001), [{ name: "p" }], [{ name: "x".repeat(257), version: "1" }], {}, "{"])
    assert.equal(parsedBy("pip", wrong), undefined);
  const dependencies = (count: number) =>
    Object.fromEntries(many(count).map(({ name, version }) => [name, { version, resolved: "https://x" }]));
  assert.deepEqual(parsedBy("npm", { dependencies: dependencies(1) }), [{ manager: "npm", name: "p0", version: "1" }]);
  assert.equal(parsedBy("npm", { dependencies: dependencies(2001) })?.length, 2000);
  assert.deepEqual(
    [parsedBy("npm", {}), parsedBy("npm", "{"), parsedBy("npm", { dependencies: [] })],
    [[], undefined, undefined],
  );
});
