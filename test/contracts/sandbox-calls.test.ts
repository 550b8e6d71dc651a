import assert from "node:assert/strict";
import { test } from "node:test";
import { absent, refused, unassigned } from "../../src/sandbox/guest/syscalls.ts";
import { askPython, cannotStart, openHost } from "./sandbox-guests.ts";

/**
 * Makes every call with arguments that no call can use, each in a process of its own: some end it, some wait for ever,
 * some would change it. "EPERM" and "ENOSYS" are told apart; whatever else comes is "other".
 */
const probe = `
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def answer_of(number):
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 2)
        os.close(3)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        bad = ctypes.c_long(-1)
        result = libc.syscall(ctypes.c_long(number), bad, bad, bad, bad, bad, bad)
        os._exit(ctypes.get_errno() if result == -1 else 0)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return {1: "EPERM", 38: "ENOSYS"}.get(code, "other")
skipped = json.loads('SKIPPED')
say([answer_of(number) if number not in skipped else "skipped" for number in range(500)])
`;

/** Those that make two processes of one, flush the disks of the whole machine, or are judged by their arguments.
 * 335 and 336 are the kernel's own way back from a probe: it lets them pass every filter, and ends whoever else calls. */
const skipped: Readonly<Record<string, readonly number[]>> = {
  x64: [16, 41, 53, 56, 57, 58, 162, 302, 335, 336],
  arm64: [29, 198, 199, 220, 261, 81],
};

/** BPF that lets everything pass. */
const noFilter = Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

test("inside, every call into the kernel answers as meant, and without the filter many answer otherwise [X3]", {
  skip: cannotStart,
}, async (t) => {
  const architecture = process.arch === "arm64" ? "arm64" : "x64";
  const column = architecture === "x64" ? 0 : 1;
  const code = probe.replace("SKIPPED", JSON.stringify(skipped[architecture]));
  const host = await openHost(t);
  const [filtered, open] = [await askPython(host, code), await askPython({ ...host, seccomp: noFilter }, code)];
  assert.ok(Array.isArray(filtered) && Array.isArray(open));

  const isIn = (numbers: typeof refused, number: number) =>
    Object.values(numbers).some((entry) => entry[column] === number);
  const isUnassigned = (number: number) =>
    number > 456 || unassigned[architecture].some(([first, last]) => number >= first && number <= last);
  const expected = open.map((answer: unknown, number) => {
    if (answer === "skipped") return answer;
    if (isIn(refused, number)) return "EPERM";
    return isIn(absent, number) || isUnassigned(number) ? "ENOSYS" : answer;
  });
  const numbered = (answers: readonly unknown[]) => answers.map((answer, number) => `${number} ${String(answer)}`);
  assert.deepEqual(numbered(filtered), numbered(expected));
  const differing = filtered.filter((answer: unknown, number) => answer !== open[number]).length;
  assert.ok(differing >= 20, `${differing} calls differ`);
});
