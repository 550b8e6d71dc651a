import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { makeHome } from "../world/program.ts";

// The world is made to break under the program: what follows is what its user sees of a mistake of ours.

test("a mistake of ours ends the command in words, with an id that the log file has, and with 1 [O1][P2]", async (t) => {
  const home = brokenHome(t, 'Object.defineProperty(process.stdout, "isTTY", { get: planted });');
  const { code, output, errors } = await home.start("model").ended;
  const [, id = "", logFile = ""] =
    /^✗ Something went wrong inside AgentYard \(error ([0-9a-f]{8})\)\. .*\nLog file: (\S+)\n$/.exec(errors) ?? [];
  assert.deepEqual([code, output, id === ""], [1, "", false], errors);
  const line = readFileSync(logFile, "utf8")
    .split("\n")
    .find((one) => one.includes(`the command broke down (${id})`));
  assert.match(line ?? "", /planted/);
});

test("before there is a log file the details are told on the screen, in the user's language [O1][P2]", async (t) => {
  const home = brokenHome(t, "process.cwd = planted;", { AGENTYARD_LANG: "zh" });
  const { code, output, errors } = await home.start("model").ended;
  assert.deepEqual([code, output], [1, ""]);
  assert.match(errors, /^✗ Something went wrong inside AgentYard .*\n.*here they are: Error: planted\n {4}at /);
  const late = brokenHome(t, "fs.accessSync = planted; sync();", { AGENTYARD_LANG: "zh" });
  assert.match(
    (await late.start("model").ended).errors,
    /^✗ AgentYard 内部出错了（错误编号 [0-9a-f]{8}）。.*\n.*详情如下：Error: planted\n/,
  );
});

test("what breaks where nobody waits for it ends the process in the same words [O1]", async (t) => {
  const home = brokenHome(
    t,
    `const write = process.stdout.write;
    process.stdout.write = function (text, ...more) {
      if (String(text).includes("Ctrl+C")) setImmediate(planted);
      return write.call(this, text, ...more);
    };`,
  );
  const { code, errors } = await home.start("serve", "--port", "0").ended;
  assert.equal(code, 1);
  assert.match(errors, /✗ Something went wrong inside AgentYard \(error [0-9a-f]{8}\)\. .*\nLog file: \S+\n$/);
});

test("a server whose start breaks when it listens already ends, and does not stay as one that nobody knows of [O1][P2]", async (t) => {
  const home = brokenHome(
    t,
    `const write = fs.writeFileSync;
    fs.writeFileSync = (path, text, ...more) =>
      String(text).includes('"address":"http:') ? planted() : write(path, text, ...more);
    sync();`,
  );
  const { code, output, errors } = await home.start("serve", "--port", "0").ended;
  assert.deepEqual([code, output], [1, ""]);
  assert.match(errors, /✗ Something went wrong inside AgentYard \(error [0-9a-f]{8}\)\. .*\nLog file: \S+\n$/);
});

function brokenHome(t: TestContext, fault: string, env: Record<string, string> = {}) {
  const made = makeHome(t);
  const file = join(made.folder, "fault.mjs");
  const planted = 'const planted = () => { throw new Error("planted"); };';
  writeFileSync(
    file,
    `import fs from "node:fs";\nimport { syncBuiltinESMExports as sync } from "node:module";\n${planted}\n${fault}\n`,
  );
  return makeHome(t, { env: { ...env, NODE_OPTIONS: `--import=${pathToFileURL(file).href}` } });
}
