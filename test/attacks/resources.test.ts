import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { noLogs } from "../../src/observe/observe.ts";
import { openDiskWatch } from "../../src/sandbox/disk-watch.ts";
import { findPlaces } from "../../src/sandbox/local/hierarchies.ts";
import type { WorkspaceLimits } from "../../src/workspace/workspace.ts";
import { cannotLimit, guestTest as test } from "../contracts/sandbox-guests.ts";
import { allOf, outcomeOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { testWorkspace } from "../world/workspace.ts";

after(endGuests);

import {
  type Attack,
  attempt,
  conversation,
  endGuests,
  limits,
  newFolder,
  openAttacked,
  openHost,
  tryAttacks,
} from "./guest.ts";

const groups = "control groups";

/** Bounded, so that they do no harm where nothing stops them. The guest has 128 MiB and 32 processes. */
const attacks: readonly Attack[] = [
  {
    ...{ number: "34", name: "filling the machine with processes", stoppedBy: "the control group's count" },
    code: `
made = []
try:
    while len(made) < 100:
        child = os.fork()
        if child == 0:
            signal.pause()
        made.append(child)
    answer = "done"
except OSError as error:
    answer = name_of(error.errno)
for child in made:
    os.kill(child, 9); ended(child)
say([answer, len(made) < ${limits.processesMax}])
`,
    ...{ expected: ["EAGAIN", true], lack: "no_cgroup_pids" },
    control: { without: groups, shows: ["done", false] },
  },
  {
    ...{ number: "35", name: "filling the machine with threads", stoppedBy: "the control group's count" },
    code: `
import threading
stop, made = threading.Event(), 0
try:
    while made < 100:
        threading.Thread(target=stop.wait, daemon=True).start()
        made += 1
    answer = "done"
except RuntimeError:
    answer = "no more threads"
stop.set()
say([answer, made < ${limits.processesMax}])
`,
    ...{ expected: ["no more threads", true], lack: "no_cgroup_pids" },
    control: { without: groups, shows: ["done", false] },
  },
  {
    ...{ number: "43", name: "filling the disk with one file", stoppedBy: "the limit of a file" },
    code: `
def fill():
    with open("outputs/big", "wb", buffering=0) as file:
        for _ in range(8):
            file.write(bytes(1_000_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
answer = error_of(fill)
size = os.path.getsize("outputs/big")
os.unlink("outputs/big")
say([answer, size])
`,
    expected: ["EFBIG", limits.fileBytesMax],
    control: { without: "the limit of a file", shows: ["done", 8_000_000] },
  },
  {
    ...{ number: "46", name: "making a file of a terabyte without content", stoppedBy: "the limit of a file" },
    code: `
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
answers = [error_of(os.truncate, os.open("outputs/sparse", os.O_RDWR | os.O_CREAT), 2**40)]
os.unlink("outputs/sparse")
say(answers)
`,
    expected: ["EFBIG"],
    control: { without: "the limit of a file", shows: ["done"] },
  },
  {
    ...{ number: "129", name: "lifting its own limits" },
    stoppedBy: "the kernel, which lets only root raise a hard limit",
    code: `
import resource
def lift(what):
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return "done"
    except (ValueError, OSError):
        return "refused"
say([lift(resource.RLIMIT_FSIZE), lift(resource.RLIMIT_CORE), lift(resource.RLIMIT_NICE), lift(resource.RLIMIT_RTPRIO)])
`,
    expected: ["refused", "refused", "refused", "refused"],
  },
  {
    ...{ number: "91", name: "unpacking a small archive into a huge file", stoppedBy: "the limit of a file" },
    code: `
import io, zipfile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("bomb", bytes(50_000_000))
    archive.writestr("../../../etc/escaped", b"x")
size = len(packed.getvalue())
answer = error_of(lambda: zipfile.ZipFile(packed).extract("bomb", "outputs"))
zipfile.ZipFile(packed).extract("../../../etc/escaped", "outputs")
answers = [size < 100_000, answer, os.path.getsize("outputs/bomb") <= ${limits.fileBytesMax}, sorted(os.listdir("outputs"))]
os.system("rm -r outputs/*")
say(answers)
`,
    ...{ expected: [true, "EFBIG", true, ["bomb", "etc"]], lack: "no_cgroup_memory" },
  },
  {
    ...{ number: "41", name: "taking all processors", stoppedBy: "the control group's share" },
    code: `
until = time.monotonic() + 0.6
def spin():
    while time.monotonic() < until: pass
before = os.times()
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        spin(); os._exit(0)
    children.append(child)
for child in children: ended(child)
after = os.times()
say((after.children_user + after.children_system) < 0.95)
`,
    ...{ expected: true, lack: "no_cgroup_cpu" },
  },
  {
    ...{ number: "130", name: "opening more files than the machine has room for" },
    stoppedBy: "the limit of descriptors",
    code: `
def opens():
    count = 0
    try:
        while count < 300_000:
            os.open("/dev/null", os.O_RDONLY)
            count += 1
        return "done"
    except OSError as error:
        return name_of(error.errno)
answer = in_child(opens)
say("stopped" if answer in ("EMFILE", "SIGKILL") else answer)
`,
    expected: "stopped",
  },
  {
    ...{ number: "131", name: "breaking its Python from inside", stoppedBy: "a supervisor that starts a new one" },
    code: `
ctypes.string_at(0)
say("survived")
`,
    expected: "lost SIGSEGV",
  },
  // Bounded, so that they do no harm where nothing stops them. The guest has 128 MiB.
  {
    ...{ number: "36", name: "taking all memory", stoppedBy: "the control group's memory" },
    code: `say(in_child(lambda: len([bytearray(10_000_000) for _ in range(20)])))`,
    ...{ expected: "SIGKILL", lack: "no_cgroup_memory" },
    control: { without: groups, shows: 20 },
  },
  {
    ...{ number: "39b", name: "taking all memory in its Python itself" },
    stoppedBy: "the control group's memory, which spares the supervisor",
    code: `
hoard = [bytearray(10_000_000) for _ in range(20)]
say(len(hoard))
`,
    ...{ expected: "out_of_memory SIGKILL", lack: "no_cgroup_memory" },
    control: { without: groups, shows: 20 },
  },
  {
    ...{ number: "37b", name: "taking memory by files in /tmp", stoppedBy: "its size" },
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
    ...{ number: "37c", name: "taking memory by files in /dev/shm", stoppedBy: "its size" },
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
    ...{ number: "38a", name: "taking memory by files that have no name" },
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
    ...{ also: "out_of_memory SIGKILL", mayEndGuest: true, lack: "no_cgroup_memory" },
    control: { without: groups, shows: 60 },
  },
  {
    ...{ number: "38b", name: "taking memory by segments of the kernel", stoppedBy: "the control group's memory" },
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
    ...{ expected: "SIGKILL", lack: "no_cgroup_memory" },
    control: { without: groups, shows: "done" },
  },
  {
    ...{ number: "38c", name: "taking memory by pipes and sockets that nobody reads" },
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
    ...{ expected: "stopped", also: "out_of_memory SIGKILL", mayEndGuest: true, lack: "no_cgroup_memory" },
  },
];

tryAttacks(attacks, "[X4]");

const floods: readonly (readonly [number: string, name: string, language: "bash" | "python", code: string])[] = [
  ["50", "flooding the log with lines", "bash", "yes 'a line of an endless log' | head -c 8000000"],
  ["51", "writing one line that never ends", "bash", "head -c 8000000 /dev/zero | tr '\\0' x"],
  [
    "132",
    "flooding stderr from its Python",
    "python",
    "import sys\nfor _ in range(100): sys.stderr.write('x' * 80_000)",
  ],
];

for (const [number, name, language, code] of floods) {
  test(`attack ${number}: ${name} is stopped by the limit of output, where it is made [X1][X4]`, async () => {
    const { guest } = await openAttacked();
    const events = await allOf(guest.run({ id: systemIds.hex(32), agent: "a", language, code, timeoutMs: 30_000 }));
    const kept = events.reduce((sum, event) => sum + (event.kind === "output" ? event.bytes.length : 0), 0);
    const cut = events.reduce((sum, event) => sum + (event.kind === "cut" ? event.bytes : 0), 0);
    assert.deepEqual([kept, cut], [limits.outputBytesMax, 8_000_000 - limits.outputBytesMax]);
    await guest.close("over");
  });
}

test("attack 49: wearing the disk down by a storm of writes is stopped by the host's time [X4]", async () => {
  const { guest } = await openAttacked();
  const code = `
import os
file = os.open("outputs/storm", os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(file, b"x" * 4096, 0); os.fsync(file)
`;
  const run = (text: string, timeoutMs: number) =>
    outcomeOf(guest.run({ id: systemIds.hex(32), agent: "a", language: "python", code: text, timeoutMs }));
  // On a busy machine Python would take all of the time to begin, and there would be no storm.
  assert.equal((await run("pass", 30_000)).end, "done 0");
  // One that waits for the disk hears nothing, and is killed.
  assert.match((await run(code, 300)).end, /^timeout (130|SIGKILL|undefined)$/);
  await guest.close("over");
});

// Without control groups, which only root makes here, the probe says what is not limited.
if (process.geteuid?.() === 0) {
  test("attacks 34, 36 and 96: bombs of every kind at once in one guest are stopped by its limits, and its neighbour works on [X4]", {
    skip: cannotLimit,
  }, async () => {
    const [bomber, neighbour] = await Promise.all([openAttacked(), openAttacked()]);
    const bombs = [":(){ :|:& };:", "tail /dev/zero", "while :; do :; done", "yes"].map((code) =>
      outcomeOf(bomber.guest.run({ id: systemIds.hex(32), agent: "a", language: "bash", code, timeoutMs: 3000 })),
    );
    const answers: unknown[] = [];
    for (let round = 0; round < 10; round += 1) answers.push(await attempt(neighbour, { code: "say(1)" }));
    assert.deepEqual(answers, new Array(10).fill(1));
    await bomber.guest.close("over");
    await Promise.all(bombs);
  });

  test("attack 40: going on in swap when memory is used up is stopped by a limit of both together [X4]", {
    skip: cannotLimit,
  }, async () => {
    const { groups, installation } = await openHost();
    const group = groups.make("swapping", limits);
    const place = findPlaces(installation).get("memory");
    assert.ok(place !== undefined);
    const [name, limit] =
      place.version === 2 ? ["memory.swap.max", 0] : ["memory.memsw.limit_in_bytes", limits.memoryBytes];
    const file = join(place.folder, "swapping", name);
    // A kernel that does not count swap has no such file.
    const hasSwap = readFileSync("/proc/swaps", "utf8").trim().split("\n").length > 1;
    assert.equal(existsSync(file) || hasSwap ? Number(readFileSync(file, "utf8")) : limit, limit);
    await group.remove();
  });
}

/** The watcher looks twenty times as often as it does otherwise. */
const hasty: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms / 20, action) };
type Fill = {
  readonly number: string;
  readonly name: string;
  readonly limits: Partial<WorkspaceLimits>;
  readonly code: string;
};

