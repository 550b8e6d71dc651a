import assert from "node:assert/strict";
import { mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { done, limits, type Promised } from "./sandbox-place.ts";

const writesToDisk = "head -c 4000000 /dev/zero > outputs/a; sync outputs/a";
/** The kernel's number for a file system in memory. */
const inMemory = 0x01021994;

/** What an execution gives back. */
export const executionPromises: readonly Promised[] = [
  {
    says: "an agent's Python keeps its names between executions, until it is reset; another agent has its own [X1]",
    async holds({ guest }) {
      const { run, guest: opened } = await guest();
      assert.deepEqual(await run("python", "x = 41"), done({}));
      assert.deepEqual(await run("python", "print(x+1)"), done({ stdout: "42\n" }));
      assert.deepEqual(await run("python", "'x' in globals()", { agent: "b" }), done({ results: ["text False"] }));
      await run("python", "x = 'of b'", { agent: "b" });
      await opened.reset("a");
      assert.deepEqual(await Promise.all([run("python", "'x' in globals()"), run("python", "x", { agent: "b" })]), [
        done({ results: ["text False"] }),
        done({ results: ["text 'of b'"] }),
      ]);
    },
  },
  {
    says: "bash and JavaScript run with both streams, their exit codes and signals [X1]",
    async holds({ guest }) {
      const { run } = await guest();
      const script = "console.log(1 + 1); console.error('e'); process.exit(4)";
      assert.deepEqual(
        await Promise.all([
          run("bash", "echo out; echo err >&2; exit 3"),
          run("bash", "kill -TERM $$"),
          run("javascript", script),
          run("python", "import sys; sys.exit(5)"),
        ]),
        [
          { stdout: "out\n", stderr: "err\n", results: [], end: "done 3" },
          { ...done({}), end: "done SIGTERM" },
          { stdout: "2\n", stderr: "e\n", results: [], end: "done 4" },
          { ...done({}), end: "done 5" },
        ],
      );
    },
  },
  {
    says: "a program reads what it was given as its input, and then the end [X1]",
    async holds({ guest }) {
      const { run } = await guest();
      const stdin = Buffer.from(`${"0123456789".repeat(100_000)}\n`);
      assert.deepEqual(
        await Promise.all([
          run("bash", "sleep 0.1; wc -c", { stdin }),
          run("python", "len(input())", { stdin }),
          run("javascript", "console.log(require('node:fs').readFileSync(0).length)", { stdin }),
          run("bash", "cat"),
        ]),
        [done({ stdout: "1000001\n" }), done({ results: ["text 1000000"] }), done({ stdout: "1000001\n" }), done({})],
      );
    },
  },
  {
    says: "output beyond its limit is cut and counted, and its beginning and its end are kept [X1][X4]",
    async holds({ guest }) {
      const { events } = await guest();
      const all = await events("bash", "echo first; head -c 300000 /dev/zero | tr '\\0' y; echo last; echo said >&2");
      const text = (stream: string) =>
        Buffer.concat(
          all.flatMap((event) => (event.kind === "output" && event.stream === stream ? [event.bytes] : [])),
        ).toString();
      const cuts = all.filter(({ kind }) => kind === "cut");
      assert.deepEqual(
        [text("stdout"), text("stderr"), cuts],
        [
          `first\n${"y".repeat(limits.outputBytesMax - 6)}`,
          "said\n",
          [
            {
              ...{ kind: "cut", stream: "stdout", bytes: 300_011 - limits.outputBytesMax },
              tail: Buffer.from(`${"y".repeat(65_536 - 5)}last\n`),
            },
          ],
        ],
      );
    },
  },
  {
    says: "programs start in the workspace, which is their home, with nothing of the server's around them [T6][Q1]",
    async holds({ guest }) {
      const { run, folder } = await guest({ env: { GIVEN: "yes", LD_PRELOAD: "/no.so" } });
      mkdirSync(join(folder, "uploads/temparea"));
      const { stdout } = await run("bash", "pwd; echo $HOME $AGENT_WORKSPACE_PATH $LANG $GIVEN $OWN; command -v ls", {
        env: { OWN: "too", BASH_ENV: "/no" },
      });
      assert.equal(stdout, "/workspace/c1\n/workspace/c1 /workspace/c1 C.UTF-8 yes too\n/usr/bin/ls\n");
      const names = (await run("bash", "compgen -e")).stdout.trim().split("\n").sort();
      const known =
        /^(AGENT_WORKSPACE_PATH|GIVEN|HOME|LANG|MPL\w+|OLDPWD|\w+_NUM_THREADS|PATH|PWD|PYTHON\w+|SHLVL|TMPDIR|XDG_\w+|_|PIP_\w+|npm_config_\w+)$/;
      assert.deepEqual(
        names.filter((name) => !known.test(name)),
        [],
      );
      const below = await run("python", "import os; os.getcwd()", { folder: "uploads/temparea" });
      assert.deepEqual(below, done({ results: ["text '/workspace/c1/uploads/temparea'"] }));
      assert.deepEqual(await run("bash", "pwd", { folder: "nowhere" }), {
        ...done({ stderr: "sandbox: there is no folder /workspace/c1/nowhere\n" }),
        end: "done 126",
      });
    },
  },
  {
    says: "python is there under both its names, and installers do not wait for a network that is not there [T6][X5]",
    async holds({ guest }) {
      const { run } = await guest();
      const names = "python -c 'import sys; print(sys.version_info[:2] >= (3, 8), sys.prefix)'; python3 -c 'print(3)'";
      assert.deepEqual(await run("bash", names), done({ stdout: "True /usr\n3\n" }));
      const settings =
        "echo $PIP_RETRIES $PIP_DISABLE_PIP_VERSION_CHECK $npm_config_fetch_retries $npm_config_update_notifier";
      assert.deepEqual(await run("bash", settings), done({ stdout: "0 1 0 false\n" }));
    },
  },
  {
    says: "an execution tells what it used, with the programs it started [X1]",
    async holds({ guest }) {
      const { events, folder } = await guest();
      // By its own clock: how much a machine computes in that time is its own affair.
      const spin = "end = time.process_time() + 0.05\nwhile time.process_time() < end: pass";
      const work = `import time\nb = bytearray(60_000_000)\n${spin}\ndel b`;
      const child = `import subprocess\n_ = subprocess.run(['python3', '-c', '''${work}'''])`;
      const used = async (language: "python" | "bash", code: string) => {
        const end = (await events(language, code)).at(-1);
        assert(end?.kind === "exited" && end.code === 0);
        return end.metrics;
      };
      for (const metrics of [
        await used("bash", `python3 -c '${work}'`),
        await used("python", work),
        await used("python", child),
      ]) {
        const { cpuMs, durationMs, memoryPeakBytes } = metrics;
        assert.ok(cpuMs >= 45 && durationMs >= 45 && memoryPeakBytes > 60_000_000, JSON.stringify(metrics));
      }
      const small = await used("python", "1");
      assert.ok(small.memoryPeakBytes > 1_000_000 && small.memoryPeakBytes < 60_000_000, JSON.stringify(small));
      const { writtenBytes } = await used("bash", writesToDisk);
      // What lies in memory is written to no disk.
      assert.equal(writtenBytes >= 4_000_000, statfsSync(folder).type !== inMemory, `${writtenBytes}`);
    },
  },
];
