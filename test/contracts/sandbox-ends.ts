import assert from "node:assert/strict";
import { done, limits, type Promised, type Tried } from "./sandbox-place.ts";

/** Runs it and acts as soon as the program has said its first word. */
async function afterFirstWord(
  { guest }: Tried,
  execution: Parameters<Tried["guest"]["run"]>[0],
  act: () => void,
): Promise<string> {
  for await (const event of guest.run(execution)) {
    if (event.kind === "output") act();
    if (event.kind === "exited") return `${event.how} ${event.signal ?? event.code}`;
  }
  return "no end";
}

/** How it ends when its time is over in its middle: one that had not come so far yet, on a busy machine, gets more. */
async function overTime(
  { run }: Tried,
  language: Parameters<Tried["run"]>[0],
  code: string,
  agent = "a",
): Promise<string> {
  for (let timeoutMs = 300; ; timeoutMs *= 2) {
    const { stdout, end } = await run(language, code, { timeoutMs, agent });
    if (stdout !== "" || timeoutMs > timeoutMsMax) return end;
  }
}

const timeoutMsMax = 30_000;
const long = "echo on; sleep 1000";
const longCell = "import time\nprint('on')\ntime.sleep(1000)";
const execution = { agent: "a", timeoutMs: 60_000 };

/** How executions end that do not end by themselves. */
export const endPromises: readonly Promised[] = [
  {
    says: "an execution over its time is ended, also one that does not listen, and the next one runs [X1]",
    async holds({ guest }) {
      const tried = await guest();
      const { run } = tried;
      await run("python", "x = 1", { agent: "polite" });
      const outcomes = await Promise.all([
        overTime(tried, "bash", "echo on; sleep 1000"),
        overTime(tried, "bash", "trap '' INT; echo on; sleep 1000"),
        overTime(tried, "python", "import time; print('on'); time.sleep(1000)", "polite"),
        overTime(
          tried,
          "python",
          "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('on')\nwhile True: time.sleep(1000)",
        ),
        overTime(tried, "javascript", "process.on('SIGINT', () => {}); console.log('on'); setInterval(() => {}, 1000)"),
      ]);
      assert.deepEqual(outcomes, [
        "timeout SIGINT",
        "timeout SIGKILL",
        "timeout 130",
        "timeout SIGKILL",
        "timeout SIGKILL",
      ]);
      assert.deepEqual(await run("python", "x", { agent: "polite" }), done({ results: ["text 1"] }));
      assert.deepEqual(await run("python", "'x' in globals()"), done({ results: ["text False"] }));
    },
  },
  {
    says: "an execution is cancelled by its signal, interrupted like Ctrl+C, or killed [X1]",
    async holds({ guest }) {
      const tried = await guest();
      const opened = tried.guest;
      const stop = new AbortController();
      const ends = [
        (await tried.run("bash", long, { signal: AbortSignal.abort() })).end,
        await afterFirstWord(tried, { ...execution, id: "1", language: "bash", code: long, signal: stop.signal }, () =>
          stop.abort(),
        ),
        await afterFirstWord(tried, { ...execution, id: "2", language: "python", code: longCell }, () =>
          opened.interrupt("2"),
        ),
        await afterFirstWord(tried, { ...execution, id: "3", language: "bash", code: long }, () => opened.kill("3")),
        await afterFirstWord(tried, { ...execution, id: "4", language: "python", code: longCell }, () =>
          opened.kill("4"),
        ),
      ];
      assert.deepEqual(ends, [
        "cancelled undefined",
        "cancelled SIGINT",
        "cancelled 130",
        "killed SIGKILL",
        "killed SIGKILL",
      ]);
      opened.interrupt("never was");
      opened.kill("3");
    },
  },
  {
    says: "memory that runs out ends the program that took it, and nothing else in the guest [X1][X4]",
    async holds({ guest, lacks }) {
      const memoryBytes = 150 * 1024 * 1024; // To fill all of it is most of what this costs.
      const { run } = await guest({ limits: { ...limits, memoryBytes } });
      await run("python", "x = 1", { agent: "other" });
      const hoard = "hoard = [bytearray(10_000_000) for _ in range(200)]";
      const [cell, script] = [await run("python", hoard), await run("bash", `python3 -c '${hoard}'`)];
      if ((await lacks("no_cgroup_memory")) || (await lacks("pod_memory"))) {
        // Then each process has the limit for itself.
        assert.deepEqual(
          [cell, script].map(({ end, stderr }) => [end, /MemoryError\n$/.test(stderr)]),
          [
            ["done 1", true],
            ["done 1", true],
          ],
        );
      } else {
        assert.deepEqual([cell.end, script.end.split(" ")[0]], ["out_of_memory SIGKILL", "out_of_memory"]);
      }
      assert.deepEqual(await run("python", "x", { agent: "other" }), done({ results: ["text 1"] }));
    },
  },
  {
    says: "a program that starts process after process comes to its limit, and the guest goes on [X4]",
    async holds({ guest, lacks }) {
      const tried = await guest();
      // Without a limit for all together, only one by a user of its own is left to a container.
      const isUncounted = (await lacks("no_cgroup_pids")) || (await lacks("pod_processes"));
      const isPromised = !isUncounted || !(await lacks("shared_uid"));
      const bomb = `
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except OSError as error:
    print(0 < made < ${limits.processesMax}, error.strerror)
`;
      const ran = await tried.run("python", bomb);
      const stdout = isPromised || ran.stdout !== "" ? "True Resource temporarily unavailable\n" : "";
      assert.deepEqual(ran, done({ stdout }));
      assert.ok((await tried.guest.endTurn()) > 0);
      assert.deepEqual(await tried.run("bash", "echo on"), done({ stdout: "on\n" }));
    },
  },
  {
    says: "processes that earlier executions left running do not keep the next one out [X1][X4]",
    async holds({ guest, lacks }) {
      const { run } = await guest();
      const crowd = `
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except OSError:
    pass
`;
      assert.deepEqual(await run("python", crowd), done({}));
      // Without a limit for all together, what starts programs has none itself.
      const isByUser = (await lacks("no_cgroup_pids")) || (await lacks("pod_processes"));
      const remark = isByUser ? "" : "sandbox: programs left running by earlier calls were ended\n";
      assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n", stderr: remark }));
      assert.deepEqual(await run("python", "made > 0"), done({ results: ["text True"] }));
      assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n" }));
    },
  },
  {
    says: "a server in the background answers later executions of the turn [X1]",
    async holds({ guest }) {
      const { run, guest: opened } = await guest();
      const serve =
        "python -m http.server 8123 & until echo > /dev/tcp/127.0.0.1/8123; do sleep 0.05; done 2> /dev/null";
      assert.equal((await run("bash", serve)).end, "done 0");
      const ask = `
import urllib.request
for _ in range(3):
    urllib.request.urlopen('http://127.0.0.1:8123/').status
`;
      assert.deepEqual(await run("python", ask), done({}));
      assert.equal(await opened.endTurn(), 1);
    },
  },
  {
    says: "a file that grows beyond its limit is an error with a remark, and not the end of the agent's Python [X4]",
    async holds({ guest }) {
      const { run } = await guest();
      const remark = `sandbox: a file can have no more than ${limits.fileBytesMax} bytes\n`;
      const bytes = limits.fileBytesMax + 1;
      const cell = await run("python", `x = 1\nwith open('outputs/big', 'wb') as file: file.write(bytes(${bytes}))`);
      const script = await run("bash", `head -c ${bytes} /dev/zero > outputs/big; exit $?`);
      assert.deepEqual(
        [cell, script].map(({ end, stderr }) => [end, stderr.endsWith(remark)]),
        [
          ["done 1", true],
          ["done 153", true],
        ],
      );
      assert.deepEqual(await run("python", "x"), done({ results: ["text 1"] }));
    },
  },
  {
    says: "a child in the background does not hold up its execution, and is gone at the end of the turn [X1]",
    async holds({ guest }) {
      const tried = await guest();
      await tried.run("python", "x = 1");
      assert.deepEqual(
        await tried.run("bash", "sleep 1000 & setsid sleep 1000 & echo done"),
        done({ stdout: "done\n" }),
      );
      const cell = "import subprocess; child = subprocess.Popen(['sleep', '1000']); print('done')";
      assert.deepEqual(await tried.run("python", cell), done({ stdout: "done\n" }));
      assert.equal(await tried.guest.endTurn(), 3);
      assert.equal(await tried.guest.endTurn(), 0);
      assert.deepEqual(await tried.run("python", "x"), done({ results: ["text 1"] }));
    },
  },
];
