import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { failed, ok } from "../../base/result.ts";
import type { GuestWanted, GuestWorkspace } from "../provider.ts";
import { canaryLimits } from "./canary.ts";
import { launchContained, mountsOf, userOf } from "./contained.ts";
import { missingIn, sendCanary } from "./contained-canary.ts";
import { canReach, openSources } from "./sources.ts";
import { makeStage, reapStages } from "./stage.ts";

// What a guest in a container is given of the host's files. No container is started here.

/** Files below a folder that this process has open. */
const openIn = (folder: string) =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // The one that the listing itself used.
    }
  }).length;
const isRoot = process.geteuid?.() === 0;
const other = 64_123;
const markOf = (path: string) => `${statSync(path).dev}:${statSync(path).ino}`;
const writable = ["uploads", "outputs"];
const conversation = (folder: string, more: Partial<GuestWorkspace> = {}): GuestWorkspace => ({
  ...{ folder, inside: "/workspace/c1", writable, ...more },
});
const wantedFor = (workspace: GuestWorkspace | undefined): GuestWanted => ({
  ...{ id: "g1", workspace, limits: canaryLimits, uid: undefined, env: {} },
});

test("folders are made where they are missing, held open, given to the guest's user, and let go again [S4][X3]", (t) => {
  const folder = folderWith(t, { "c1/uploads/": "", "skills/a": "", "copies/a": "", "packages/a": "", node: "" });
  const at = (name: string) => join(folder, name);
  symlinkSync("node", at("link"));
  const workspace = conversation(at("c1"), { skills: at("skills"), skillCopies: at("copies") });
  const opened = openSources({
    ...{ workspace, packages: at("packages"), programs: [{ path: at("link"), inside: "/bin/node" }] },
    uid: isRoot ? other : undefined,
  });
  assert.ok(opened.ok);
  const { packages, programs, close } = opened.value;
  const { root, skills, skillCopies, writable: below } = opened.value.workspace ?? assert.fail("it has a workspace");
  assert.ok(below !== "all");
  const held = [root, ...below.map((one) => one.opened), skills, skillCopies, packages, programs[0]?.opened];
  const paths = ["c1", "c1/uploads", "c1/outputs", "skills", "copies", "packages", "node"].map(at);
  assert.deepEqual(
    held.map((one) => [one?.path, readlinkSync(`/proc/self/fd/${one?.fd}`), one?.isFolder]),
    paths.map((path) => [path, path, path !== at("node")]),
  );
  assert.deepEqual([below.map(({ name }) => name), programs[0]?.inside], [writable, "/bin/node"]);
  const own = process.geteuid?.();
  const owners = ["c1", "c1/uploads", "c1/outputs", "c1/skills", "skills"].map((name) => statSync(at(name)).uid);
  const [given, kept] = [isRoot ? other : own, own];
  assert.deepEqual(owners, [given, given, given, kept, kept]);
  assert.ok(openIn(folder) >= held.length);
  close();
  assert.equal(openIn(folder), 0);
});

test("a folder that is missing or a link is no folder, and leaves nothing open [W5][X3]", (t) => {
  const folder = folderWith(t, { "c1/": "", "elsewhere/": "" });
  const workspace = conversation(join(folder, "c1"));
  symlinkSync("../elsewhere", join(folder, "c1/outputs"));
  const none = { workspace: undefined, programs: [], uid: undefined };
  const faults = [
    openSources({ ...none, workspace }),
    openSources({ ...none, workspace: conversation(join(folder, "gone")) }),
    openSources({ ...none, workspace: { ...workspace, writable: "all", skills: join(folder, "gone") } }),
    openSources({ ...none, packages: join(folder, "gone") }),
    openSources({ ...none, programs: [{ path: join(folder, "gone"), inside: "/bin/node" }] }),
  ];
  assert.deepEqual(
    faults.map((one) => one.ok || one.failure),
    ["ENOTDIR", "ENOENT", "ENOENT", "ENOENT", "ENOENT"].map((code) => `a folder cannot be opened: ${code}`),
  );
  assert.equal(openIn(folder), 0);
});

test("a place is reached by its owner or by everybody, through every folder above it [X3]", { skip: !isRoot }, (t) => {
  // Not in a folder for temporary files of our own, which may be closed to others.
  const folder = mkdtempSync("/var/tmp/agentyard-reach-");
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "a/b"), { recursive: true });
  const seen = [0o755, 0o700, 0o711, 0o744].map((mode) => {
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a"), mode);
    return canReach(join(folder, "a/b/file"), other);
  });
  chmodSync(join(folder, "a"), 0o700);
  chownSync(join(folder, "a"), other, other);
  assert.deepEqual([seen, canReach(join(folder, "a/b/file"), other)], [[true, false, true, false], true]);
  chmodSync(join(folder, "a"), 0o077);
  assert.equal(canReach(join(folder, "a/b/file"), other), false);
});

