import assert from "node:assert/strict";
import { test } from "node:test";
import { chatTitle } from "./begin-chat.ts";

test("a conversation is named by the beginning of what was said, on one line [C4]", () => {
  assert.equal(chatTitle("\n\n  sum it\t\n up, please \n"), "sum it up, please");
  assert.equal(chatTitle("😀".repeat(51)), "😀".repeat(50));
  assert.equal(chatTitle(" \n"), "");
});
