import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { findPlaces } from "../../src/sandbox/local/hierarchies.ts";
import { cannotLimit, cannotStart } from "../contracts/sandbox-guests.ts";
import { allOf, outcomeOf } from "../world/bare-supervisor.ts";
import { type Attack, controlled, forProvider, isStopped, worksWithout } from "./attack.ts";
import { attempt, limits, openAttacked, openHost } from "./guest.ts";

const groups = "control groups";

/** Bounded, so that they do no harm where nothing stops them. The guest has 128 MiB and 32 processes. */
const attacks: readonly Attack[] = [
  {
    number: "34",
    name: "filling the machine with processes",
    stoppedBy: "the control group's count",
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
    expected: ["EAGAIN", true],
    lack: "no_cgroup_pids",
    control: { without: groups, shows: ["done", false] },
  },
  {
    number: "35",
    name: "filling the machine with threads",
    stoppedBy: "the control group's count",
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
    expected: ["no more threads", true],
    lack: "no_cgroup_pids",
    control: { without: groups, shows: ["done", false] },
  },
  {
    number: "43",
    name: "filling the disk with one file",
    stoppedBy: "the limit of a file",
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
    number: "46",
    name: "making a file of a terabyte without content",
    stoppedBy: "the limit of a file",
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
    number: "129",
    name: "lifting its own limits",
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
    number: "91",
    name: "unpacking a small archive into a huge file",
    stoppedBy: "the limit of a file",
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
    expected: [true, "EFBIG", true, ["bomb", "etc"]],
    lack: "no_cgroup_memory",
  },
  {
    number: "41",
    name: "taking all processors",
    stoppedBy: "the control group's share",
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
    expected: true,
    lack: "no_cgroup_cpu",
  },
  {
    number: "130",
    name: "opening more files than the machine has room for",
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
    number: "131",
    name: "breaking its Python from inside",
    stoppedBy: "a supervisor that starts a new one",
    code: `
ctypes.string_at(0)
say("survived")
`,
    expected: "lost SIGSEGV",
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
  test(`attack ${number}: ${name} is stopped by the limit of output, where it is made [X1][X4]`, {
    skip: cannotStart,
  }, async () => {
    const { guest } = await openAttacked();
    const events = await allOf(guest.run({ id: systemIds.hex(32), agent: "a", language, code, timeoutMs: 30_000 }));
    const kept = events.reduce((sum, event) => sum + (event.kind === "output" ? event.bytes.length : 0), 0);
    const cut = events.reduce((sum, event) => sum + (event.kind === "cut" ? event.bytes : 0), 0);
    assert.deepEqual([kept, cut], [limits.outputBytesMax, 8_000_000 - limits.outputBytesMax]);
    await guest.close("over");
  });
}

test("attack 49: wearing the disk down by a storm of writes is stopped by the host's time [X4]", {
  skip: cannotStart,
}, async () => {
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
