import assert from "node:assert/strict";
import { after } from "node:test";

import { systemIds } from "../../src/base/ids.ts";
import { isAlive as isRunning, keepGuest, guestTest as test } from "../contracts/sandbox-guests.ts";
import { outcomeOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";

after(endGuests);

import {
  type Attack,
  type Attacked,
  attempt,
  endGuests,
  isAlive,
  openAttacked,
  openHost,
  tryAttacks,
} from "./guest.ts";

const shield = "the supervisor's shield";

const attacks: readonly Attack[] = [
  {
    ...{ number: "11a", name: "reading the supervisor's memory through /proc/1/mem" },
    stoppedBy: "its non-dumpable state",
    code: `say([error_of(open, "/proc/1/" + name, "rb") for name in ("mem", "maps")])`,
    expected: ["EACCES", "EACCES"],
    control: { without: shield, shows: ["done", "done"] },
  },
  {
    ...{ number: "11b", name: "opening the control socket through /proc/1/fd" },
    stoppedBy: "the supervisor's non-dumpable state",
    code: `say([error_of(os.listdir, "/proc/1/fd"), error_of(os.readlink, "/proc/1/fd/3"), error_of(os.listdir, "/proc/1/map_files")])`,
    expected: ["EACCES", "EACCES", "EACCES"],
    control: { without: shield, shows: ["done", "done", "done"] },
  },
  {
    ...{ number: "11c", name: "reading the supervisor's environment, folder, root and program" },
    stoppedBy: "its non-dumpable state",
    code: `say([error_of(lambda: open("/proc/1/environ").read()), *(error_of(os.readlink, "/proc/1/" + name) for name in ("cwd", "root", "exe"))])`,
    expected: ["EACCES", "EACCES", "EACCES", "EACCES"],
    control: { without: shield, shows: ["done", "done", "done", "done"] },
  },
  {
    ...{ number: "16a", name: "tracing the supervisor and reading its memory" },
    stoppedBy: "the call filter, above its non-dumpable state",
    code: `
here, there = ctypes.create_string_buffer(8), ctypes.addressof(ctypes.c_char.in_dll(libc, "environ"))
vectors = [struct.pack("=QQ", place, 8) for place in (ctypes.addressof(here), there)]
say([call("process_vm_readv", 1, vectors[0], 1, vectors[1], 1, 0), call("ptrace", 0x4206, 1, 0, 0)])
`,
    expected: ["EPERM", "EPERM"],
    control: { without: "the call filter and the supervisor's shield", shows: ["done", "done"] },
  },
  {
    ...{ number: "16b", name: "reading the memory of another process of the guest", stoppedBy: "the call filter" },
    code: `
secret = ctypes.create_string_buffer(b"secret!")
child = os.fork()
if child == 0:
    signal.pause()
found = ctypes.create_string_buffer(8)
vectors = [struct.pack("=QQ", ctypes.addressof(place), 8) for place in (found, secret)]
say([call("process_vm_readv", child, vectors[0], 1, vectors[1], 1, 0), found.value.decode()])
os.kill(child, 9); ended(child)
`,
    expected: ["EPERM", ""],
    control: { without: "the call filter", shows: ["done", "secret!"] },
  },
  {
    ...{ number: "17", name: "taking the control socket out of the supervisor with pidfd_getfd" },
    stoppedBy: "the call filter, above its non-dumpable state",
    code: `
handle = libc.syscall(ctypes.c_long(numbers["pidfd_open"]), ctypes.c_long(1), ctypes.c_long(0))
say([handle >= 0, call("pidfd_getfd", handle, 3, 0)])
`,
    expected: [true, "EPERM"],
    control: { without: "the call filter and the supervisor's shield", shows: [true, "done"] },
  },
  {
    ...{ number: "18a", name: "ending or stopping the supervisor with every signal there is" },
    stoppedBy: "the default action of its signals, which the first process is safe from",
    code: `
for number in range(1, 65):
    error_of(os.kill, 1, number)
say("still here")
`,
    expected: "still here",
    control: { without: "the reset of signals", shows: "lost undefined" },
  },
  {
    ...{ number: "18b", name: "signalling the supervisor through a handle or a queue" },
    stoppedBy: "the default action of its signals",
    code: `
handle = libc.syscall(ctypes.c_long(numbers["pidfd_open"]), ctypes.c_long(1), ctypes.c_long(0))
for number in (2, 9, 15, 19):
    call("pidfd_send_signal", handle, number, None, 0)
    libc.sigqueue(1, number, None)
say("still here")
`,
    expected: "still here",
  },
  {
    ...{ number: "13", name: "looking into the processes of the host through /proc" },
    stoppedBy: "the process namespace",
    code: `
found = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
say([found == sorted({1, os.getpid()}), error_of(lambda: open("/proc/${process.pid}/cmdline").read())])
`,
    expected: [true, "ENOENT"],
    control: { without: "the process namespace", shows: [false, "done"] },
  },
  {
    ...{ number: "19", name: "signalling the server and processes of other conversations" },
    stoppedBy: "the process namespace",
    code: `say([error_of(os.kill, ${process.pid}, 0), error_of(os.kill, ${process.ppid}, 0), call("pidfd_open", ${process.pid}, 0)])`,
    expected: ["ESRCH", "ESRCH", "ESRCH"],
    control: { without: "the process namespace", shows: ["EPERM", "EPERM", "done"] },
  },
  {
    ...{ number: "180", name: "putting the supervisor on short rations of descriptors", stoppedBy: "the call filter" },
    code: `
import resource
say([error_of(resource.prlimit, 1, resource.RLIMIT_NOFILE, (500, 500)), resource.prlimit(0, resource.RLIMIT_NOFILE)[0] > 0])
`,
    expected: ["EPERM", true],
    control: { without: "the call filter", shows: ["done", true] },
  },
  {
    ...{ number: "42", name: "raising its priority, in fair and in real time", stoppedBy: "the missing capabilities" },
    code: `say([error_of(os.setpriority, 0, 0, -5), error_of(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50)), error_of(os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))])`,
    expected: ["EACCES", "EPERM", "EPERM"],
  },
  {
    ...{ number: "39a", name: "making itself safe when memory ends, or the supervisor the first to go" },
    stoppedBy: "the kernel, which lowers no score below that of the guest",
    code: `
def put(path, text):
    with open(path, "w") as file:
        file.write(text)
say([text_of("/proc/self/oom_score_adj").strip(), error_of(put, "/proc/self/oom_score_adj", "-1"), error_of(put, "/proc/1/oom_score_adj", "1000")])
`,
    expected: ["500", "EACCES", "EACCES"],
  },
  {
    ...{ number: "12", name: "opening files of the host again through its descriptors" },
    stoppedBy: "pipes and sockets in place of files",
    code: `
def target(name):
    try:
        return os.readlink("/proc/self/fd/" + name).split(":")[0]
    except OSError:
        return None
kinds = {target(name) for name in os.listdir("/proc/self/fd")}
say(sorted(kind for kind in kinds if kind and not kind.startswith("/proc/") and not kind.startswith("/memfd")))
`,
    expected: ["/dev/null", "pipe", "socket"],
  },
  {
    ...{ number: "21", name: "finding the control socket in a program that was started" },
    ...{ stoppedBy: "close-on-exec, and the closing of all descriptors in every child", language: "bash" },
    code: `ls -l /proc/self/fd | grep -c socket:; true`,
    expected: 0,
  },
  {
    ...{ number: "30a", name: "ending the Python that the supervisor looks after" },
    stoppedBy: "a supervisor that starts a new one",
    code: `os._exit(7)`,
    expected: "lost 7",
  },
  {
    ...{ number: "114", name: "ending everything it can see" },
    ...{ stoppedBy: "the first process, which no signal from inside ends", language: "bash" },
    code: `sleep 300 & kill -9 -1; kill -9 1; wait; echo 1`,
    expected: 1,
  },
];

tryAttacks(attacks, "[X3]");

/** Processes of the guest but the supervisor and the one that looks. */
async function others(attacked: Attacked): Promise<unknown> {
  return await attempt(attacked, {
    language: "bash",
    code: `n=0; for p in /proc/[0-9]*; do case "\${p#/proc/}" in 1|$$) ;; *) n=$((n+1));; esac; done; echo $n`,
  });
}

const background: readonly Attack[] = [
  {
    ...{ number: "56", name: "leaving a process in the background for the next turn" },
    ...{ stoppedBy: "the end of the turn", language: "bash" },
    code: `for i in 1 2; do nohup sleep 300 >/dev/null 2>&1 & done; echo 1`,
    expected: 1,
  },
  {
    ...{ number: "57", name: "becoming a daemon by two forks and a session of its own" },
    stoppedBy: "the end of the turn, which finds what was handed to the first process",
    code: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        time.sleep(300)
    os._exit(0)
say(1)
`,
    expected: 1,
  },
  {
    ...{ number: "58", name: "sleeping until the next turn to change files then", stoppedBy: "the end of the turn" },
    language: "bash",
    code: `(trap '' HUP INT TERM QUIT; sleep 300; echo changed > outputs/late.txt) >/dev/null 2>&1 & echo 1`,
    expected: 1,
  },
  {
    ...{ number: "115", name: "hiding from the search by a name that looks like the end of another" },
    stoppedBy: "a search that reads names from their end",
    code: `
if os.fork() == 0:
    libc.prctl(15, b"x) Z 0 0 0 (y", 0, 0, 0)
    time.sleep(300)
say(1)
`,
    expected: 1,
  },
  {
    ...{ number: "116", name: "running away from the end of the turn by a new process every moment" },
    stoppedBy: "an end that reaches all processes at once",
    // What ended and was not collected yet may take all room for processes, which stops no runner that is there.
    code: `
for _ in range(8):
    try:
        runner = os.fork()
    except BlockingIOError:
        continue
    if runner == 0:
        os.setsid()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if os.fork() != 0:
                os._exit(0)
        time.sleep(300)
say(1)
`,
    expected: 1,
  },
];

for (const attack of background) {
  test(`attack ${attack.number}: ${attack.name} is stopped by ${attack.stoppedBy} [X1][X3]`, async () => {
    const attacked = await openAttacked();
    const before = [await attempt(attacked, { ...attack, isKept: true }), Number(await others(attacked)) > 1];
    await attacked.guest.endTurn();
    await attacked.guest.reset("attacker");
    assert.deepEqual([before, await others(attacked), await isAlive(attacked)], [[1, true], 0, true]);
    await attacked.guest.close("over");
  });
}

test("attack 59: holding the output so that an execution never ends is stopped by the end of its process [X1]", async () => {
  const attacked = await openAttacked();
  assert.equal(await attempt(attacked, { language: "bash", code: "sleep 300 & echo 1" }), 1);
  await attacked.guest.close("over");
});

test("attacks 60 and 61: ignoring signals and stopping itself to dodge the clock is stopped by the host's time [X1][X4]", async () => {
  const attacked = await openAttacked();
  const run = async (language: "bash" | "python", code: string) => {
    for (let timeoutMs = 200; ; timeoutMs *= 2) {
      const order = { id: systemIds.hex(32), agent: code, language, code, timeoutMs };
      const { end } = await outcomeOf(attacked.guest.run(order));
      // It heard the interrupt: on a busy machine it may not have come so far yet, and gets more time.
      const isEarly = end === "timeout SIGINT" || end === "timeout 130";
      if (!isEarly || timeoutMs > 10_000) return end;
    }
  };
  const codes = [
    ["bash", "trap '' INT TERM HUP; while :; do sleep 0.1; done"],
    ["bash", "kill -STOP $$"],
    ["python", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"],
    ["python", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"],
  ] as const;
  const outcomes = await Promise.all(codes.map(([language, code]) => run(language, code)));
  assert.deepEqual(outcomes, ["timeout SIGKILL", "timeout SIGKILL", "timeout SIGKILL", "timeout SIGKILL"]);
  await until("all of their processes are gone", async () => (await others(attacked)) === 0);
  await attacked.guest.close("over");
});

test("attack 62: outliving the server that was killed is stopped by the guest's tie to it [X3]", async (t) => {
  const { installation } = await openHost();
  const { child, pid } = await keepGuest(t, installation);
  child.kill("SIGKILL");
  await until("the guest is gone", () => !isRunning(pid));
});
