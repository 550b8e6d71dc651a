import assert from "node:assert/strict";
import { test } from "node:test";
import { failedResult, startDemoTalk, type TalkOptions } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const present = { "uploads/x.csv": "n\n1\n", "outputs/two words.txt": "x" };
const talk = (results: TalkOptions["results"] = {}) =>
  startDemoTalk(reply, present, {
    and: ["run_bash_command"],
    results: { run_bash_command: "(no output)", ...results },
  });
const shell = (command: string) => ["run_bash_command", { command }];

test("who tells the demo model to delete a file makes it call the shell, in both languages [M5][H1]", async () => {
  const cases: [prompt: string, command: string, told: RegExp][] = [
    ["delete uploads/x.csv", "rm -- uploads/x.csv", /I deleted `uploads\/x\.csv`\. `\/undo` undoes it\.$/],
    ["Please remove uploads/x.csv.", "rm -- uploads/x.csv", /I deleted `uploads\/x\.csv`/],
    ["删除 uploads/x.csv", "rm -- uploads/x.csv", /已删除 `uploads\/x\.csv`。/],
    ["请把 uploads/x.csv 删掉", "rm -- uploads/x.csv", /已删除 `uploads\/x\.csv`。/],
    ['delete "outputs/two words.txt"', "rm -- 'outputs/two words.txt'", /I deleted `outputs\/two words\.txt`/],
  ];
  for (const [prompt, command, told] of cases) {
    const { calls, text } = await talk().say(prompt);
    assert.deepEqual(calls, [shell(command)], prompt);
    assert.match(text, told, prompt);
  }
  const named = await talk().say("delete x.csv");
  assert.deepEqual(named.calls.at(-1), shell("rm -- uploads/x.csv"));
});

test("a file that is not there is not deleted at a guess: what is there is told, and nobody is asked [M5]", async () => {
  const { calls, text } = await talk().say("delete notes.txt");
  assert.deepEqual(
    calls.map(([name]) => name),
    ["list_files", "list_files", "find_files"],
  );
  assert.match(text, /I do not know which file you mean\. There are:\n\n/);
});

test("what was rejected or did not work is not told as done [M5][H2]", async () => {
  const rejected = failedResult(makeFailure("tool_rejected", { tool: "run_bash_command", why: ": keep it" }));
  const left = await talk({ run_bash_command: rejected }).say("delete uploads/x.csv");
  assert.match(left.text, /You rejected `run_bash_command`, so I left it\.$/);
  const failed = await talk({ run_bash_command: "Command failed (exit code 1)\nrm: no" }).say("删除 uploads/x.csv");
  assert.match(failed.text, /`uploads\/x\.csv` 没有删掉/);
});

test("what only sounds like deleting a file deletes none [M5]", async () => {
  for (const prompt of ["remove my doubts", "how do I delete an account?", "删除我的烦恼"]) {
    const { calls } = await talk().say(prompt);
    assert.deepEqual(calls, [], prompt);
  }
});
