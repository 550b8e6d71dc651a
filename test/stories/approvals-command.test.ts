import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testApproval } from "../../src/approvals-test.ts";
import { loadConfig } from "../../src/config/config.ts";
import { beginCommand, refuse } from "../../src/terminal/terminal.ts";
import { wordsFor } from "../../src/words/words.ts";
import { say } from "../world/decisions.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { startYard } from "../world/yard.ts";

/** What `agentyard approvals` answers in the folder of an operator, in this process. */
function makeProject(t: TestContext) {
  const home = makeHome(t);
  const places = { cwd: home.folder, homeDir: home.folder, programDir: home.folder, env: {} };
  const write = (name: string, text: string) => {
    const path = join(home.folder, ".config", "agentyard", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const run = async (...typed: string[]) => {
    const { streams, written } = openTestPipe("");
    const command = beginCommand(["approvals", ...typed], { ...streams, language: "en", version: "0.0.0" });
    if (command.name === "ended") return { code: command.code, ...written };
    const words = wordsFor(command.language ?? "en");
    const loaded = await loadConfig({ ...places, flags: {} });
    if (!loaded.ok) {
      const codes = loaded.failure.map((failure) => refuse(failure, { ...streams, command, words }));
      return { code: Math.max(...codes), ...written };
    }
    assert.ok(command.name === "approvals" && command.action === "test");
    const code = await testApproval(command, { ...streams, config: loaded.value, words });
    return { code, ...written };
  };
  return { ...home, write, run };
}

test("a script asks what the rules say of a call, and gets one object, without data or a server [P2][H1]", async (t) => {
  const { folder, run, start } = makeProject(t);
  const rm = ["approvals", "test", "--json", "run_bash_command", '{"command":"rm -rf outputs"}'];
  const asked = await start(...rm).ended;
  assert.deepEqual([asked.code, asked.errors, asked.output.split("\n").length], [0, "", 2]);
  const { verdict, layer, reason, findings, ...rest } = JSON.parse(asked.output);
  assert.deepEqual([verdict, layer, Object.keys(rest)], ["ask", "default", ["risk"]]);
  assert.match(reason, /^deletes something outside temp\/: rm -rf outputs/);
  assert.equal(findings[0].kind, "delete");
  const free = await run("test", "bash", '{"cmd":"rm -rf temp/x"}', "--json");
  assert.deepEqual(JSON.parse(free.output), {
    ...{ verdict: "allow", risk: "low", layer: "default", reason: "nothing asks for a decision", findings: [] },
  });
  assert.equal(existsSync(join(folder, "data")), false);
});

test("what a tool of the operator asks about is told, too, and use_tool counts as what it calls [P2][H1][T3]", async (t) => {
  const { run, write } = makeProject(t);
  const ask = '({ to }) => (to === "all" ? { reason: "it pays everybody", risk: "high" } : undefined)';
  write("tools/pay.mjs", `export default { name: "pay", description: "Pays.", ask: ${ask}, run: () => "" };`);
  const call = JSON.stringify({ name: "pay", arguments: { to: "all" } });
  const { verdict, risk, reason } = JSON.parse((await run("test", "--json", "use_tool", call)).output);
  assert.deepEqual([verdict, risk, reason], ["ask", "high", "it pays everybody"]);
});

test("a person reads the same in their language, with where a rule is set [P2][P4][H1]", async (t) => {
  const { run, write } = makeProject(t);
  write(
    "hitl_rules.yaml",
    "tools:\n  write_file:\n    rules:\n      - { pattern: draft, action: deny, reason: no drafts }\n",
  );
  const call = ["write_file", '{"path":"uploads/draft.md","content":"x"}'];
  assert.deepEqual((await run("test", ...call)).output.split("\n"), [
    "✗ Is never run",
    "Risk: high",
    "Said by: the rules of this tool",
    "Reason: no drafts (~/.config/agentyard/hitl_rules.yaml:4)",
    "Reason: writes into uploads/: uploads/draft.md",
    "",
  ]);
  const chinese = await run("test", ...call, "--lang", "zh");
  assert.equal(chinese.code, 0);
  assert.match(chinese.output, /^✗ 一律不执行\n风险：.+\n依据：该工具的规则\n/);
  assert.match(chinese.output, /原因：会写入 uploads\/：uploads\/draft\.md/);
});

test("facts of another place change the verdict, and a file with an unknown fact is refused [P2][H1]", async (t) => {
  const { run, write } = makeProject(t);
  const call = ["--json", "run_bash_command", '{"command":"frobnicate"}'];
  const verdict = async (facts: string) => {
    const { code, output, errors } = await run("test", ...call, "--facts", write("facts.json", facts));
    return code === 0 ? JSON.parse(output).verdict : `${code} ${errors}`;
  };
  assert.equal(await verdict("{}"), "allow");
  assert.equal(await verdict('{"contained": false, "network": true, "tainted": true}'), "ask");
  assert.match(
    await verdict('{"contaned": false, "network": 1}'),
    /^2 ✗ .*facts\.json is not a file of facts: network: must be true or false; has what is not known: contaned;/,
  );
  assert.match(await verdict("{"), /^2 ✗ .*facts\.json is not a file of facts: it is not JSON \(.*\); write/);
});

const wrong: [words: string[], code: number, says: RegExp][] = [
  [["test", "run_bash_comand", "{}"], 2, /There is no tool run_bash_comand\.[\s\S]*run_bash_command/],
  [["test", "run_bash_command", "{"], 2, /arguments of run_bash_command are not JSON/],
  [["test", "run_bash_command", '{"path":"x"}'], 2, /arguments of run_bash_command do not fit: command is missing/],
  [["test", "run_bash_command"], 2, /approvals test needs a tool and its arguments/],
  [["tset"], 2, /approvals cannot do “tset”; use one of: list, test, rules, revoke/],
  [["revoke"], 2, /approvals revoke needs the id of a rule/],
  [["list", "--facts", "x"], 2, /approvals list does not take “--facts”/],
];
test("a command line that cannot be carried out ends with an exit code and says what to do [P2]", async (t) => {
  const { run } = makeProject(t);
  for (const [typed, code, says] of wrong) {
    const ended = await run(...typed);
    assert.deepEqual([ended.code, ended.output], [code, ""], typed.join(" "));
    assert.match(ended.errors, says);
  }
});

test("a mistake in the rules is told with file and line, and ends with 3 [P5][P2]", async (t) => {
  const { run, write } = makeProject(t);
  write("hitl_rules.yaml", "global:\n  default_acton: ask\n");
  const ended = await run("test", "--json", "now", "{}");
  assert.equal(ended.code, 3);
  assert.match(ended.errors, /~\/\.config\/agentyard\/hitl_rules\.yaml:2: there is no setting global\.default_acton/);
  write("hitl_rules.yaml", "");
  write("checkers/a.mjs", "export default 1;");
  const broken = await run("test", "--json", "now", "{}");
  assert.equal(broken.code, 3);
  assert.match(broken.errors, /The checker ~\/\.config\/agentyard\/checkers\/a\.mjs cannot be used/);
});

test("what waits is listed, what was allowed always is listed, and revoked it is asked again [P2][H2][H4]", async (t) => {
  const model = await modelServer((request) =>
    stepOf(request) > 0 ? says("done") : calls(["run_bash_command", { command: "rm outputs/a.md" }]),
  );
  t.after(() => model.close());
  await using yard = await startYard({ model });
  const run = async (command: Parameters<typeof runInPipe>[2]) => {
    const pipe = openTestPipe("");
    const code = await runInPipe(pipe, yard, command);
    return { code, ...pipe.written };
  };
  const nothing = { code: 0, errors: "" };
  for (const [action, said] of [
    ["list", "Nothing waits for a decision.\n"],
    ["rules", "Nothing is allowed always.\n"],
  ] as const) {
    assert.deepEqual(await run({ name: "approvals", action, json: false }), { ...nothing, output: said });
    assert.deepEqual(await run({ name: "approvals", action, json: true }), { ...nothing, output: '{"items":[]}\n' });
  }
  const { conversation } = await yard.ask("tidy up");
  const listed = await run({ name: "approvals", action: "list", json: true });
  const [open] = JSON.parse(listed.output).items;
  assert.deepEqual([open.conversation, open.tool, open.findings[0].kind], [conversation, "run_bash_command", "delete"]);
  const lines = (await run({ name: "approvals", action: "list", json: false })).output;
  assert.match(lines, /^ {2}1\. .*run_bash_command.*rm outputs\/a\.md {2}\[[0-9a-f]{8} tidy up\]/);

  assert.deepEqual(await say(yard, open, { verdict: "approve", always: { scope: "user" } }), []);
  await yard.whenAtRest(conversation);
  const [rule] = JSON.parse((await run({ name: "approvals", action: "rules", json: true })).output).items;
  const rules = await run({ name: "approvals", action: "rules", json: false });
  assert.match(rules.output, new RegExp(`^ {2}${rule.id} {2}run_bash_command: exactly rm outputs/a\\.md`));
  assert.equal((await yard.ask("tidy up")).status, "idle");

  const revoked = await run({ name: "approvals", action: "revoke", rule: rule.id, json: true });
  assert.deepEqual(revoked, { code: 0, output: `{"revoked":"${rule.id}"}\n`, errors: "" });
  assert.equal((await yard.ask("tidy up")).status, "waiting");
  const gone = await run({ name: "approvals", action: "revoke", rule: rule.id, json: false });
  const errors = `✗ There is no rule ${rule.id}. \`agentyard approvals rules\` lists them.\n`;
  assert.deepEqual(gone, { code: 2, output: "", errors });
});
