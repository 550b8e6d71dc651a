import assert from "node:assert/strict";
import { test } from "node:test";
import { typedChat } from "./typed-chat.ts";

test("a chat is drawn at once where nothing but a chat was typed [U1]", () => {
  const elsewhere = { isElsewhere: true };
  const here = { isElsewhere: false };
  for (const [argv, wanted] of [
    [[], here],
    [["-c"], here],
    [["--continue", "--slot", "base"], here],
    [["-r", "0123abcd"], here],
    [["--data", "/tmp/yard", "--lang", "zh"], { ...here, data: "/tmp/yard", lang: "zh" }],
    [["--lang=en", "--data=here"], { ...here, data: "here", lang: "en" }],
    [["--url", "http://127.0.0.1:4820"], elsewhere],
  ] as const)
    assert.deepEqual(typedChat(argv), wanted, argv.join(" "));
});

test("what may have to be refused, and every other command, is read in full before anything is drawn [U1][P2]", () => {
  for (const argv of [
    ["run", "hello"],
    ["--help"],
    ["-v"],
    ["--plain"],
    ["--screen-reader"],
    ["--nonsense"],
    ["nonsense"],
    ["--lang", "fr"],
    ["--lang"],
    ["--data", ""],
    ["--data="],
    ["--continue=yes"],
    ["--model", "base"],
    ["-x"],
    ["--"],
    ["-cx"],
  ])
    assert.equal(typedChat(argv), undefined, argv.join(" "));
});
