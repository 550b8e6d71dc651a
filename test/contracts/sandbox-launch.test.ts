import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canReach } from "../../src/sandbox/guest/sources.ts";
import {
  askPython,
  cannotStart,
  giveToOwner,
  isRoot,
  openHost,
  ownerUid,
  serverPath,
  startPython,
  workspaceFolder,
} from "./sandbox-guests.ts";

const conversation = (folder: string) => ({
  folder,
  inside: "/workspace/c1",
  writable: ["uploads", "outputs", "temp"],
});

test("code of a conversation writes uploads, outputs and temp, and nothing else anywhere [W6][S4][X3]", {
  skip: cannotStart,
}, async (t) => {
  const folder = workspaceFolder(t);
  for (const name of ["skills", "uploads", "outputs"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "skills/SKILL.md"), "read me");
  writeFileSync(join(folder, "uploads/a.csv"), "1,2\n");
  const found = await askPython(
    await openHost(t),
    `
def put(path):
    return error_of(lambda: open(path, "w").write("x"))
places = ["/workspace/c1/outputs", "/workspace/outputs", "/workspace/c1/temp", "/workspace/uploads", "/tmp", "/dev/shm",
  "/workspace/c1", "/workspace/c1/skills", "/workspace", "/", "/usr/lib", "/etc", "/dev", "/run"]
say({
  "written": {place: put(place + "/made.txt") for place in places},
  "read": [open("/workspace/uploads/a.csv").read(), open("skills/SKILL.md").read()],
  "moved": error_of(lambda: os.rename("/workspace/outputs/made.txt", "/workspace/c1/outputs/moved.txt")),
  "removed": error_of(lambda: os.rename("/workspace/c1/outputs", "/workspace/c1/gone")),
  "here": os.getcwd(), "workspaces": sorted(os.listdir("/workspace")),
})
`,
    { workspace: conversation(folder) },
  );
  const closed = "Read-only file system";
  assert.deepEqual(found, {
    written: {
      "/workspace/c1/outputs": null,
      "/workspace/outputs": null,
      "/workspace/c1/temp": null,
      "/workspace/uploads": null,
      "/tmp": null,
      "/dev/shm": null,
      "/workspace/c1": closed,
      "/workspace/c1/skills": closed,
      "/workspace": closed,
      "/": closed,
      "/usr/lib": closed,
      "/etc": closed,
      "/dev": closed,
      "/run": closed,
    },
    read: ["1,2\n", "read me"],
    moved: null,
    removed: closed,
    here: "/workspace/c1",
    workspaces: ["c1", "outputs", "temp", "uploads"],
  });
  assert.deepEqual(readdirSync(folder).sort(), ["outputs", "skills", "temp", "uploads"]);
  const { uid } = statSync(join(folder, "outputs/moved.txt"));
  assert.equal(uid, ownerUid ?? process.geteuid?.());
});

test("code of a task writes everywhere in its workspace and sees no other [W6][X1]", {
  skip: cannotStart,
}, async (t) => {
  const folder = workspaceFolder(t);
  const found = await askPython(
    await openHost(t),
    `
os.makedirs("deep/er")
open("deep/er/a.txt", "w").write("x")
say([os.listdir("/workspace"), os.listdir(".")])
`,
    { workspace: { folder, inside: "/workspace/agent-7", writable: "all" } },
  );
  assert.deepEqual(found, [["agent-7"], ["deep"]]);
  assert.equal(readFileSync(join(folder, "deep/er/a.txt"), "utf8"), "x");
});

test("a workspace below a folder that is closed to everybody else is mounted all the same [P1][X3]", {
  skip: cannotStart,
}, async (t) => {
  const closed = workspaceFolder(t);
  chmodSync(closed, 0o700);
  const folder = join(closed, "it's $(here)");
  mkdirSync(folder);
  const program = join(closed, "program");
  writeFileSync(program, "#!/bin/sh\necho ran\n", { mode: 0o755 });
  const host = await openHost(t);
  const code = `
import subprocess
open("outputs/a.txt", "w").write("x")
ran = subprocess.run(["/opt/program"], capture_output=True, text=True).stdout
say([ran, sorted(os.listdir(".")), [int(name) for name in os.listdir("/proc/1/fd") if name in "0123456789"]])
`;
  const inside = { workspace: conversation(folder), programs: [{ path: program, inside: "/opt/program" }] };
  // 4 is the listing itself.
  const expected = ["ran\n", ["outputs", "temp", "uploads"], [0, 1, 2, 3, 4]];
  assert.deepEqual(await askPython(host, code, inside), expected);
  const byName = { ...host, bwrap: { ...host.bwrap, hasBindFd: false } };
  assert.deepEqual(await askPython(byName, code, inside), expected);
  assert.equal(readFileSync("/proc/self/mountinfo", "utf8").includes("/mnt/0"), false);
});

