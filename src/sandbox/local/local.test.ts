import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { hiddenArguments, type Plan, visibleArguments } from "./bwrap.ts";
import { asRoot, installCommand } from "./install.ts";
import { lackOf } from "./probe.ts";
import { stagedCommand } from "./stage.ts";

const plan: Plan = {
  ...{ name: "yard.one", env: { LANG: "C.UTF-8" }, tmpBytesMax: 1024, hasNetwork: false, hasDisableUserns: true },
  workspace: {
    ...{ inside: "/workspace/c1", root: { fd: 8 }, writable: [{ name: "outputs", source: { fd: 9 } }] },
    ...{ skills: { path: "/srv/skills" }, skillCopies: { fd: 10 } },
  },
  files: [{ fd: 12, inside: "/etc/passwd" }],
  programs: [{ source: { fd: 11 }, inside: "/run/agentyard/bin/node" }],
  ...{ links: { "/run/agentyard/bin/python": "/usr/bin/python3" }, packages: { path: "/srv/packages" } },
};

// Written out in full: what is left away here is a wall less, and no program that means well notices.
test("a guest has every wall that bubblewrap builds, its own folders in their order, and a command line that tells nothing [X3][X4][Q1]", () => {
  const words = hiddenArguments(plan);
  const text = (from: string, to?: string) =>
    words.slice(words.indexOf(from), to === undefined ? undefined : words.indexOf(to)).join(" ");
  assert.equal(
    words.slice(0, words.indexOf("--ro-bind")).join(" "),
    [
      "--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --disable-userns",
      "--cap-drop ALL --uid 1000 --gid 1000 --hostname sandbox --clearenv --new-session --die-with-parent --as-pid-1",
      "--seccomp 4 --json-status-fd 5 --block-fd 6 --setenv LANG C.UTF-8",
    ].join(" "),
  );
  assert.equal(
    text("--proc"),
    [
      "--proc /proc --dev /dev --perms 1777 --size 67108864 --tmpfs /dev/shm --remount-ro /dev",
      "--perms 1777 --size 1024 --tmpfs /tmp --perms 0444 --file 12 /etc/passwd",
      "--ro-bind-fd 11 /run/agentyard/bin/node --symlink /usr/bin/python3 /run/agentyard/bin/python",
      "--ro-bind /srv/packages /run/agentyard/packages --ro-bind-fd 8 /workspace/c1",
      "--bind-fd 9 /workspace/c1/outputs --symlink /workspace/c1/outputs /workspace/outputs",
      "--ro-bind /srv/skills /workspace/c1/skills --ro-bind-fd 10 /skills --chdir /workspace/c1 --remount-ro /",
    ].join(" "),
  );
  assert.deepEqual(visibleArguments(plan, ["/bin/sh"]), [
    ...["--args", "7", "--setenv", "AGENTYARD_GUEST", "yard.one", "--", "/bin/sh"],
  ]);
  const task = hiddenArguments({ ...plan, workspace: { ...plan.workspace, ...whole }, hasDisableUserns: false });
  assert.ok(task.join(" ").includes(" --bind-fd 8 /workspace/c1 --chdir") && !task.includes("--disable-userns"));
  const none = hiddenArguments({ ...plan, workspace: undefined, packages: undefined });
  assert.ok(none.join(" ").endsWith(" /run/agentyard/bin/python --dir /workspace --chdir /tmp --remount-ro /"));
});

const whole = {
  ...({
    inside: "/workspace/c1",
    root: { fd: 8 },
    writable: "all",
    skills: undefined,
    skillCopies: undefined,
  } as const),
};

test("of the machine's settings a guest sees those that programs look for, and whom it trusts only with a network [X3][X5]", () => {
  const settings = (hasNetwork: boolean) =>
    hiddenArguments({ ...plan, hasNetwork }).flatMap((word, index, words) =>
      word === "--ro-bind-try" ? [words[index + 1]?.replace("/etc/", "")] : [],
    );
  const always = ["alternatives", "ld.so.cache", "fonts", "matplotlibrc", "localtime"];
  const trusted = ["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted"];
  assert.deepEqual([settings(false), settings(true)], [always, [...always, ...trusted]]);
});

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
    "apparmor_userns apparmor_userns apparmor_userns no_userns in_container in_container no_seccomp".split(" "),
  );
});

test("what a guest is shown is what was opened for it: each place is compared before its user takes over [X3][S4]", () => {
  const opened = [
    { fd: 20, path: "/a", isFolder: true },
    { fd: 21, path: "/b", isFolder: false },
    { fd: 22, path: "/c", isFolder: true },
  ];
  const [unshare, ...rest] = stagedCommand({ opened, uid: 1234 }, ["bwrap", "--args", "7"]);
  const at = rest.indexOf("-ec");
  assert.deepEqual(
    [unshare, rest.slice(0, at), rest.slice(at + 2)],
    ["/usr/bin/unshare", ["--mount", "--propagation", "private", "--", "/bin/sh"], ["stage", "bwrap", "--args", "7"]],
  );
  const lines = (rest[at + 1] ?? "").split("\n");
  const fd = (number: number) => `/proc/${process.pid}/fd/${number}`;
  assert.deepEqual(
    lines.filter((line) => /^(test|mkdir|: > \/mnt\/\d|readlink|exec)/.test(line)),
    [
      ...["mkdir /mnt/0 /mnt/2", ": > /mnt/1"],
      `readlink ${fd(20)} ${fd(21)} ${fd(22)} | while IFS= read -r name; do`,
      ...[20, 21, 22].map((number, index) => `test /mnt/${index} -ef ${fd(number)}`),
      `exec setpriv --reuid 1234 --regid 1234 --clear-groups --inh-caps=-all -- "$@"`,
    ],
  );
  assert.match(lines[0] ?? "", /^mount -t tmpfs -o mode=0711,size=64k,nosuid,nodev none \/mnt$/);
});

test("what a machine with apt lacks is got by one command, which only root gives without asking [P1][P5]", {
  skip: !existsSync("/usr/bin/apt-get"),
}, () => {
  const sudo = process.geteuid?.() === 0 ? "" : "sudo ";
  assert.equal(asRoot(), sudo);
  assert.deepEqual((["bubblewrap", "python", "libraries", "fonts"] as const).map(installCommand), [
    `${sudo}apt-get install -y bubblewrap`,
    `${sudo}apt-get install -y python3`,
    `${sudo}apt-get install -y python3-numpy python3-pandas python3-matplotlib`,
    `${sudo}apt-get install -y fonts-wqy-microhei`,
  ]);
});