/** Bounded, so that they do no harm where nothing stops them. */
const fills: readonly Fill[] = [
  {
    ...{ number: "44", name: "filling the disk with many files", limits: { bytesMax: 20 * 1024 * 1024 } },
    code: `
import os, time
for number in range(150):
    with open(f"outputs/f{number}", "wb") as file: file.write(os.urandom(1_000_000))
    time.sleep(0.02)
`,
  },
  {
    ...{ number: "45", name: "filling the disk with files of no size", limits: { filesMax: 1000 } },
    code: `
import os, time
for number in range(30_000):
    open(f"temp/f{number}", "w").close()
    if number % 100 == 0: time.sleep(0.02)
`,
  },
  {
    ...{ number: "152", name: "filling the disk with folders and links", limits: { filesMax: 1000 } },
    code: `
import os, time
for number in range(40_000):
    os.mkdir(f"temp/d{number}")
    os.symlink("x", f"temp/l{number}")
    if number % 100 == 0: time.sleep(0.02)
`,
  },
  {
    ...{ number: "162", name: "filling the disk with files that have no name", limits: { bytesMax: 20 * 1024 * 1024 } },
    code: `
import os, time
held = []
for number in range(60):
    file = open("temp/hidden", "wb", buffering=0)
    os.unlink("temp/hidden")
    file.write(os.urandom(2_000_000))
    held.append(file)
    time.sleep(0.05)
`,
  },
];

