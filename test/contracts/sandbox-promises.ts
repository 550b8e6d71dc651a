import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Execution } from "../../src/sandbox/provider.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { executionPromises } from "./sandbox-executions.ts";
import {
  conversation,
  done,
  hostFolder,
  limits,
  type Promised,
  type ProviderUnderTest,
  placeFor,
  type Tried,
  wantedGuest,
} from "./sandbox-place.ts";

const long = { language: "bash", code: "sleep 1000", agent: "a", timeoutMs: 60_000 } as const;

/** Runs until it has begun, then something happens; answers how it ended. */
async function whenBegun({ guest }: Tried, execution: Execution, happens: () => unknown): Promise<string> {
  const kinds: string[] = [];
  for await (const event of guest.run(execution)) {
    kinds.push(event.kind);
    if (event.kind === "started") await happens();
    if (event.kind === "exited") kinds.push(event.how);
  }
  assert.equal(kinds.at(-2), "exited", "nothing comes after the end");
  return kinds.at(-1) ?? "";
}

/**
 * What holds whatever a program does: how guests and executions begin and end, and what a provider says of itself. The
 * provider that tests of the service play passes all of these; the other promises are about programs, and it runs none.
 */
export const orderPromises: readonly Promised[] = [
  {
    everywhere: true,
    says: "an execution begins once and ends once, and tells nothing after its end [X1]",
    async holds({ guest }) {
      const { guest: opened } = await guest();
      assert.equal(opened.isOpen(), true);
      const events = await allOf(opened.run({ ...long, id: "1", code: "at once" }));
      const kinds = events.map(({ kind }) => kind).filter((kind) => kind === "started" || kind === "exited");
      assert.deepEqual([kinds, events.at(-1)?.kind], [["started", "exited"], "exited"]);
    },
  },
  {
    everywhere: true,
    says: "an execution is cancelled by a signal that fires before or while it runs, and killed by its id [X1]",
    async holds({ guest }) {
      const tried = await guest();
      const stop = new AbortController();
      const before = await allOf(tried.guest.run({ ...long, id: "1", signal: AbortSignal.abort() }));
      assert.partialDeepStrictEqual(before.at(-1), { kind: "exited", how: "cancelled" });
      const ends = [
        await whenBegun(tried, { ...long, id: "2", signal: stop.signal }, () => stop.abort()),
        await whenBegun(tried, { ...long, id: "3" }, () => tried.guest.kill("3")),
      ];
      assert.deepEqual(ends, ["cancelled", "killed"]);
      tried.guest.kill("3");
      tried.guest.interrupt("never was");
    },
  },
  {
    everywhere: true,
    says: "a guest that is closed says why, loses what runs in it, and takes nothing more [X1]",
    async holds({ guest }) {
      const tried = await guest();
      let closing: Promise<void> | undefined;
      const end = await whenBegun(tried, { ...long, id: "1" }, () => {
        closing = tried.guest.close("idle");
      });
      await closing;
      assert.deepEqual([end, await tried.guest.ended, tried.guest.isOpen()], ["lost", { why: "idle" }, false]);
      assert.deepEqual(await tried.guest.usage(), { memoryBytes: 0, processes: 0, cpuMs: 0 });
      assert.partialDeepStrictEqual((await allOf(tried.guest.run({ ...long, id: "2" }))).at(-1), { how: "lost" });
      await Promise.all([tried.guest.reset("a"), tried.guest.endTurn(), tried.guest.close("again")]);
    },
  },
  {
    everywhere: true,
    says: "a guest that has an accident says so, and loses what runs in it [X1]",
    async holds({ guest, accident }) {
      const tried = await guest();
      const end = await whenBegun(tried, { ...long, id: "1" }, () => accident(tried.guest.id));
      assert.deepEqual([end, await tried.guest.ended, tried.guest.isOpen()], ["lost", { why: "ended" }, false]);
      assert.partialDeepStrictEqual((await allOf(tried.guest.run({ ...long, id: "2" }))).at(-1), { how: "lost" });
    },
  },
  {
    everywhere: true,
    says: "a provider that is closed takes its guests along and opens no more [X3]",
    async holds({ another }) {
      const { provider } = await another();
      const opened = await Promise.all([provider.open(wantedGuest({})), provider.open(wantedGuest({}))]);
      const running = opened.map((result) => {
        assert.ok(result.ok, JSON.stringify(result));
        return result.value;
      });
      const late = provider.open(wantedGuest({}));
      await provider.close();
      const ends = await Promise.all(running.map(({ ended }) => ended));
      assert.deepEqual(ends, [{ why: "closed" }, { why: "closed" }]);
      const again = await provider.open(wantedGuest({}));
      assert.equal(!again.ok && again.failure.why, "unavailable");
      const caught = await late;
      if (caught.ok) await until("the last one is gone", async () => (await caught.value.usage()).processes === 0);
    },
  },
  {
    everywhere: true,
    says: "a workspace that is not there is a fault, and leaves nothing behind [X3]",
    async holds({ another, workspace }) {
      const { provider } = await another();
      const opened = await provider.open(wantedGuest({ workspace: conversation(join(workspace(), "nowhere")) }));
      assert.equal(!opened.ok && opened.failure.why, "start_failed");
      assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
    },
  },
  {
    everywhere: true,
    says: "what the machine can do is found out once, and again when that is asked for [X3]",
    async holds({ provider }) {
      const first = await provider.probe();
      assert.deepEqual(first.missing, []);
      assert.equal(await provider.probe(), first);
      const again = await provider.probe({ fresh: true });
      assert.notEqual(again, first);
      assert.deepEqual(again, first);
    },
  },
];

