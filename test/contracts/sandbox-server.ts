// A process with a guest, for tests of what happens to one through the other: `ask <python>` prints the answer, `keep`
// prints the guest's process id and stays, `serve` runs a shell and a Python in a guest of a whole provider and prints
// what they say.
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { architectureOf, seccompProgram } from "../../src/sandbox/guest/seccomp.ts";
import { readBwrap } from "../../src/sandbox/local/bwrap.ts";
import { openGroups } from "../../src/sandbox/local/groups.ts";
import { askPython, bwrapPath, openProvider, startPython } from "./sandbox-guests.ts";
import { wantedGuest } from "./sandbox-place.ts";

const [, , what, code = "say(1)", installation = `test${systemIds.hex(12)}`] = process.argv;
const groups = openGroups({ installation, clock: systemClock });
const bwrap = await readBwrap(bwrapPath);
if (bwrap === undefined) throw new Error("no bwrap here");
const seccomp = seccompProgram(architectureOf(process.arch) ?? "x64");
const host = { bwrap, seccomp, groups, installation, clock: systemClock, startTimeoutMs: 60_000 };
if (what === "serve") {
  const opened = await openProvider({ installation }).open(wantedGuest({ id: "served" }));
  if (!opened.ok) throw new Error(opened.failure.said);
  const script = "(setsid sleep 1000 &) ; sleep 1000 & echo on; sleep 1000; :";
  const cell = "import subprocess, time\nchild = subprocess.Popen(['sleep', '1000'])\nprint('on')\ntime.sleep(1000)";
  for (const [language, text] of [
    ["bash", script],
    ["python", cell],
  ] as const) {
    const execution = { id: language, language, code: text, agent: "a", timeoutMs: 600_000 };
    void (async () => {
      for await (const event of opened.value.run(execution)) if (event.kind === "output") console.log(`${event.bytes}`);
    })();
  }
} else if (what === "keep") {
  const started = await startPython(host, code);
  console.log(started.ok ? started.value.pid : started.failure);
} else {
  console.log(JSON.stringify(await askPython(host, code)));
  groups.close();
}