for (const { number, name, limits, code } of fills) {
  test(`attack ${number}: ${name} is stopped by the watcher [X4]`, async (t) => {
    assert.deepEqual(await watched(t, limits, code), { stdout: "", how: "killed" });
  });
}

test("attack 48: hiding what it takes up in files that have no name any more is stopped by the end of the turn [X4]", async () => {
  const { guest } = await openAttacked();
  const name = `hidden-${systemIds.hex(12)}`;
  const code = `exec 5> outputs/${name}; head -c 1000000 /dev/zero >&5; rm outputs/${name}; setsid sleep 300 >/dev/null 2>&1 & echo`;
  await outcomeOf(guest.run({ id: systemIds.hex(32), agent: "a", language: "bash", code, timeoutMs: 30_000 }));
  await until("a file without a name is held", () => holdersOf(name) > 0);
  await guest.endTurn();
  await until("nothing is held", () => holdersOf(name) === 0);
  await guest.close("over");
});

/** Descriptors of any process that hold this file, which was removed. */
function holdersOf(name: string): number {
  return globSync("/proc/[0-9]*/fd/*").filter((path) => {
    try {
      return readlinkSync(path).endsWith(`${name} (deleted)`);
    } catch {
      return false; // Closed in between.
    }
  }).length;
}

async function watched(t: TestContext, limits: Partial<WorkspaceLimits>, code: string) {
  const { workspace, folder } = await testWorkspace(t, { base: newFolder(), limits });
  const { guest } = await openAttacked({ workspace: conversation(folder) });
  t.after(() => guest.close("over"));
  const watch = openDiskWatch({
    ...{ workspace, clock: hasty, logger: noLogs },
    unnamedBytes: async () => (await guest.unnamedBytes?.()) ?? 0,
    onDiskFull: () => watch.end(),
    endBackground: async () => void (await guest.endTurn()),
    endGuest: () => void guest.close("disk"),
  });
  t.after(() => watch.stop());
  const id = systemIds.hex(32);
  // It stays as long as it may: how soon the watcher comes to look is for the machine to say.
  const staying = `${code}time.sleep(1000)\n`;
  const stop = watch.begin({ onOver: () => guest.kill(id) });
  const { stdout, end } = await outcomeOf(
    guest.run({ id, agent: "a", language: "python", code: staying, timeoutMs: 60_000 }),
  );
  stop();
  return { stdout, how: end.split(" ")[0] };
}
