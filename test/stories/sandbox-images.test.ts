import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "../world/events.ts";
import { mountsBelow, withImages } from "../world/images.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { type Platform, startPlatform, told } from "../world/platform.ts";
import { makeHome } from "../world/program.ts";
import { agentyard } from "../world/pty.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { filesOf, newConversation, undo, writes } from "../world/undo.ts";
import { startYard } from "../world/yard.ts";

const env = {
  AGENTYARD_SANDBOX_DISK: "image",
  AGENTYARD_WORKSPACE_BYTES_MAX: `${32 * 1024 ** 2}`,
  AGENTYARD_WORKSPACE_FILES_MAX: "500",
};
const skip = { skip: cannotRunCode };
const user = "kim";
const files = `/sessions/sb-session-${user}/files`;

/** Fills something up until there is no room, and tells how often it could. */
const filling = (step: string) => `
import errno, os
done, held = 0, []
try:
    while True:
        ${step}
        done += 1
except OSError as error:
    print(errno.errorcode[error.errno], done)
`;
/** Each the attack of that number in the design study. */
const bombs = {
  "44 (large files)": 'open("temp/large", "ab", buffering=0).write(b"x" * 2**20)',
  "45 (many files)": 'open(f"temp/{done}", "x").close()',
  "48 (files without a name)":
    'held.append(open("temp/held", "wb", buffering=0)); os.unlink("temp/held"); held[-1].write(b"x" * 2**20)',
  "95 (attributes)": 'os.setxattr(os.open(f"temp/{done}", os.O_CREAT), "user.a", b"x" * 3000)',
};

test(
  "in an image attacks 44, 45, 48 and 95 on the disk come to an end by themselves, and others do not notice [X4]",
  skip,
  withImages(async (t) => {
    const platform = await startPlatform(makeHome(t, { env }));
    for (const [name, step] of Object.entries(bombs)) {
      const conversation_id = `bomb-${name.slice(0, 2)}`;
      const ran = await platform.run(user, filling(step), { conversation_id });
      const [, code, times] = /^(\w+) (\d+)\n$/.exec(ran.stdout) ?? [];
      assert.deepEqual([ran.status, code], ["completed", "ENOSPC"], `${name}: ${ran.stdout}${ran.stderr}`);
      assert.ok(Number(times) > 20 && Number(times) <= 500, `${name}: ${times}`);
      const other = await platform.run(user, 'print(open("outputs/a", "w").write("x" * 9))', {
        conversation_id: "other",
      });
      assert.deepEqual(told(other), { status: "completed", stdout: "9\n", stderr: "" }, name);
      const removed = await platform.run(
        user,
        "import shutil, os\nfor n in os.listdir('temp'): os.remove('temp/' + n)",
        { conversation_id },
      );
      assert.deepEqual(told(removed), { status: "completed", stdout: "", stderr: "" }, name);
    }
  }),
);

test(
  "files in an image come and go over HTTP and survive a kill; nothing stays mounted, and deleting leaves nothing [S3][S6][X1]",
  skip,
  withImages(async (t) => {
    const home = makeHome(t, { env });
    const data = join(home.folder, "data");
    let platform = await startPlatform(home);
    await upload(platform, "conv", "city,sold\nBonn,3\n");
    const code = 'open("outputs/b.txt", "w").write(open("uploads/temparea/data.csv").read() * 2)';
    const ran = await platform.run(user, code, { conversation_id: "conv" });
    assert.deepEqual(told(ran), { status: "completed", stdout: "", stderr: "" });
    await platform.start(user, "import time; time.sleep(1000)", { conversation_id: "conv" });
    const own = ["mounted/workspace/conv", "workspace/conv"];
    assert.deepEqual(mountsBelow(data).sort(), own);

    platform.service.child.kill("SIGKILL");
    await platform.service.ended;
    platform = await startPlatform(home);
    const sent = await platform.send("GET", `${files}/conv/outputs/b.txt`);
    assert.equal(`${sent.bytes}`, "city,sold\nBonn,3\n".repeat(2));
    await upload(platform, "conv", "city,sold\nUlm,4\n");
    const again = await platform.run(user, 'print(open("uploads/temparea/data.csv").read())', {
      conversation_id: "conv",
    });
    assert.equal(again.stdout, "city,sold\nUlm,4\n\n");
    await upload(platform, "stays", "a,b\n");
    assert.deepEqual(mountsBelow(data).sort(), [
      "mounted/workspace/conv",
      "mounted/workspace/stays",
      ...own.slice(1),
      "workspace/stays",
    ]);
    const headers = { "x-account-id": user };
    assert.equal((await platform.send("DELETE", "/conversations/conv", { headers })).status, 204);
    await until("the image is gone", () => !existsSync(join(data, "images/workspace/conv")));
    await until("and its mounts", () => mountsBelow(data).every((place) => !place.endsWith("conv")));
    await platform.stop();
    assert.deepEqual([mountsBelow(data), readdirSync(join(data, "workspace"))], [[], []]);
  }),
);