test("a container finds its small files as everybody may read and nobody write them, and they go with it [X3][Q1]", (t) => {
  const folder = folderWith(t, {});
  const mask = process.umask(0o077);
  const files = { "guest/a.py": "code", "guest/calls.bpf": new Uint8Array([1]) };
  const workspace = conversation("", { inside: "/workspace/c1" });
  const made = makeStage({ folder: join(folder, "stages"), id: "g1", files, user: other, workspace });
  process.umask(mask);
  assert.ok(made.ok);
  const root = join(folder, "stages/g1");
  const modes = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => [entry.isDirectory(), statSync(join(entry.parentPath, entry.name)).mode & 0o777]);
  assert.ok(modes.every(([isFolder, mode]) => mode === (isFolder ? 0o755 : 0o444)));
  assert.equal(statSync(join(folder, "stages")).mode & 0o777, 0o700);
  const text = (path: string) => readFileSync(join(root, path), "utf8");
  assert.deepEqual(["run/guest/a.py", "etc/passwd", "etc/group", "etc/hostname", "etc/resolv.conf"].map(text), [
    "code",
    `guest:x:${other}:${other}::/tmp:/bin/bash\n`,
    `guest:x:${other}:\n`,
    "sandbox\n",
    "",
  ]);
  assert.deepEqual(
    ["run/bin/python", "workspace/uploads", "workspace/outputs"].map((path) => readlinkSync(join(root, path))),
    ["/usr/bin/python3", "/workspace/c1/uploads", "/workspace/c1/outputs"],
  );
  assert.deepEqual(readdirSync(join(root, "workspace")).sort(), ["c1", "outputs", "uploads"]);
  assert.deepEqual(made.value.mounts, {
    ...{ "/run/agentyard": join(root, "run"), "/workspace": join(root, "workspace") },
    ...Object.fromEntries(
      ["passwd", "group", "hosts", "hostname", "resolv.conf"].map((name) => [`/etc/${name}`, join(root, "etc", name)]),
    ),
  });
  const wrong = {
    folder: join(folder, "more"),
    id: "g4",
    files: { a: "", "a/b": "" },
    user: other,
    workspace: undefined,
  };
  const failing = makeStage(wrong);
  assert.match(failing.ok ? "" : failing.failure, /^the files of a container cannot be written: E[A-Z]+$/);
  assert.deepEqual([readdirSync(wrong.folder), statSync(wrong.folder).mode & 0o777], [[], 0o700]);
  const named = { folder: join(folder, "named"), files: {}, user: other };
  for (const [id, inside, all] of [
    ["g5", "/workspace/outputs", writable],
    ["g6", "/workspace/t1", "all"],
  ] as const)
    assert.ok(makeStage({ ...named, id, workspace: { inside, writable: all } }).ok);
  const folders = ["g5", "g6"].map((id) => readdirSync(join(named.folder, id, "workspace")).sort());
  assert.deepEqual(folders, [["outputs", "uploads"], ["t1"]]);
  for (const id of ["g2", "g3"]) mkdirSync(join(folder, "stages", id, "run"), { recursive: true });
  assert.equal(reapStages(join(folder, "stages"), new Set(["g1", "g3"])), 1);
  assert.deepEqual(readdirSync(join(folder, "stages")).sort(), ["g1", "g3"]);
  made.value.remove();
  assert.deepEqual([readdirSync(join(folder, "stages")), reapStages(join(folder, "never"), new Set())], [["g3"], 0]);
});

test("what lies in another folder is mounted behind it, and only what programs may write can be written [X3][W6]", () => {
  const place = (path: string) => ({ fd: 9, path, isFolder: true });
  const workspace = {
    ...{ inside: "/workspace/c1", root: place("/h/c1"), skills: place("/h/skills"), skillCopies: place("/h/copies") },
    writable: [{ name: "outputs", opened: place("/h/c1/outputs") }],
  };
  const lines = (...[mounts, sources]: Parameters<typeof mountsOf>) =>
    mountsOf(mounts, sources).map(({ path, inside, isWritable }) => `${path} ${inside} ${isWritable}`);
  assert.deepEqual(lines({ "/etc/hosts": "/s/hosts" }, { workspace, packages: place("/h/p") }), [
    ...["/s/hosts /etc/hosts false", "/h/p /run/agentyard/packages false", "/h/c1 /workspace/c1 false"],
    ...["/h/c1/outputs /workspace/c1/outputs true", "/h/skills /workspace/c1/skills false", "/h/copies /skills false"],
  ]);
  const task = { ...workspace, writable: "all" as const, skills: undefined, skillCopies: undefined };
  assert.deepEqual(lines({}, { workspace: task, packages: undefined }), ["/h/c1 /workspace/c1 true"]);
  assert.deepEqual(lines({ "/a": "/b" }, { workspace: undefined, packages: undefined }), ["/b /a false"]);
});

