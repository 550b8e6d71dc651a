import assert from "node:assert/strict";
import { test } from "node:test";
import { createCallsInText } from "./calls-in-text.ts";

function read(written: string, pieceLength: number) {
  let text = "";
  const reader = createCallsInText(
    (name) => name === "read_file",
    (piece) => {
      text += piece;
    },
  );
  for (let at = 0; at < written.length; at += pieceLength) reader.push(written.slice(at, at + pieceLength));
  const calls = reader.end();
  return { text, calls };
}

const call = '{"name":"read_file","arguments":{"path":"a"}}';
const found = [{ name: "read_file", arguments: { path: "a" } }];

const cases: [what: string, written: string, text: string, calls: unknown[]][] = [
  ["a tagged call behind words", `Let me look. <tool_call>\n${call}\n</tool_call>`, "Let me look. ", found],
  ["two tagged calls", `<tool_call>${call}</tool_call>\n<tool_call>${call}</tool_call>`, "", [...found, ...found]],
  ["a tagged call that is not closed", `<tool_call>${call}`, "", found],
  ["a fenced call", `\`\`\`json\n${call}\n\`\`\``, "", found],
  ["a bare call", call, "", found],
  ["a bare list of calls", `[${call}]`, "", found],
  ["a call with parameters", '{"name":"read_file","parameters":{"path":"a"}}', "", found],
  ["JSON that is an answer", '{"answer":1}', '{"answer":1}', []],
  ["a call of a tool that was not declared", '{"name":"rm","arguments":{}}', '{"name":"rm","arguments":{}}', []],
  ["a fence with a program", "```js\nrun()\n```", "```js\nrun()\n```", []],
  ["words with half a tag", "a <tool_ b <tool_cal", "a <tool_ b <tool_cal", []],
  ["a tag without a call", "<tool_call>soon</tool_call>", "<tool_call>soon</tool_call>", []],
];

for (const [what, written, text, calls] of cases) {
  test(`where calls are looked for in text, ${what} is read the same at every cut [M3]`, () => {
    for (const length of [1, 3, written.length]) assert.deepEqual(read(written, length), { text, calls });
  });
}
