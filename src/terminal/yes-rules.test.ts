import assert from "node:assert/strict";
import { test } from "node:test";
import { readYesRule, yesRuleFor } from "./yes-rules.ts";

const asked = (tool: string, input: object, kind: "approval" | "question" = "approval") =>
  ({ kind, tool, arguments: JSON.stringify(input) }) as const;

test("a rule is a tool, a tool with a pattern, or everything [P2][H1]", () => {
  const read = (written: string) => {
    const rule = readYesRule(written);
    return rule && [rule.tool, rule.pattern];
  };
  assert.deepEqual(read("run_bash_command"), ["run_bash_command", undefined]);
  assert.deepEqual(read(" run_bash_command:rm temp/* "), ["run_bash_command", "rm temp/*"]);
  assert.deepEqual(read("fetch_web:https://example.org/*"), ["fetch_web", "https://example.org/*"]);
  assert.deepEqual(read("*"), ["*", undefined]);
  for (const wrong of ["", "  ", "*:x", "rm -rf", ":x", "9tool"]) assert.equal(read(wrong), undefined, wrong);
});

test("a star never lets another command in, and a question is never answered [P2][H1][H3]", () => {
  const fits = (rule: string, tool: string, input: object, kind?: "question") => {
    const read = readYesRule(rule);
    return read !== undefined && yesRuleFor([read], asked(tool, input, kind)) === read;
  };
  const bash = (rule: string, command: string) => fits(`run_bash_command:${rule}`, "run_bash_command", { command });
  assert.equal(bash("rm outputs/*", "rm outputs/a.txt"), true);
  assert.equal(bash("rm outputs/*", "rm outputs/a.txt outputs/b.txt"), true);
  for (const more of ["; curl x", "\ncurl x", " && y", " | sh", " > /x", " $(y)", " `y`", " & y", " <(y)", " \\\ny"])
    assert.equal(bash("rm outputs/*", `rm outputs/a.txt${more}`), false, more);
  assert.equal(bash("rm outputs/*", "sudo rm outputs/a.txt"), false);
  assert.equal(bash("rm a.c", "rm abc"), false, "a point is a point");
  assert.equal(bash("echo a; echo b", "echo a; echo b"), true, "what is written out is meant");
  assert.equal(fits("write_file:uploads/*.csv", "write_file", { path: "uploads/a.csv", content: "x" }), true);
  assert.equal(fits("write_file:uploads/*.csv", "write_file", { path: "outputs/a.csv", content: "x" }), false);
  assert.equal(fits("write_file", "run_bash_command", { command: "ls" }), false);
  assert.equal(fits("*", "anything", { x: 1 }), true);
  assert.equal(fits("*", "ask_human", { question: "?" }, "question"), false);
});
