import assert from "node:assert/strict";
import { test } from "node:test";
import { failedResult, startDemoTalk } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const talk = (result = "42") =>
  startDemoTalk(reply, {}, { and: ["execute_code", "run_bash_command"], results: { execute_code: result } });

const wishes: [prompt: string, language: string, code: string][] = [
  ["run python: print(6 * 7)", "python", "print(6 * 7)"],
  ["Please run this Python code:\nfor i in range(3):\n    print(i)", "python", "for i in range(3):\n    print(i)"],
  ["run code: print('a: b')", "python", "print('a: b')"],
  ["execute some code in JavaScript: console.log(1)", "javascript", "console.log(1)"],
  ["run print(2 ** 10)", "python", "print(2 ** 10)"],
  ["run python: `print(1)`", "python", "print(1)"],
  ["python: import math; print(math.pi)", "python", "import math; print(math.pi)"],
  ["bash: ls -l", "bash", "ls -l"],
  ["```python\nprint(1)\n```", "python", "print(1)"],
  ["Can you run this?\n```js\nconsole.log(1)\n```", "javascript", "console.log(1)"],
  ["```\nprint(1)\n```\nexecute it please", "python", "print(1)"],
  ["运行 python：print(6 * 7)", "python", "print(6 * 7)"],
  ["用 Python 运行：print(1)", "python", "print(1)"],
  ["请运行这段代码：\nprint('你好')", "python", "print('你好')"],
  ["运行 python x", "python", "x"],
  ["执行 JavaScript 代码：console.log(1)", "javascript", "console.log(1)"],
  ["What is 17 * 23?", "python", "print(17 * 23)"],
  ["calculate (1 + 2) ^ 3", "python", "print((1 + 2) ** 3)"],
  ["12×3÷4", "python", "print(12*3/4)"],
  ["计算 3 - 1.5", "python", "print(3 - 1.5)"],
  ["17 + 4 等于多少？", "python", "print(17 + 4)"],
];
for (const [prompt, language, code] of wishes)
  test(`the demo model runs code that it is given: ${JSON.stringify(prompt)} [M5][X1]`, async () => {
    const { calls, text } = await talk().say(prompt);
    assert.deepEqual(calls, [["execute_code", { language, code }]]);
    assert.match(text, /(this came back|返回的是)[:：]\n\n```\n42\n```$/);
  });

test("what only looks like code or a sum is none [M5]", async () => {
  const prompts = [
    "what is python?",
    "运行 pythonic things",
    "run the numbers",
    "What is this?\n```python\nprint(1)\n```",
    "```\njust a text\n```",
    "run this:\n```python\n1\n```\nand this:\n```python\n2\n```",
    "```rust\nfn main() {}\n```",
    "run code:",
    "2026-11-18",
    "1.2.3",
    "+49 (30) 123456",
    "42",
    "how do I run python code?",
  ];
  for (const prompt of prompts) {
    const { calls } = await talk().say(prompt);
    assert.ok(!calls.some(([name]) => name === "execute_code"), prompt);
  }
});

test("a program of any length is read at once, and one that is too long for an order is none [M5][Q2]", async () => {
  const long = `print(${"1".repeat(49_980)})`;
  const { calls } = await talk().say(`python: ${long}`);
  assert.deepEqual(calls, [["execute_code", { language: "python", code: long }]]);
  assert.deepEqual((await talk().say(`python: ${long}${"2".repeat(100)}`)).calls, []);
  assert.deepEqual((await talk().say(`run ${"this ".repeat(9_000)}`)).calls, []);
  assert.deepEqual((await talk().say(`${"(1+".repeat(16_000)}`)).calls, []);
});

test("a text that is nearly an order is read at once, whatever it repeats [M5][Q2]", async () => {
  const blanks = " ".repeat(45_000);
  const texts = [
    ...["算".repeat(290), "请帮我".repeat(90), `算${"算".repeat(48_000)}`, `1${" + 1".repeat(10_000)}`],
    ...[`运行${blanks}x`, `运行 pythonic${blanks}x`, `run${blanks}python${blanks.slice(1_000)}x`.slice(0, 49_000)],
    ...[`python${blanks}x`, `run print(${")(".repeat(20_000)}`, `please ${"please, ".repeat(6_000)}`],
  ];
  for (const text of texts) assert.deepEqual((await talk().say(text)).calls, [], text.slice(0, 20));
});

test("a sum is as long as an order may be, and one that is longer is none [M5]", async () => {
  const sum = `${"1+".repeat(149)}11`;
  assert.deepEqual((await talk().say(sum)).calls, [["execute_code", { language: "python", code: `print(${sum})` }]]);
  assert.deepEqual((await talk().say(`${sum}1`)).calls, []);
});

test("why code did not run is told with what to do, in both languages [M5][X3][P4]", async () => {
  const away = makeFailure("sandbox_unavailable", { reason: "no bubblewrap", fix: "apt-get install bubblewrap" });
  const { text } = await talk(failedResult(away)).say("run python: print(1)");
  assert.match(text, /I cannot run code here: no bubblewrap To get it: apt-get install bubblewrap/);
  const rejected = failedResult(makeFailure("tool_rejected", { tool: "execute_code", why: "" }));
  assert.match(
    (await talk(rejected).say("run python: print(1)")).text,
    /You rejected running the code, so I left it\.$/,
  );
  assert.match((await talk(rejected).say("运行 python：print(1)")).text, /您拒绝了运行代码，所以我没有运行。$/);
});
