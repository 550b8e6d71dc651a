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
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import type { GuestWorkspace } from "../provider.ts";
import { brokenWalls, type GuestFacts } from "./canary.ts";
import { mountsOf } from "./contained.ts";
import { missingIn } from "./contained-canary.ts";
import { acceptedEnvironment, guestEnvironment } from "./environment.ts";
import { namesBelow } from "./names-below.ts";
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
const writable = ["uploads", "outputs"];
const conversation = (folder: string, more: Partial<GuestWorkspace> = {}): GuestWorkspace => ({
  ...{ folder, inside: "/workspace/c1", writable, ...more },
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
  for (const id of ["g2", "g3"]) mkdirSync(join(folder, "stages", id, "run"), { recursive: true });
  assert.equal(reapStages(join(folder, "stages"), new Set(["g1", "g3"])), 1);
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

const facts = {
  ...{ capabilities: 0, noNewPrivs: "1", seccomp: "2", user: [1], descriptors: [], canNestUsers: false, writable: [] },
  ...{ interfaces: ["lo"], routes: 0, canSeeFirst: false, libraries: [], hasChinese: true, hasNode: true },
};

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

const limits = {
  ...{ memoryBytes: 1024, processesMax: 64, cpus: 1.5, fileBytesMax: 1024, tmpBytesMax: 1024, outputBytesMax: 1024 },
};

const plain = { workspace: undefined, limits, env: {}, network: undefined, packages: undefined };
const workspace = { folder: "/f", inside: "/workspace/c1", writable: "all" } as const;

test("variables that would change what runs before the code that was asked for are nobody's to choose [Q1][X3]", () => {
  const refused = [
    ...["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "NODE_OPTIONS"],
    ...["PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"],
  ];
  const taken = ["PYTHONPATH", "NODE_PATH", "MY_ENV", "ENVIRONMENT", "OLD_LD", "BASH_ENVS", "HOME"];
  const chosen = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));
  assert.deepEqual(acceptedEnvironment(chosen([...refused, ...taken])), chosen(taken));
  const { LD_PRELOAD: gone, MY: own } = guestEnvironment({ ...plain, env: { LD_PRELOAD: "x", MY: "own" } });
  assert.deepEqual([gone, own], [undefined, "own"]);
});

test("programs find their home, as many threads as they have processors, a proxy where there is a network, and what was installed for them [T6][X5]", () => {
  const { HOME, AGENT_WORKSPACE_PATH, PATH, OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, HTTPS_PROXY, ...rest } =
    guestEnvironment({ ...plain, workspace });
  assert.deepEqual(
    [HOME, AGENT_WORKSPACE_PATH, PATH, OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, HTTPS_PROXY, rest.PIP_RETRIES],
    ["/workspace/c1", "/workspace/c1", "/run/agentyard/bin:/usr/local/bin:/usr/bin:/bin", "2", "2", undefined, "0"],
  );
  assert.deepEqual([rest.PYTHONPATH, rest.NODE_PATH, rest.TMPDIR], [undefined, undefined, "/tmp"]);
  const env = { PYTHONPATH: "/own", HTTPS_PROXY: "chosen" };
  const little = { ...limits, cpus: 0.2 };
  const full = guestEnvironment({ ...plain, limits: little, env, network: () => {}, packages: "/p" });
  assert.partialDeepStrictEqual(full, {
    ...{ HOME: "/tmp", OMP_NUM_THREADS: "1", PIP_RETRIES: "1", npm_config_fetch_retries: "1", PIP_NO_INPUT: "1" },
    ...{ HTTP_PROXY: "http://127.0.0.1:3128", http_proxy: "http://127.0.0.1:3128", HTTPS_PROXY: "chosen" },
    ...{
      https_proxy: "http://127.0.0.1:3128",
      NO_PROXY: "localhost,127.0.0.1,::1",
      no_proxy: "localhost,127.0.0.1,::1",
    },
    ...{ NODE_USE_ENV_PROXY: "1", NODE_PATH: "/run/agentyard/packages/current/node/node_modules" },
    PYTHONPATH: "/own:/run/agentyard/packages/current/python",
    PATH: "/run/agentyard/bin:/usr/local/bin:/usr/bin:/bin:/run/agentyard/packages/current/python/bin",
  });
});

test("a place is named by the folders that lead to it, also by another name of the root, and no place outside is [W5][X3]", (t) => {
  const folder = folderWith(t, { "root/a/b/": "", "other/": "" });
  symlinkSync("root", join(folder, "link"));
  symlinkSync("../other", join(folder, "root/out"));
  const below = (root: string, path: string) => namesBelow(join(folder, root), join(folder, path));
  assert.deepEqual(
    [below("root", "root/a/b"), below("link", "root/a/b"), below("root", "link/a"), below("root", "root/new")],
    [["a", "b"], ["a", "b"], ["a"], ["new"]],
  );
  // A link is a name like others: whoever opens it follows none.
  assert.deepEqual(below("root", "root/out"), ["out"]);
  const outside = [below("root", "root"), below("root", "other"), below("root", "rootless"), below("root", "link/out")];
  assert.deepEqual(
    outside,
    outside.map(() => undefined),
  );
});