test("a folder that was swapped for a link is not mounted, and the fault tells no path [W5][Q1]", {
  skip: cannotStart,
}, async (t) => {
  const folder = workspaceFolder(t);
  symlinkSync("/etc", join(folder, "outputs"));
  giveToOwner(folder);
  const started = await startPython(await openHost(t), "say(1)", { workspace: conversation(folder) });
  assert.deepEqual(started, {
    ok: false,
    failure: { why: "start_failed", said: "a folder cannot be opened: ENOTDIR" },
  });
});

test("nothing of the server is inside: no variable, no descriptor, no process, no name [Q1][X3]", {
  skip: cannotStart,
}, async (t) => {
  const host = await openHost(t);
  const found = await askPython(
    host,
    `
def target(name):
    try:
        return os.readlink("/proc/self/fd/" + name).split(":")[0]
    except OSError:
        return None
opened = {name: target(name) for name in os.listdir("/proc/self/fd")}
say({
  "env": dict(os.environ), "opened": {name: to for name, to in opened.items() if to not in (None, "/dev/null")},
  "processes": [name for name in os.listdir("/proc") if name.isdigit()], "name": os.uname().nodename, "user": [os.getuid(), os.getgid()],
})
`,
    { id: "g1", env: { LANG: "C.UTF-8" } },
  );
  assert.deepEqual(found, {
    env: { AGENTYARD_GUEST: `${host.installation}.g1`, LANG: "C.UTF-8", PWD: "/tmp" },
    opened: { 1: "socket", 2: "socket", 3: "socket" },
    processes: ["1"],
    name: "sandbox",
    user: [1000, 1000],
  });
});

test("a descriptor that the server was started with does not get in [X3]", { skip: cannotStart }, async (t) => {
  const folder = workspaceFolder(t);
  writeFileSync(join(folder, "secret.txt"), "secret");
  const secret = openSync(join(folder, "secret.txt"), "r");
  const planted = new Array<"ignore" | number>(41).fill("ignore");
  planted[40] = secret;
  const code = `say(sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name) and os.readlink("/proc/self/fd/" + name).startswith("/") and os.readlink("/proc/self/fd/" + name) != "/dev/null" and not os.readlink("/proc/self/fd/" + name).startswith("/proc")))`;
  const { stdout, stderr } = spawnSync(process.execPath, [serverPath, "ask", code], {
    stdio: ["ignore", "pipe", "pipe", ...planted.slice(3)],
    encoding: "utf8",
  });
  assert.deepEqual([stdout, stderr], ["[]\n", ""]);
});

test("a variable cannot smuggle in a mount [X3]", { skip: cannotStart }, async (t) => {
  const env = { A: "b\0--ro-bind\0/\0/host" };
  await assert.rejects(startPython(await openHost(t), "say(1)", { env }), /no text for a guest holds a NUL/);
});

const ordinaryUid = 54_322;
const isClosed = ![serverPath, process.execPath].every((path) => canReach(path, ordinaryUid));

test("an ordinary user has guests too, with the same walls [X3]", {
  skip: cannotStart || (isRoot && isClosed && "other users cannot get to this folder"),
}, () => {
  const code = `
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
say([os.getuid(), os.getpid(), status["CapEff"], status["NoNewPrivs"], status["Seccomp"], error_of(lambda: open("/x", "w"))])
`;
  const { stdout, stderr } = spawnSync(process.execPath, [serverPath, "ask", code], {
    ...(isRoot ? { uid: ordinaryUid, gid: ordinaryUid } : {}),
    cwd: "/",
    env: {},
    encoding: "utf8",
  });
  const answer = [1000, 1, "0000000000000000", "1", "2", "Read-only file system"];
  assert.deepEqual([stdout, stderr], [`${JSON.stringify(answer)}\n`, ""]);
});
