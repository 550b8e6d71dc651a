import { test } from "node:test";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { type Attack, controlled, forProvider, isStopped, worksWithout } from "./attack.ts";

const filter = "the call filter";

const attacks: readonly Attack[] = [
  {
    number: "4",
    name: "becoming root in a user namespace of its own",
    stoppedBy: "the call filter and the rule against nested users",
    code: `say(in_child(lambda: call("unshare", 0x10000000)))`,
    expected: "EPERM",
    control: { without: "the call filter and the rule against nested users", shows: "done" },
  },
  {
    number: "112",
    name: "nesting users where only the filter is gone",
    stoppedBy: "the call filter; without it, the rule against nested users",
    code: `say([in_child(lambda: call("unshare", 0x10000000)), in_child(lambda: call("unshare", 0x20000))])`,
    expected: ["EPERM", "EPERM"],
    control: { without: filter, shows: ["ENOSPC", "EPERM"] },
  },
  {
    number: "73a",
    name: "making namespaces with clone, each kind",
    stoppedBy: "the filter's look at the flags",
    code: `
flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
def clones(flag):
    answer = call("clone", flag | 17, 0, 0, 0, 0)
    return answer
say([in_child(lambda: clones(flag)) for flag in flags])
`,
    expected: ["EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM"],
  },
  {
    number: "73b",
    name: "hiding the flags of a namespace in the memory of clone3",
    stoppedBy: "the filter, for which clone3 does not exist",
    code: `
def clones():
    asked = struct.pack("=11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    result = libc.syscall(ctypes.c_long(numbers["clone3"]), asked, ctypes.c_long(len(asked)))
    if result == 0:
        os._exit(0)
    return "done" if result > 0 else name_of(ctypes.get_errno())
say(in_child(clones))
`,
    expected: "ENOSYS",
    control: { without: "the call filter and the rule against nested users", shows: "done" },
  },
  {
    number: "113",
    name: "entering the namespaces of another process with setns",
    stoppedBy: filter,
    code: `
kinds = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
say([[error_of(os.stat, "/proc/1/ns/" + kind) for kind in kinds[:2]], sorted({call("setns", os.open("/proc/self/ns/" + kind, os.O_RDONLY), 0) for kind in kinds})])
`,
    expected: [["EACCES", "EACCES"], ["EPERM"]],
  },
  {
    number: "5a",
    name: "mounting the old way",
    stoppedBy: "the call filter, above the missing capabilities",
    code: `say(call("mount", b"none", b"/tmp", b"tmpfs", 0, None))`,
    expected: "EPERM",
  },
  {
    number: "5b",
    name: "mounting by the new calls, and taking covers off",
    stoppedBy: "the call filter, above the missing capabilities",
    code: `
say([call("fsopen", b"tmpfs", 0), call("open_tree", -100, b"/usr", 1), call("fspick", -100, b"/tmp", 0), call("move_mount", -100, b"", -100, b"/tmp", 0),
  call("mount_setattr", -100, b"/usr", 0, struct.pack("=4Q", 0, 1, 0, 0), 32), call("fsmount", 0, 0, 0), call("fsconfig", 0, 0, 0, 0, 0),
  call("pivot_root", b"/tmp", b"/tmp"), call("umount2", b"/proc", 2), call("umount2", b"/workspace/c1/outputs", 0)])
`,
    expected: ["EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM"],
  },
  {
    number: "6",
    name: "leaving its root with chroot",
    stoppedBy: "the call filter, above the missing capabilities",
    code: `say(in_child(lambda: call("chroot", b"/tmp")))`,
    expected: "EPERM",
    control: { without: "the call filter and the dropped capabilities", shows: "done" },
  },
  {
    number: "9",
    name: "making a disk, the memory of the machine and a pipe as files",
    stoppedBy: filter,
    code: `
made = [error_of(os.mknod, "/tmp/disk", 0o60600, os.makedev(254, 0)), error_of(os.mknod, "/tmp/memory", 0o20600, os.makedev(1, 1)), error_of(os.mkfifo, "outputs/pipe")]
say(made)
`,
    expected: ["EPERM", "EPERM", "EPERM"],
    control: { without: filter, shows: ["EPERM", "EPERM", "done"] },
  },
  {
    number: "78",
    name: "leaving its control group",
    stoppedBy: "mounts without /sys and the call filter",
    code: `
groups = [line.split(":", 2)[2] for line in text_of("/proc/self/cgroup").splitlines()]
say([error_of(os.listdir, "/sys/fs/cgroup"), call("mount", b"none", b"/tmp", b"cgroup2", 0, None), call("unshare", 0x02000000), [g for g in groups if "attacker" in g]])
`,
    expected: ["ENOENT", "EPERM", "EPERM", []],
  },
];

for (const attack of forProvider(attacks)) {
  test(`attack ${attack.number}: ${attack.name} is stopped by ${attack.stoppedBy} [X3]`, { skip: cannotStart }, () =>
    isStopped(attack),
  );
}

for (const attack of controlled(attacks)) {
  test(`control ${attack.number}: ${attack.name} works without ${attack.control.without} [X3]`, () =>
    worksWithout(attack));
}
