import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome } from "../world/program.ts";
import { keys, openPty } from "../world/pty.ts";
import { cannotRunCode } from "../world/sandbox.ts";

// The end of a program that is not its own end: Ctrl+C, and the end of the process that it runs in.

// A terminal sends it to every process in the foreground, and not to this one alone.
test("Ctrl+C in a terminal lets the program put its things in order [P2][X1]", { skip: cannotRunCode }, async (t) => {
  const home = makeHome(t);
  const code = [
    "import time",
    "try:",
    "    print('begun', flush=True)",
    "    time.sleep(300)",
    "except KeyboardInterrupt:",
    "    open('outputs/saved.txt', 'w').write('kept')",
  ].join("\n");
  const data = ["--data", join(home.folder, "data")];
  const terminal = openPty({
    args: [...data, "exec", "--conversation", "talk", "--timeout", "600", code],
    env: { HOME: home.folder, TMPDIR: home.folder },
    cwd: home.folder,
  });
  t.after(terminal.kill);
  await terminal.waitFor("begun");
  terminal.type(keys.interrupt);
  assert.match(await terminal.waitFor("Stopped."), /outputs\/saved\.txt \(4 bytes\)/);
  assert.equal(await terminal.exited, 130);
});

const ready =
  "import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('temp/go'): time.sleep(0.02)\nprint('whole')";
const options = { skip: cannotRunCode };

test(
  "a program goes on when the exec that was here first is done: that one waits for it [P2][X1]",
  options,
  async (t) => {
    const home = makeHome(t);
    const first = home.start("exec", "--conversation", "talk", "--timeout", "600", ready);
    await first.until("output", /^begun\n/);
    const second = home.start("exec", "--conversation", "other", "--timeout", "600", ready);
    await second.until("output", /^begun\n/);
    await home.start("exec", "--conversation", "talk", "--language", "bash", "touch temp/go").ended;
    await first.until("errors", /Waiting for programs that others run here; Ctrl\+C ends them and leaves\.\n/);
    await home.start("exec", "--conversation", "other", "--language", "bash", "touch temp/go").ended;
    const whole = { code: 0, output: "begun\nwhole\n" };
    for (const { code, output } of await Promise.all([first.ended, second.ended]))
      assert.deepEqual({ code, output }, whole);
  },
);

test("whoever insists on leaving cuts off what others run, and they are told so [P2][X2]", options, async (t) => {
  const home = makeHome(t);
  const first = home.start("exec", "--timeout", "600", ready);
  await first.until("output", /^begun\n/);
  const second = home.start("exec", "--conversation", "other", "--timeout", "600", ready);
  await second.until("output", /^begun\n/);
  first.child.kill("SIGINT");
  await first.until("errors", /Waiting for programs/);
  first.child.kill("SIGINT");
  assert.equal((await first.ended).code, 130);
  const { code, errors } = await second.ended;
  assert.deepEqual([code, errors], [125, "✗ The AgentYard process that ran it ended.\n"]);
});
