import { readFileSync } from "node:fs";
import { after } from "node:test";

import { type Attack, endGuests, tryAttacks } from "./guest.ts";

after(endGuests);

const filter = "the call filter";
const isX64 = process.arch === "x64";

const attacks: readonly Attack[] = [
  {
    ...{ number: "71", name: "reading and writing past the filter through io_uring", stoppedBy: filter },
    code: `say(call("io_uring_setup", 8, ctypes.create_string_buffer(120)))`,
    expected: "EPERM",
    ...(isSetting("kernel/io_uring_disabled", "0") && { control: { without: filter, shows: "done" } }),
  },
  {
    ...{ number: "72a", name: "loading a program into the kernel with bpf", stoppedBy: filter },
    code: `say([call("bpf", command, ctypes.create_string_buffer(128), 128) for command in range(0, 38)].count("EPERM"))`,
    expected: 38,
  },
  {
    ...{ number: "72b", name: "counting what the processor does with perf_event_open", stoppedBy: filter },
    code: `
about = ctypes.create_string_buffer(struct.pack("=IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x60).ljust(112, b"\\0"))
say(call("perf_event_open", about, 0, -1, -1, 0))
`,
    expected: "EPERM",
    ...(isSetting("kernel/perf_event_paranoid", "2") && { control: { without: filter, shows: "done" } }),
  },
  {
    ...{ number: "72c", name: "holding the kernel at a page fault with userfaultfd", stoppedBy: filter },
    code: `say(call("userfaultfd", 1))`,
    expected: "EPERM",
    control: { without: filter, shows: "done" },
  },
  {
    ...{ number: "72d", name: "leaving a key in a keyring of the host", stoppedBy: filter },
    code: `say([call("add_key", b"user", b"attack", b"x", 1, -2), call("keyctl", 0, -2, 1), call("request_key", b"user", b"attack", None, 0)])`,
    expected: ["EPERM", "EPERM", "EPERM"],
    control: { without: filter, shows: ["done", "done", "done"] },
  },
  {
    ...{ number: "160", name: "taking the machine's requests to its disks with io_setup", stoppedBy: filter },
    code: `say([call("io_setup", 1, ctypes.create_string_buffer(8)), call("io_destroy", 0), call("io_submit", 0, 0, 0)])`,
    expected: ["EPERM", "EPERM", "EPERM"],
    control: { without: filter, shows: ["done", "EINVAL", "EINVAL"] },
  },
  {
    ...{ number: "161", name: "setting room on the disk aside in no time with fallocate", stoppedBy: filter },
    code: `
room = open("outputs/room", "wb")
say([call("fallocate", room.fileno(), 0, 0, 1_000_000), os.posix_fallocate(room.fileno(), 0, 10000), os.path.getsize("outputs/room")])
`,
    ...{ expected: ["ENOTSUP", null, 10_000], also: ["EOPNOTSUPP", null, 10_000] },
    control: { without: filter, shows: ["done", null, 1_000_000] },
  },
  {
    ...{ number: "79", name: "opening any file of the disk by its handle", stoppedBy: filter },
    code: `
handle, mount = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 256), ctypes.create_string_buffer(8)
say([call("name_to_handle_at", -100, b"/tmp", handle, mount, 0), call("open_by_handle_at", -100, handle, 0)])
`,
    expected: ["EPERM", "EPERM"],
    control: { without: filter, shows: ["done", "EPERM"] },
  },
  {
    ...{ number: "75", name: "using calls of a kernel newer than the filter" },
    stoppedBy: "the filter's answer to unknown numbers",
    code: `say(sorted({call(number, 0, 0, 0, 0, 0, 0) for number in [*range(457, 600), 4096, 2**30 - 1]}))`,
    expected: ["ENOSYS"],
  },
  {
    ...{ number: "103", name: "listing every mount with listmount" },
    stoppedBy: "the filter's answer to unknown numbers",
    code: `
asked, found = struct.pack("=IIQQQ", 24, 0, 2**64 - 1, 0, 0)[:24], ctypes.create_string_buffer(8 * 64)
say(call("listmount", asked, found, 64, 0))
`,
    expected: "ENOSYS",
    ...(isKernelAtLeast(6, 8) && { control: { without: filter, shows: "done" } }),
  },
  {
    ...{ number: "74a", name: "calling with the numbers of x32", stoppedBy: "the filter's answer to unknown numbers" },
    code: `say([call(0x40000000 + number) for number in (39, 101, 165, 520, 539)])`,
    expected: ["ENOSYS", "ENOSYS", "ENOSYS", "ENOSYS", "ENOSYS"],
  },
  ...(isX64
    ? [
        {
          number: "74b",
          name: "calling in the old 32-bit way",
          stoppedBy: "the filter's check of the architecture",
          code: `
import mmap
def getpid():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() == os.getpid()
say(in_child(getpid))
`,
          expected: "SIGSYS",
          control: { without: filter, shows: true },
        } as const,
        {
          number: "104",
          name: "changing its segment table with modify_ldt",
          stoppedBy: filter,
          code: `say(call("modify_ldt", 0, ctypes.create_string_buffer(64), 64))`,
          expected: "EPERM",
          control: { without: filter, shows: "done" },
        } as const,
      ]
    : []),
  {
    ...{ number: "105", name: "taking the randomness of addresses away with personality", stoppedBy: filter },
    code: `say(in_child(lambda: call("personality", 0x0040000)))`,
    expected: "EPERM",
    control: { without: filter, shows: "done" },
  },
  {
    ...{ number: "106", name: "watching files with fanotify", stoppedBy: filter },
    code: `say(call("fanotify_init", 0x200, 0))`,
    expected: "EPERM",
    control: { without: filter, shows: "done" },
  },
  {
    ...{ number: "107", name: "reading the kernel's log", stoppedBy: filter },
    code: `say([call("syslog", 3, ctypes.create_string_buffer(4096), 4096), error_of(open, "/dev/kmsg"), error_of(open, "/proc/kmsg")])`,
    expected: ["EPERM", "ENOENT", "EACCES"],
  },
  {
    ...{ number: "108", name: "moving memory between nodes of the machine", stoppedBy: filter },
    code: `say([call("get_mempolicy", None, None, 0, 0, 0), call("set_mempolicy", 0, None, 0)])`,
    expected: ["EPERM", "EPERM"],
    control: { without: filter, shows: ["done", "done"] },
  },
  {
    ...{ number: "109", name: "loading modules, another kernel, swap or accounting, and restarting the machine" },
    stoppedBy: "the call filter, above the missing capabilities",
    code: `
names = ["init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "iopl", "ioperm", "migrate_pages"]
say(sorted({call(name, 0, 0, 0, 0, 0) for name in names if name in numbers}))
`,
    expected: ["EPERM"],
  },
  {
    ...{ number: "110", name: "setting the clock or the name of the machine", stoppedBy: filter },
    code: `
names = ["settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "vhangup"]
say([sorted({call(name, 0, ctypes.create_string_buffer(256), 0) for name in names}), in_child(lambda: call("adjtimex", ctypes.create_string_buffer(256)))])
`,
    expected: [["EPERM"], "EPERM"],
  },
  {
    ...{ number: "76", name: "typing into a terminal with TIOCSTI, TIOCLINUX and TIOCSETD", stoppedBy: filter },
    code: `
import fcntl, pty
def types():
    main, terminal = pty.openpty()
    os.setsid()
    answers = [error_of(fcntl.ioctl, terminal, 0x540e, 0)]
    for request in (0x5412, 0x541c, 0x5423):
        answers.append(error_of(fcntl.ioctl, terminal, request, struct.pack("i", 0)))
    return answers
say(in_child(types))
`,
    expected: ["done", "EPERM", "EPERM", "EPERM"],
    // TIOCLINUX is for consoles only.
    ...(isSetting("dev/tty/legacy_tiocsti", "1") && {
      control: { without: filter, shows: ["done", "done", "ENOTTY", "done"] },
    }),
  },
  {
    ...{ number: "111", name: "smuggling a refused request past the filter in the upper half of an argument" },
    stoppedBy: "the filter's look at the low word, which is all the kernel reads",
    code: `
import pty
main, terminal = pty.openpty()
high = 0x100000000
say([call("ioctl", terminal, high + 0x5412, b"x"), call("socket", high + 40, 1, 0), call("socket", high + 17, 3, 0), in_child(lambda: call("clone", 0x7f00000000 + 0x10000000 + 17, 0, 0, 0, 0))])
`,
    expected: ["EPERM", "EAFNOSUPPORT", "EAFNOSUPPORT", "EPERM"],
  },
  {
    ...{ number: "4", name: "becoming root in a user namespace of its own" },
    stoppedBy: "the call filter and the rule against nested users",
    code: `say(in_child(lambda: call("unshare", 0x10000000)))`,
    expected: "EPERM",
    control: { without: "the call filter and the rule against nested users", shows: "done" },
  },
  {
    ...{ number: "112", name: "nesting users where only the filter is gone" },
    stoppedBy: "the call filter; without it, the rule against nested users",
    code: `say([in_child(lambda: call("unshare", 0x10000000)), in_child(lambda: call("unshare", 0x20000))])`,
    expected: ["EPERM", "EPERM"],
    control: { without: filter, shows: ["ENOSPC", "EPERM"] },
  },
  {
    ...{ number: "73a", name: "making namespaces with clone, each kind", stoppedBy: "the filter's look at the flags" },
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
    ...{ number: "73b", name: "hiding the flags of a namespace in the memory of clone3" },
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
    ...{ number: "113", name: "entering the namespaces of another process with setns", stoppedBy: filter },
    code: `
kinds = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
say([[error_of(os.stat, "/proc/1/ns/" + kind) for kind in kinds[:2]], sorted({call("setns", os.open("/proc/self/ns/" + kind, os.O_RDONLY), 0) for kind in kinds})])
`,
    expected: [["EACCES", "EACCES"], ["EPERM"]],
  },
  {
    ...{ number: "5a", name: "mounting the old way", stoppedBy: "the call filter, above the missing capabilities" },
    code: `say(call("mount", b"none", b"/tmp", b"tmpfs", 0, None))`,
    expected: "EPERM",
  },
  {
    ...{ number: "5b", name: "mounting by the new calls, and taking covers off" },
    stoppedBy: "the call filter, above the missing capabilities",
    code: `
say([call("fsopen", b"tmpfs", 0), call("open_tree", -100, b"/usr", 1), call("fspick", -100, b"/tmp", 0), call("move_mount", -100, b"", -100, b"/tmp", 0),
  call("mount_setattr", -100, b"/usr", 0, struct.pack("=4Q", 0, 1, 0, 0), 32), call("fsmount", 0, 0, 0), call("fsconfig", 0, 0, 0, 0, 0),
  call("pivot_root", b"/tmp", b"/tmp"), call("umount2", b"/proc", 2), call("umount2", b"/workspace/c1/outputs", 0)])
`,
    expected: ["EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM"],
  },
  {
    ...{ number: "6", name: "leaving its root with chroot" },
    stoppedBy: "the call filter, above the missing capabilities",
    code: `say(in_child(lambda: call("chroot", b"/tmp")))`,
    expected: "EPERM",
    control: { without: "the call filter and the dropped capabilities", shows: "done" },
  },
  {
    ...{ number: "9", name: "making a disk, the memory of the machine and a pipe as files", stoppedBy: filter },
    code: `
made = [error_of(os.mknod, "/tmp/disk", 0o60600, os.makedev(254, 0)), error_of(os.mknod, "/tmp/memory", 0o20600, os.makedev(1, 1)), error_of(os.mkfifo, "outputs/pipe")]
say(made)
`,
    expected: ["EPERM", "EPERM", "EPERM"],
    control: { without: filter, shows: ["EPERM", "EPERM", "done"] },
  },
  {
    ...{ number: "78", name: "leaving its control group", stoppedBy: "mounts without /sys and the call filter" },
    code: `
groups = [line.split(":", 2)[2] for line in text_of("/proc/self/cgroup").splitlines()]
say([error_of(os.listdir, "/sys/fs/cgroup"), call("mount", b"none", b"/tmp", b"cgroup2", 0, None), call("unshare", 0x02000000), [g for g in groups if "attacker" in g]])
`,
    expected: ["ENOENT", "EPERM", "EPERM", []],
  },
];

tryAttacks(attacks, "[X3]");

function isSetting(name: string, value: string): boolean {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim() === value;
  } catch {
    return false;
  }
}

function isKernelAtLeast(major: number, minor: number): boolean {
  const [first = 0, second = 0] = readFileSync("/proc/sys/kernel/osrelease", "utf8").split(/[.-]/).map(Number);
  return first > major || (first === major && second >= minor);
}
