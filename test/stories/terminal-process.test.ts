import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { agentyard } from "../world/pty.ts";

// The whole program as a script starts it: its input and output are pipes and files of the system.

function startScript(t: TestContext, model: ModelServer | undefined, script: string) {
  const home = mkdtempSync(join(tmpdir(), "agentyard-script-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const { PATH = "" } = process.env;
  const base =
    model === undefined
      ? {}
      : { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
  const env = { PATH, HOME: home, TMPDIR: home, AGENTYARD_DATA: join(home, "data"), LANG: "C.UTF-8", ...base };
  const child = spawn("/bin/sh", ["-c", script, "sh", process.execPath, agentyard], { cwd: home, env });
  const written = { output: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.errors += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code, ...written }));
  return { child, ended };
}

const askedFirst = (model: ModelServer) => String(model.asked[0]?.body.messages.at(-1)?.content);

// The program waits 0.3 s for what is piped in: here it lies in the pipe before the program begins.
const piped = "mkfifo pipe; exec 3<>pipe; printf 'the text\\n' >&3; exec 4<pipe 3>&-";

for (const [how, script] of [
  ["piped in", `${piped}; "$@" run explain this <&4`],
  ["a file", `printf 'the text\\n' > file; "$@" run explain this < file`],
  ["late, and waited for by -", `(sleep 1; echo 'the text') | "$@" run explain this -`],
] as const) {
  test(`text that is ${how} follows the message after a blank line [P2]`, async (t) => {
    await using model = await modelServer([says("It is a text.")]);
    const { code, output, errors } = await startScript(t, model, script).ended;
    assert.deepEqual([code, output, errors], [0, "It is a text.\n", ""]);
    assert.match(askedFirst(model), /^explain this\n\nthe text(\n|$)/);
  });
}

test("files are named from the folder in which the program is started, and from home [F3]", async (t) => {
  await using model = await modelServer([says("Read.")]);
  const named = `"$@" run 'read #work/a.txt #~/b.md' --file work/c.csv </dev/null`;
  const script = `mkdir work; echo A > work/a.txt; echo B > b.md; echo C > work/c.csv; ${named}`;
  const { code, output, errors } = await startScript(t, model, script).ended;
  assert.deepEqual({ code, output }, { code: 0, output: "Read.\n" });
  assert.deepEqual(errors.split("\n"), [
    "✓ work/a.txt → uploads/a.txt (text)",
    "✓ ~/b.md → uploads/b.md (markdown)",
    "✓ work/c.csv → uploads/c.csv (csv)",
    "",
  ]);
  assert.match(
    askedFirst(model),
    /^read #work\/a\.txt #~\/b\.md\n[\s\S]*Uploaded files:\n- a\.txt → uploads\/a\.txt \(text\)\n/,
  );
});

test("an input that stays open is not waited for, and that is said [P2]", async (t) => {
  await using model = await modelServer([says("Hello.")]);
  const { child, ended } = startScript(t, model, `"$@" run hi`);
  const { code, output, errors } = await ended;
  child.stdin.destroy();
  assert.deepEqual([code, output], [0, "Hello.\n"]);
  assert.match(errors, /^! Standard input is open, but nothing came/);
  assert.match(askedFirst(model), /^hi(\n|$)/);
});

test("an empty input says nothing [P2]", async (t) => {
  await using model = await modelServer([says("Hello.")]);
  const { code, errors } = await startScript(t, model, `"$@" run hi </dev/null`).ended;
  assert.deepEqual([code, errors], [0, ""]);
});

test("told to end while it waits for its input, run ends with 130 [P2]", async (t) => {
  const { child, ended } = startScript(t, undefined, `exec "$@" run -`);
  // More than lies between two processes: it is taken when somebody reads, and then more is waited for.
  await new Promise((resolve) => child.stdin.write("x".repeat(4_000_000), resolve));
  child.kill("SIGINT");
  assert.equal((await ended).code, 130);
});

for (const command of ["run hi </dev/null", "--help", "model"]) {
  test(`output that cannot be written is one line with what to do, and exit code 1: ${command} [P2][P4]`, async (t) => {
    const { code, errors } = await startScript(t, undefined, `"$@" ${command} >/dev/full`).ended;
    const cause = "The output cannot be written: ENOSPC: no space left on device, write.";
    const advice = "Free some space, or send it elsewhere. The command still goes on to its end.";
    assert.deepEqual([code, errors], [1, `✗ ${cause} ${advice}\n`]);
  });
}
