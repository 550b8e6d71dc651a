import { test } from "node:test";
import { compare, linesOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";

const judged = (rows: readonly [code: string, kinds: string][]) =>
  compare((code, facts) => codeFindings(code, "javascript", facts), rows);

test("neither a division nor a regular expression hides what stands beside it [H1]", () => {
  judged([
    ...linesOf(
      "delete",
      `x / fs.rmSync('outputs/a') / 2
       1 / fs.rmSync('outputs/a') / 2
       'a' / fs.rmSync('outputs/a') / 2
       f(x) / fs.rmSync('outputs/a') / 2
       a[0] / fs.rmSync('outputs/a') / 2
       x++ / fs.rmSync('outputs/a') / 2
       x-- / fs.rmSync('outputs/a') / 2
       x.in / fs.rmSync('outputs/a') / 2
       x.if(y) / fs.rmSync('outputs/a') / 2
       await (x) / fs.rmSync('outputs/a') / 2
       if (x) /'/.test(y); fs.rmSync('outputs/a')
       while (f(x)) /"/.test(y); fs.rmSync('outputs/a')
       for (const x of y) /\`/.test(x); fs.rmSync('outputs/a')
       for await (const x of y) /'/.test(x); fs.rmSync('outputs/a')
       with (x) /'/.test(y); fs.rmSync('outputs/a')
       if (x) y; else /'/.test(y); fs.rmSync('outputs/a')
       do /'/.test(y); while (fs.rmSync('outputs/a'))`,
    ),
    ["x\n/ fs.rmSync('outputs/a')", "delete"],
    ["f(x)\n\n  / fs.rmSync('outputs/a') / 2", "delete"],
    ...["return", "typeof", "case", "in", "throw", "void", "delete", "new", "instanceof"].map(
      (word): [string, string] => [`x ${word} /'/.y; fs.rmSync('outputs/a')`, "delete"],
    ),
  ]);
});

test("what stands in a regular expression is not run, and quotes in it open no text [H1]", () => {
  judged([
    ["x;\n/fs.rmSync('outputs\\/a')/.test(y)", ""],
    ["/ 2", ""],
    ...linesOf(
      "",
      `console.log((a + b) / 2, 'km/h')
       const r = /it's/.exec(x) // don't
       x = a ? /'/ : /"/
       [/'/, /b/].map(f)
       x + +/'/.exec('1')
       for (const x of y) { z / 2 }`,
    ),
  ]);
});

test("where a slash may divide or begin a regular expression nobody knows what runs, and a person is asked [H1]", () => {
  judged([
    ...linesOf(
      "unreadable",
      `x = {}/ fs.rmSync('outputs/a') /1
       of / fs.rmSync('outputs/a') / 1
       yield / fs.rmSync('outputs/a') / 1
       await / fs.rmSync('outputs/a') / 1`,
    ),
    ["{} /'/.test(y); fs.rmSync('outputs/a')", "delete unreadable"],
    ["if (x) {\n}\n/fs.rmSync('outputs\\/a')/.test(y)", "unreadable"],
    ["f(() => {}) / 2 + 'a/b'", ""],
    ["x = {} / 2", ""],
  ]);
});
