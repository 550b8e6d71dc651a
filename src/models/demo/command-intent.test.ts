import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoTalk } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const talk = () => startDemoTalk(reply, {}, { and: ["run_bash_command"], results: { run_bash_command: "hello" } });

test("who tells the demo model to run a command sees it run, and what came back, in both languages [M5][H1]", async () => {
  const cases: [prompt: string, command: string, told: RegExp][] = [
    ["run echo hello", "echo hello", /this came back:[\s\S]*hello/],
    ["Please execute the command `seq 3 | wc -l`.", "seq 3 | wc -l", /this came back:/],
    ["运行 ls -l", "ls -l", /返回的是：[\s\S]*hello/],
    ["请执行命令：`date`", "date", /返回的是：/],
  ];
  for (const [prompt, command, told] of cases) {
    const { calls, text } = await talk().say(prompt);
    assert.deepEqual(calls, [["run_bash_command", { command }]], prompt);
    assert.match(text, told, prompt);
  }
});

test("what only sounds like a command is none [M5]", async () => {
  for (const prompt of ["run a company of agents", "run the numbers", "how do I run ls?", "运行一下这个项目"]) {
    const { calls } = await talk().say(prompt);
    assert.ok(!calls.some(([name]) => name === "run_bash_command"), prompt);
  }
});
