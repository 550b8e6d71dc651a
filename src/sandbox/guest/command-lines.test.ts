import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bareSupervisor, done } from "../../../test/world/bare-supervisor.ts";
import { bareGuest } from "./bare-guest.testing.ts";

test("code does not stand on a command line of the host, where everybody can read it, and runs as if it did [X3][X1]", async (t) => {
  const { workspace, run } = await guestWith(t);
  const gate = join(workspace, "gate");
  execFileSync("mkfifo", [gate]);
  const secret = `secret${"x".repeat(9)}`;
  for (const [language, code] of [
    ["bash", `: ${secret}; echo $$ > gate; cat gate`],
    [
      "javascript",
      `fs.writeFileSync("gate", String(process.pid)); console.log(fs.readFileSync("gate", "utf8"), "${secret}".length)`,
    ],
    [
      "javascript",
      `import fs from "node:fs"; fs.writeFileSync("gate", String(process.pid)); fs.readFileSync("gate"); "${secret}"`,
    ],
  ] as const) {
    const running = run(code, { language });
    const lines = cmdlineOf(Number(await readFile(gate, "utf8")));
    await writeFile(gate, "go on");
    assert.equal((await running).end, "done 0");
    assert.deepEqual([lines.length > 1, lines.includes(secret)], [true, false], language);
  }
  const own = `echo "$0 $# $LINENO \${agentyard_code-none} \${REPLY-none}"\nls /proc/self/fd | wc -l\nnope`;
  const { stdout, stderr } = await run(own);
  assert.deepEqual([stdout, stderr], ["bash 0 1 none none\n4\n", "bash: line 3: nope: command not found\n"]);
  await writeFile(join(workspace, "x.mjs"), "export const x = 5;");
  const language = "javascript";
  for (const js of ['import { x } from "./x.mjs"; console.log(x)', 'console.log((await import("./x.mjs")).x)'])
    assert.deepEqual(await run(js, { language }), done({ stdout: "5\n" }));
  assert.deepEqual(
    await run('import("./x.mjs").then(({ x }) => console.log(x, require("./x.mjs").x, typeof code))', { language }),
    done({ stdout: "5 5 undefined\n" }),
  );
  assert.match(
    (await run("\nthrow new Error('boom')", { language })).stderr,
    /^\[eval\]:2\nthrow[\s\S]+\n\nError: boom\n/,
  );
  const long = `/*${"x".repeat(200_000)}*/ console.log("long")`;
  assert.deepEqual(await run(long, { language }), done({ stdout: "long\n" }));
});

function cmdlineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

const guestWith = (t: TestContext) => bareGuest(bareSupervisor(t));