/** How guests live beside each other. */
const lifePromises: readonly Promised[] = [
  {
    everywhere: true,
    says: "two guests see nothing of each other: no file, process, variable, port or message [S5][X4]",
    async holds({ guest, workspace, uid }) {
      const [one, two] = await Promise.all([
        guest({ env: { SECRET: "of one" } }),
        guest({ workspace: conversation(workspace(), "c2"), uid: uid(2) }),
      ]);
      const leave = `
import os, socket, subprocess
for path in ["outputs/secret", "/tmp/secret", "/dev/shm/secret"]: open(path, "w").write("of one")
port = socket.create_server(("127.0.0.1", 4321))
named = socket.socket(socket.AF_UNIX); named.bind("\\0secret"); named.listen()
child = subprocess.Popen(["sleep", "4321"])
`;
      assert.deepEqual(await one.run("python", leave), done({}));
      const look = `
import glob, os, socket
def refused(family, address):
    try: socket.socket(family).connect(address)
    except OSError as error: return error.strerror
commands = [open(path).read() for path in glob.glob("/proc/[0-9]*/cmdline")]
(os.listdir("/workspace/c2/outputs"), sorted(os.listdir("/workspace")), os.path.exists("/tmp/secret"), os.listdir("/dev/shm"),
 os.environ.get("SECRET"), any("4321" in text for text in commands), "port" in globals(),
 refused(socket.AF_INET, ("127.0.0.1", 4321)), refused(socket.AF_UNIX, "\\0secret"))
`;
      const seen =
        "([], ['c2', 'outputs', 'temp', 'uploads'], False, [], None, False, False, 'Connection refused', 'Connection refused')";
      assert.deepEqual(await two.run("python", look), done({ results: [`text ${seen}`] }));
    },
  },
  {
    everywhere: true,
    says: "files are at their real paths inside, stay when the guest is gone, and belong to the conversation [S4][X1]",
    async holds({ guest, uid }) {
      const one = await guest();
      mkdirSync(join(one.folder, "uploads/temparea"));
      writeFileSync(join(one.folder, "uploads/temparea/data.csv"), "a,b\n1,2\n");
      const code =
        "open('/workspace/outputs/sum.txt', 'w').write(open('/workspace/c1/uploads/temparea/data.csv').read())";
      assert.deepEqual(await one.run("python", code), done({ results: ["text 8"] }));
      await one.guest.close("idle");
      const made = join(one.folder, "outputs/sum.txt");
      assert.deepEqual([readFileSync(made, "utf8"), statSync(made).uid], ["a,b\n1,2\n", uid(1) ?? process.geteuid?.()]);
      const two = await guest({ workspace: conversation(one.folder) });
      assert.deepEqual(await two.run("bash", "cat outputs/sum.txt"), done({ stdout: "a,b\n1,2\n" }));
    },
  },
  {
    everywhere: true,
    says: "a workspace that is another folder than the one that was looked at is not opened [W5][X3]",
    async holds({ provider, workspace, uid }) {
      const swapped = { ...conversation(workspace()), marks: { ".": "1:1" } };
      const opened = await provider.open(wantedGuest({ workspace: swapped, uid: uid(1) }));
      assert.equal(!opened.ok && opened.failure.why, "wrong_workspace");
    },
  },
  {
    everywhere: true,
    says: "skills can be read in the workspace and not changed, whatever else can be written [W6]",
    async holds({ t, guest, workspace, uid }) {
      const skills = hostFolder(t);
      mkdirSync(join(skills, "charts"));
      writeFileSync(join(skills, "charts/SKILL.md"), "read me");
      const look =
        "cat skills/charts/SKILL.md; for f in skills/new skills/charts/SKILL.md; do echo x > $f; done; mv skills away; rm -r skills";
      for (const writable of [["outputs"], "all"] as const) {
        const folder = workspace();
        const tried = await guest({ workspace: { folder, inside: "/workspace/c1", writable, skills }, uid: uid(1) });
        const { stdout, stderr } = await tried.run("bash", look);
        assert.equal(stdout, "read me");
        assert.equal(stderr.split("\n").filter((line) => /Read-only|busy|cannot remove/.test(line)).length, 4, stderr);
        assert.equal(existsSync(join(folder, "skills")), true);
        await tried.guest.close("idle");
      }
      assert.equal(readFileSync(join(skills, "charts/SKILL.md"), "utf8"), "read me");
    },
  },
  {
    says: "a guest without a workspace has a place of its own to work in [X2]",
    async holds({ guest }) {
      const { run } = await guest({ workspace: undefined });
      assert.deepEqual(
        await run("bash", "pwd; echo $HOME; ls /workspace; echo x > a.txt; cat a.txt"),
        done({ stdout: "/tmp\n/tmp\nx\n" }),
      );
    },
  },
  {
    says: "a Python can be started before it is needed, with what it will import [X1]",
    async holds({ guest }) {
      const tried = await guest();
      tried.guest.warm("a", ["decimal", "no_such_module"]);
      const code = "import sys; ('decimal' in sys.modules, 'decimal' in globals())";
      assert.deepEqual(await tried.run("python", code), done({ results: ["text (True, False)"] }));
    },
  },
  {
    everywhere: true,
    says: "what a guest uses is told, and an agent's Python that is reset gives its memory back [X1][X4]",
    async holds({ guest }) {
      const tried = await guest();
      const before = await tried.guest.usage();
      await tried.run("python", "hoard = bytearray(100_000_000)\nfor i in range(3_000_000): pass");
      const full = await tried.guest.usage();
      await tried.guest.reset("a");
      const free = await tried.guest.usage();
      assert.deepEqual([before.processes, full.processes, free.processes, before.memoryBytes > 0], [1, 2, 1, true]);
      assert.ok(full.memoryBytes - before.memoryBytes > 95_000_000, JSON.stringify([before, full]));
      assert.ok(free.memoryBytes - before.memoryBytes < 20_000_000, JSON.stringify([before, free]));
      assert.ok(full.cpuMs > before.cpuMs && free.cpuMs >= full.cpuMs, JSON.stringify([before, full, free]));
    },
  },
  {
    everywhere: true,
    says: "what nobody looks after is ended, and guests that are looked after go on [X3]",
    async holds({ provider, guest }) {
      const tried = await guest();
      assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
      assert.deepEqual(await tried.run("bash", "echo on"), done({ stdout: "on\n" }));
    },
  },
];

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

/** How executions end that do not end by themselves. */
const endPromises: readonly Promised[] = [
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
    everywhere: true,
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
    everywhere: true,
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
    everywhere: true,
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
    everywhere: true,
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

/**
 * What every `SandboxProvider` promises. `open` answers a provider with nothing in it; it is asked for more than one. A brief
 * contract holds what depends on the provider: order, files, limits and end. What the supervisor inside does for all of them
 * is tried once, in the sandbox of this machine, and with real engines and clusters, whose images have another system.
 */
export function providerContract(
  name: string,
  open: () => Promise<ProviderUnderTest>,
  options: { readonly skip: string | false; readonly isBrief?: true },
): void {
  let shared: Promise<ProviderUnderTest> | undefined;
  after(async () => (await shared)?.provider.close());
  const all: readonly Promised[] = [orderPromises, executionPromises, endPromises, lifePromises].flat();
  const promises = options.isBrief ? all.filter(({ everywhere }) => everywhere) : all;
  for (const { says, holds } of promises) {
    test(`${name}: ${says}`, { skip: options.skip }, async (t) => {
      shared ??= open();
      await holds(placeFor(t, await shared, open));
    });
  }
}
