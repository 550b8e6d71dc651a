import assert from "node:assert/strict";
import { test } from "node:test";
import { hiddenArguments, type Plan, visibleArguments } from "./bwrap.ts";

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
