import { test } from "node:test";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { type Attack, controlled, forProvider, isStopped, worksWithout } from "./attack.ts";

const groups = "control groups";

/** Bounded, so that they do no harm where nothing stops them. The guest has 128 MiB. */
const attacks: readonly Attack[] = [
  {
    number: "36",
    name: "taking all memory",
    stoppedBy: "the control group's memory",
    code: `say(in_child(lambda: len([bytearray(10_000_000) for _ in range(20)])))`,
    expected: "SIGKILL",
    lack: "no_cgroup_memory",
    control: { without: groups, shows: 20 },
  },
  {
    number: "39b",
    name: "taking all memory in its Python itself",
    stoppedBy: "the control group's memory, which spares the supervisor",
    code: `
hoard = [bytearray(10_000_000) for _ in range(20)]
say(len(hoard))
`,
    expected: "out_of_memory SIGKILL",
    lack: "no_cgroup_memory",
    control: { without: groups, shows: 20 },
  },
  {
    number: "37b",
    name: "taking memory by files in /tmp",
    stoppedBy: "its size",
    code: `
def fill(folder, count):
    for number in range(count):
        with open(f"{folder}/fill{number}", "wb") as file:
            file.write(bytes(1_000_000))
answer = error_of(fill, "/tmp", 20)
for name in os.listdir("/tmp"):
    if name.startswith("fill"): os.unlink("/tmp/" + name)
say(answer)
`,
    expected: "ENOSPC",
    control: { without: "the size of /tmp", shows: "done" },
  },
  {
    number: "37c",
    name: "taking memory by files in /dev/shm",
    stoppedBy: "its size",
    code: `
def fill():
    for number in range(40):
        with open(f"/dev/shm/fill{number}", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 2_000_000)
def tries():
    return error_of(fill)
answer = in_child(tries)
for name in os.listdir("/dev/shm"):
    os.unlink("/dev/shm/" + name)
say(answer)
`,
    expected: "ENOSPC",
  },
  {
    number: "38a",
    name: "taking memory by files that have no name",
    stoppedBy: "the control group's memory and the limit of a file",
    code: `
def fill():
    files = [os.memfd_create("x") for _ in range(60)]
    for file in files:
        os.posix_fallocate(file, 0, 4_000_000)
    return len(files)
say(in_child(fill))
`,
    expected: "SIGKILL",
    // Files in memory are nobody's: whom the kernel ends first is its choice.
    also: "out_of_memory SIGKILL",
    mayEndGuest: true,
    lack: "no_cgroup_memory",
    control: { without: groups, shows: 60 },
  },
  {
    number: "38b",
    name: "taking memory by segments of the kernel",
    stoppedBy: "the control group's memory",
    code: `
def fill():
    libc.shmat.restype = ctypes.c_void_p
    for _ in range(10):
        segment = libc.shmget(0, 20_000_000, 0o1600)
        place = libc.shmat(segment, None, 0)
        libc.shmctl(segment, 0, None)
        ctypes.memset(place, 1, 20_000_000)
    return "done"
say(in_child(fill))
`,
    expected: "SIGKILL",
    lack: "no_cgroup_memory",
    control: { without: groups, shows: "done" },
  },
  {
    number: "38c",
    name: "taking memory by pipes and sockets that nobody reads",
    stoppedBy: "the control group's memory and the kernel's own limits",
    code: `
def fill():
    kept, taken = [], 0
    while taken < 200_000_000 and len(kept) < 4000:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        kept.append(pair)
        try:
            while True:
                taken += pair[0].send(bytes(65536))
        except BlockingIOError:
            pass
    return "done" if taken >= 200_000_000 else "stopped"
try:
    answer = in_child(fill)
except OSError as error:
    answer = "stopped"
say("stopped" if answer in ("SIGKILL", "stopped") or "Errno" in str(answer) else answer)
`,
    expected: "stopped",
    also: "out_of_memory SIGKILL",
    mayEndGuest: true,
    lack: "no_cgroup_memory",
  },
];

for (const attack of forProvider(attacks)) {
  test(`attack ${attack.number}: ${attack.name} is stopped by ${attack.stoppedBy} [X4]`, { skip: cannotStart }, () =>
    isStopped(attack),
  );
}

for (const attack of controlled(attacks)) {
  test(`control ${attack.number}: ${attack.name} works without ${attack.control.without} [X4]`, () =>
    worksWithout(attack));
}
