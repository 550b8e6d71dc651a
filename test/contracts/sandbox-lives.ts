import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { conversation, done, hostFolder, type Promised, triedGuest, wantedGuest } from "./sandbox-place.ts";

/** How guests live beside each other. */
export const lifePromises: readonly Promised[] = [
  {
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
    says: "eight guests open at the same time, each with a name of its own [X4]",
    async holds({ provider, workspace, uid }) {
      const opened = await Promise.all(
        Array.from({ length: 8 }, (_, number) =>
          provider.open(wantedGuest({ workspace: conversation(workspace(), `c${number}`), uid: uid(number) })),
        ),
      );
      const said = await Promise.all(
        opened.map(async (result) => {
          assert.ok(result.ok, JSON.stringify(result));
          const { stdout } = await triedGuest(result.value).run("bash", "pwd");
          await result.value.close("idle");
          return stdout;
        }),
      );
      assert.deepEqual(
        said,
        Array.from({ length: 8 }, (_, number) => `/workspace/c${number}\n`),
      );
    },
  },
  {
    says: "what nobody looks after is ended, and guests that are looked after go on [X3]",
    async holds({ provider, guest }) {
      const tried = await guest();
      assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
      assert.deepEqual(await tried.run("bash", "echo on"), done({ stdout: "on\n" }));
    },
  },
];