async function upload(platform: Platform, conversation: string, text: string): Promise<void> {
  const form = new FormData();
  form.set("conversation_id", conversation);
  form.set("subdir", "temparea");
  form.set("file", new File([text], "data.csv"));
  const sent = await platform.send("POST", `${files}/upload`, { body: form });
  assert.equal(sent.status, 200, `${sent.bytes}`);
}

test(
  "undo gives back what a program did to files in an image, with exact bytes and modes [W12]",
  skip,
  withImages(async () => {
    const code = `
import os
os.remove("outputs/gone.txt")
open("outputs/changed.txt", "w").write("by a program")
os.chmod("outputs/mode.txt", 0o600)
os.makedirs("outputs/new/deep")
open("outputs/new/deep/made.txt", "w").write("new")
`;
    await using model = await modelServer([
      calls(writes("outputs/gone.txt", "1"), writes("outputs/changed.txt", "2"), writes("outputs/mode.txt", "3")),
      says("written"),
      calls(["execute_code", { code }]),
      says("done"),
    ]);
    await using yard = await startYard({ model, runsCode: true, approves: true, env });
    const conversation = await newConversation(yard);
    await yard.ask("write", { conversation });
    const before = filesOf(yard, conversation);
    await yard.ask("run", { conversation });
    const made = ["outputs/changed.txt", "outputs/gone.txt", "outputs/mode.txt", "outputs/new/deep/made.txt"];
    const { restored } = await undo(yard, conversation);
    assert.deepEqual(
      restored.map(({ path }) => path),
      made,
    );
    assert.deepEqual(filesOf(yard, conversation), before);
    assert.equal(mountsBelow(yard.data).length, 2);
  }),
);

test("where images cannot be mounted the start is refused with advice, and the doctor says the same [X3][P2][P5]", async (t) => {
  const isRoot = process.geteuid?.() === 0;
  const why = isRoot ? "this machine does not mount one (mount: " : "only root can mount images of disks";
  const started = await withoutMounts(t, ["run", "--json", "hello"]);
  assert.equal(started.code, 3, started.said);
  assert.match(started.said, /"kind":"images_unusable"/);
  assert.ok(started.said.includes(`sandbox_platform.disk is image, and ${why}`), started.said);
  assert.match(started.said, /or set sandbox_platform\.disk to folder\./);
  const examined = await withoutMounts(t, ["doctor"]);
  assert.equal(examined.code, 1);
  assert.match(
    examined.said,
    /✗ sandbox_platform\.disk is image, and .*\n {2}→ .*, or set sandbox_platform\.disk to folder\./,
  );
});

/** As in a container: somebody is root there, and still may not mount anything. */
async function withoutMounts(t: TestContext, words: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), "run-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "data"), { mode: 0o700 });
  const command = [process.execPath, agentyard, ...words];
  const dropped = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--", ...command];
  const [program = "", ...args] = process.geteuid?.() === 0 ? dropped : command;
  const { PATH = "" } = process.env;
  const child = spawn(program, args, {
    cwd: home,
    env: { PATH, HOME: home, TMPDIR: home, AGENTYARD_DATA: join(home, "data"), LANG: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  return { code, said };
}
