import assert from "node:assert/strict";
import { chownSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { guestTest as test } from "../contracts/sandbox-guests.ts";
import { isContained, isOnKubernetes } from "../contracts/sandbox-on-kubernetes.ts";

after(endGuests);

import {
  type Attack,
  attackerUid,
  attempt,
  conversation,
  editingBwrap,
  endGuests,
  limits,
  newFolder,
  openAttacked,
  openProvider,
  tryAttacks,
  weaknesses,
} from "./guest.ts";

/** What the supervisor in a container is told, where everybody inside can read it. */
const contained = ["stdio", ...(isOnKubernetes ? ["covered"] : [])];
const attacks: readonly Attack[] = [
  {
    ...{ number: "1", name: "reading passwords, settings and homes of the host" },
    stoppedBy: "mounts that do not have them",
    code: `say([error_of(open, "/etc/shadow"), error_of(open, "/etc-of-the-host/hostname"), sorted(os.listdir("/etc"))[-2:], [name for name in sorted(os.listdir("/")) if name in ("root", "home", "var", "srv", "boot", "sys", "opt", "mnt", "media")]])`,
    expected: ["ENOENT", "ENOENT", ["nsswitch.conf", "passwd"], []],
    // The image has folders of its own; what the host keeps in them is not there.
    onDocker: {
      expected: [
        ...["EACCES", "ENOENT", ["update-motd.d", "xattr.conf"]],
        ["boot", "home", "media", "mnt", "opt", "root", "srv", "sys", "var"],
      ],
    },
  },
  {
    ...{ number: "117", name: "reading a file of the host's /etc", stoppedBy: "mounts that do not have it" },
    code: `say(error_of(open, "/etc-of-the-host/group"))`,
    expected: "ENOENT",
    control: { without: "the mounts of its own", shows: "done" },
  },
  {
    ...{ number: "2", name: "listing and opening the workspace of another conversation" },
    stoppedBy: "mounts of one workspace only",
    code: `say([sorted(os.listdir("/workspace")), error_of(os.listdir, "/workspace/c2"), error_of(os.listdir, "/workspace/c1/../c2")])`,
    expected: [["c1", "outputs", "temp", "uploads"], "ENOENT", "ENOENT"],
  },
  {
    ...{ number: "3", name: "climbing out of the workspace with ..", stoppedBy: "a root of its own" },
    code: `
os.chdir("/workspace/c1/outputs")
os.chdir("../" * 60)
say([os.getcwd(), error_of(os.stat, "/".join([".."] * 60) + "/etc/shadow"), "proc" in os.listdir("."), "home" in os.listdir(".")])
`,
    expected: ["/", "ENOENT", true, false],
    onDocker: { expected: ["/", "done", true, true] },
  },
  {
    ...{ number: "118", name: "putting files beside the system, in places that are read when programs start" },
    stoppedBy: "the read-only root",
    code: `
def put(path):
    with open(path, "w") as file:
        file.write("x")
say([error_of(put, folder + "/attack") for folder in ("/", "/usr/lib/python3/dist-packages", "/etc", "/dev", "/run", "/run/agentyard/guest", "/workspace", "/usr/local/bin")])
`,
    expected: ["EROFS", "EROFS", "EROFS", "EROFS", "EROFS", "EROFS", "EROFS", "EROFS"],
    onDocker: { expected: ["EROFS", "EROFS", "EROFS", "EACCES", "EROFS", "EROFS", "EROFS", "EROFS"] },
  },
  {
    ...{ number: "37a", name: "writing into the root, which is memory", stoppedBy: "the read-only root" },
    code: `say([error_of(os.mkdir, "/attack"), error_of(os.mkdir, "/run/attack")])`,
    expected: ["EROFS", "EROFS"],
    control: { without: "the read-only root", shows: ["done", "done"] },
  },
  {
    ...{ number: "119", name: "changing the supervisor's program where it lies", stoppedBy: "the read-only root" },
    code: `
folder = "/run/agentyard/guest/"
say([error_of(open, folder + "supervisor.py", "w"), error_of(os.unlink, folder + "kernel.py"), error_of(os.rename, folder + "channel.py", folder + "x.py"), error_of(os.chmod, folder + "supervisor.py", 0o777)])
`,
    expected: ["EROFS", "EROFS", "EROFS", "EROFS"],
  },
  {
    ...{ number: "7", name: "becoming root by programs that have the right to" },
    ...{ stoppedBy: "no-new-privileges and mounts without setuid", language: "bash" },
    code: `
cp /usr/bin/id /tmp/own && chmod 4755 /tmp/own
own=$(/tmp/own -u)
su=$(echo | su -c 'id -u' 2>/dev/null || echo no)
grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'CapEff:.0000000000000000' /proc/self/status && echo "[$own, \\"$su\\"]"
`,
    expected: [1000, "no"],
    onDocker: { expected: [attackerUid ?? process.geteuid?.(), "no"] },
  },
  {
    ...{ number: "120", name: "using setuid bits or devices on anything that it can write" },
    stoppedBy: "mounts with nosuid and nodev",
    code: `
mounts = [line.split() for line in text_of("/proc/self/mountinfo").splitlines()]
def lacks(option, but=()):
    return [m[4] for m in mounts if option not in m[5].split(",") and m[4] not in but]
devices = ["/dev/" + name for name in ("null", "zero", "full", "random", "urandom", "tty", "pts", "console")]
say([lacks("nosuid"), lacks("nodev", devices)])
`,
    expected: [[], []],
    onDocker: {
      differs: "binds have neither option; new rights, devices and setuid bits are stopped by attacks 7, 8 and 9",
    },
  },
  {
    ...{ number: "8", name: "giving capabilities to a program by its file" },
    stoppedBy: "the missing capability to do so",
    code: `
import shutil
shutil.copy("/usr/bin/true", "/tmp/able")
value = struct.pack("=IIIII", 0x02000001, 0xffffffff, 0, 0xffffffff, 0)
say([error_of(os.setxattr, "/tmp/able", "security.capability", value), error_of(os.setxattr, "outputs", "trusted.x", b"1")])
`,
    expected: ["EPERM", "EPERM"],
  },
  {
    ...{ number: "10", name: "writing the kernel's settings: sysrq, core_pattern, hostname, modprobe" },
    stoppedBy: "the user namespace and read-only covers of /proc",
    code: `
names = ["sysrq-trigger", "sys/kernel/core_pattern", "sys/kernel/hostname", "sys/kernel/modprobe", "sys/vm/overcommit_memory", "sys/fs/binfmt_misc/register", "irq/default_smp_affinity", "scsi/scsi"]
say(sorted({error_of(open, "/proc/" + name, "w") for name in names} - {"ENOENT"}))
`,
    expected: ["EACCES"],
    onDocker: { expected: ["EROFS"] },
  },
  {
    ...{ number: "14", name: "reading the memory of the kernel and where it lies" },
    stoppedBy: "the missing capabilities",
    code: `
addresses = {line.split()[0].strip("0") for line in text_of("/proc/kallsyms").splitlines()[:500]} if os.path.exists("/proc/kallsyms") else {""}
say([error_of(open, "/proc/kcore", "rb") in ("EACCES", "ENOENT"), sorted(addresses), error_of(open, "/dev/mem"), error_of(open, "/dev/port")])
`,
    expected: [true, [""], "ENOENT", "ENOENT"],
  },
  {
    ...{ number: "121", name: "finding devices of the host", stoppedBy: "a /dev of its own" },
    code: `say(sorted(os.listdir("/dev")))`,
    expected: [
      ...["console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"],
      ...["urandom", "zero"],
    ].filter((name) => name !== "console"),
    onDocker: {
      expected: [
        ...["fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"],
        ...["urandom", "zero"],
      ],
    },
  },
  {
    ...{ number: "15a", name: "learning the name of the host", stoppedBy: "a name of its own" },
    code: `say([os.uname().nodename == ${JSON.stringify(hostname())}, socket.gethostname()])`,
    expected: [false, "sandbox"],
    control: { without: "the name of its own", shows: [true, hostname()] },
  },
  {
    ...{ number: "15b", name: "learning about the server from variables, arguments and groups" },
    stoppedBy: "an empty environment and opaque names",
    code: `
known = "PATH LANG HOME PWD SHLVL _ TMPDIR AGENT_WORKSPACE_PATH AGENTYARD_GUEST OMP_NUM_THREADS OPENBLAS_NUM_THREADS XDG_CACHE_HOME XDG_CONFIG_HOME MPLCONFIGDIR MPLBACKEND PYTHONDONTWRITEBYTECODE npm_config_cache npm_config_fetch_retries npm_config_update_notifier PIP_RETRIES PIP_DISABLE_PIP_VERSION_CHECK".split()
say([sorted(set(os.environ) - set(known)), text_of("/proc/1/cmdline").split("\\0")])
`,
    expected: [[], ["/usr/bin/python3", "-I", "-S", "/run/agentyard/guest/supervisor.py", ""]],
    onDocker: {
      expected: [[], ["/usr/bin/python3", "-I", "-S", "/run/agentyard/guest/supervisor.py", ...contained, ""]],
    },
  },
  {
    ...{ number: "92", name: "poisoning a skill that is used later" },
    stoppedBy: "the read-only workspace around its folders",
    code: `
def put(path):
    with open(path, "a") as file:
        file.write("x")
say([error_of(put, "skills/SKILL.md"), error_of(put, "skills/new.md"), error_of(os.chmod, "skills/SKILL.md", 0o777), error_of(os.utime, "skills/SKILL.md"), error_of(os.setxattr, "skills/SKILL.md", "user.x", b"1")])
`,
    expected: ["EROFS", "EROFS", "EROFS", "EROFS", "EROFS"],
  },
  {
    ...{ number: "93", name: "replacing skills or outputs by a link" },
    stoppedBy: "the read-only workspace around its folders",
    code: `
say([error_of(os.rename, "skills", "outputs/skills"), error_of(os.rename, "outputs", "temp/outputs"), error_of(os.rmdir, "outputs"), error_of(os.symlink, "/etc", "temp2"), error_of(os.rename, "/workspace/outputs", "/workspace/x")])
`,
    expected: ["EXDEV", "EXDEV", "EROFS", "EROFS", "EROFS"],
  },
  {
    ...{ number: "84", name: "linking a file of the system or a skill into outputs" },
    stoppedBy: "mounts that are apart",
    code: `say([error_of(os.link, "skills/SKILL.md", "outputs/skill"), error_of(os.link, "/usr/bin/python3", "outputs/python"), error_of(os.link, "/etc/passwd", "outputs/passwd"), error_of(os.link, "uploads/../skills/SKILL.md", "temp/x")])`,
    expected: ["EXDEV", "EXDEV", "EXDEV", "EXDEV"],
  },
  {
    ...{ number: "95", name: "making a file that nobody can remove", stoppedBy: "the missing capability to do so" },
    code: `
import fcntl
open("outputs/stone", "w").close()
say([error_of(fcntl.ioctl, os.open("outputs/stone", os.O_RDONLY), 0x40086602, struct.pack("l", flag)) for flag in (0x10, 0x20)])
`,
    expected: ["EPERM", "EPERM"],
  },
  {
    ...{ number: "80", name: "leaving an image of its memory behind, or handing it to a program of the host" },
    stoppedBy: "the limit of core dumps",
    code: `
def dump():
    os.chdir("/tmp")
    os.abort()
child = os.fork()
if child == 0:
    dump()
status = os.waitpid(child, 0)[1]
say([os.WTERMSIG(status) == signal.SIGABRT, os.WCOREDUMP(status), [name for name in os.listdir("/tmp") if name.startswith("core")]])
`,
    expected: [true, false, []],
  },
  {
    ...{ number: "77", name: "talking to others by shared memory of the kernel" },
    stoppedBy: "an IPC namespace and a /dev/shm of its own",
    code: `say([len(text_of("/proc/sysvipc/shm").splitlines()), os.listdir("/dev/shm"), os.stat("/proc/self/ns/ipc").st_ino == ${ipcNamespace()}])`,
    expected: [1, [], false],
  },
  {
    ...{ number: "122", name: "sharing the host's place for messages and semaphores" },
    stoppedBy: "an IPC namespace of its own",
    code: `say(os.stat("/proc/self/ns/ipc").st_ino == ${ipcNamespace()})`,
    expected: false,
    control: { without: "the IPC namespace", shows: true },
  },
];

tryAttacks(attacks, "[X3][S5]");

test("attack 89: swapping the workspace for a link before it is mounted is stopped by folders that are opened first [W5][X3]", async () => {
  const [folder, away] = [newFolder(), newFolder()];
  const workspace = conversation(join(folder, "w"));
  writeFileSync(join(folder, "w/outputs/own.txt"), "own");
  // From the moment that it is opened its name means nothing any more.
  const opening = openAttacked({ workspace });
  renameSync(join(folder, "w"), join(away, "moved"));
  const opened = await opening.then(
    (attacked) => attempt(attacked, { code: `say(sorted(os.listdir("/workspace/c1/outputs")))` }),
    (error: Error) => error.message,
  );
  const isSafe = JSON.stringify(opened) === '["own.txt"]' || /start_failed|unavailable/.test(String(opened));
  assert.ok(isSafe, String(opened));
});

// Only root gives conversations users of their own; where nobody does, the probe says `shared_uid`.
if (attackerUid !== undefined) {
  test("attack 99: reading what a deleted conversation left, under a number used again, is stopped by owner and mode [S5][S6]", async () => {
    const folder = newFolder();
    const workspace = conversation(folder);
    mkdirSync(join(folder, "outputs/old"), { mode: 0o700 });
    writeFileSync(join(folder, "outputs/secret.txt"), "old", { mode: 0o600 });
    for (const name of ["outputs/old", "outputs/secret.txt"]) chownSync(join(folder, name), 54_999, 54_999);
    const attacked = await openAttacked({ workspace });
    const code = `say([error_of(open, "outputs/secret.txt"), error_of(os.listdir, "outputs/old"), error_of(os.chmod, "outputs/old", 0o777)])`;
    assert.deepEqual(await attempt(attacked, { code }), ["EACCES", "EACCES", "EPERM"]);
  });
}

const silentlyUnsafe = ["the network namespace", "the read-only root", "the dropped capabilities"] as const;

// What the canary of containers finds has tests of its own, in test/docker/.
for (const without of isContained ? [] : silentlyUnsafe) {
  test(`attack 102: running code on a machine that silently lacks ${without} is stopped by the canary [X3]`, async () => {
    const provider = openProvider(editingBwrap(weaknesses[without].arguments));
    const { missing } = await provider.probe();
    const opened = await provider.open({ id: "g", workspace: undefined, limits, uid: attackerUid, env: {} });
    assert.deepEqual(
      [missing.map(({ name }) => name), !opened.ok && opened.failure.why],
      [["no_userns"], "unavailable"],
    );
  });
}

function ipcNamespace(): number {
  return statSync("/proc/self/ns/ipc").ino;
}