test("what a container was given is let go when it began, and its small files when it ended or did not begin [X3][S4]", async (t) => {
  const folder = folderWith(t, { "c1/uploads/": "", "c1/outputs/": "" });
  const stages = join(folder, "stages");
  const program = {
    command: ["x"],
    files: { a: "b" },
    greet: async (_: unknown, seen: object) => void told.push(seen),
  };
  const told: object[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const wanted = wantedFor(conversation(join(folder, "c1")));
  const launched = await launchContained(wanted, program, stages, async ({ folder: start, user, greet }) => {
    assert.deepEqual([start, user, openIn(folder)], ["/workspace/c1", userOf(undefined), 3]);
    await greet(duplexPair()[0]);
    return ok({ ended });
  });
  assert.ok(launched.ok);
  const marks = [".", "uploads", "outputs"].map((name) => [
    join("/workspace/c1", name),
    markOf(join(folder, "c1", name)),
  ]);
  assert.deepEqual(told, [{ marks: Object.fromEntries(marks), stage: join(stages, "g1/run") }]);
  assert.deepEqual([openIn(folder), readdirSync(stages)], [0, ["g1"]]);
  end();
  await ended;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(readdirSync(stages), []);
  const fault = failed({ why: "start_failed", said: "no" } as const);
  assert.deepEqual(await launchContained(wantedFor(undefined), program, stages, async () => fault), fault);
  assert.deepEqual([openIn(folder), readdirSync(stages)], [0, []]);
  const mistake = () => {
    throw new Error("a mistake");
  };
  for (const begin of [mistake, async () => mistake()])
    await assert.rejects(launchContained(wanted, program, stages, begin), /a mistake/);
  assert.deepEqual([openIn(folder), readdirSync(stages)], [0, []]);
});

test("the programs of a guest are its user's, and of nobody whom the host knows where it names none [X3]", () => {
  const own = process.geteuid?.() ?? 0;
  assert.deepEqual([userOf(5), userOf(undefined)], [5, own === 0 ? 64_999 : own]);
});

const facts = {
  ...{ capabilities: 0, noNewPrivs: "1", seccomp: "2", user: [1], descriptors: [], canNestUsers: false, writable: [] },
  ...{ interfaces: ["lo"], routes: 0, canSeeFirst: false, libraries: [], hasChinese: true, hasNode: true },
};

test("a guest that looks around is nobody's leftover while it does, is ended, and tells what a folder is known by [X3]", async (t) => {
  const stage = folderWith(t, {});
  const { dev, ino } = statSync(stage);
  const seen: unknown[] = [];
  for (const folder of [`${dev}:${ino}`, `${dev + 1}:${ino}`, `${dev}:${ino + 1}`, "nothing"]) {
    const canaries = new Set<string>();
    const kills: string[] = [];
    const found = await sendCanary({
      ...{ command: ["x"], canaries, calls: new Uint8Array([7]) },
      ids: { uuid: () => "u", hex: (characters) => "a".repeat(characters) },
      async launch(wanted, { files, greet }) {
        assert.deepEqual(
          [[...canaries], wanted.id, files["guest/calls.bpf"]],
          [[wanted.id], `canary-${"a".repeat(16)}`, new Uint8Array([7])],
        );
        const [near, far] = duplexPair();
        far.write(folder === "nothing" ? "nonsense\n" : `${JSON.stringify({ ...facts, folder })}\n`);
        await greet(near, { marks: {}, stage });
        return ok({ kill: () => void kills.push(folder), ended: Promise.resolve() });
      },
    });
    seen.push("why" in found ? found : found.likeness, kills.length, canaries.size);
  }
  const odd = { why: "start_failed", said: "the canary said: nonsense\n" };
  assert.deepEqual(seen, ["device", 1, 0, "inode", 1, 0, "none", 1, 0, odd, 1, 0]);
});

test("what guests lack in an image is named, each with what is missing of it [X3]", () => {
  const own = [
    [true, "no_runtime", "why"],
    [false, "no_image"],
  ] as const;
  const shared = isRoot ? [] : [["shared_uid", ""]];
  assert.deepEqual(missingIn({ ...facts, reached: [] }, own), [["no_runtime", "why"], ...shared]);
  const poor = { ...facts, reached: [], libraries: ["numpy", "pandas"], hasChinese: false, hasNode: false };
  assert.deepEqual(missingIn(poor, []), [
    ...shared,
    ...[
      ["no_data_libraries", "numpy, pandas"],
      ["no_cjk_fonts", ""],
      ["no_node", ""],
    ],
  ]);
});
