import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatBody } from "../../protocol/chat-routes.ts";
import { chatTitle } from "./begin-chat.ts";
import { documentError } from "./chat-error.ts";
import { chatWanted } from "./request.ts";

const usual = { appKey: "app", streams: true };
const query = "hello";

/** What is to be done, without what says nothing. */
function what(body: Parameters<typeof chatWanted>[0]): unknown {
  const read = chatWanted(body, usual);
  return read.ok ? JSON.parse(JSON.stringify(read.value.what)) : read.failure.params;
}

test("what was said before is said again by itself or by its answer, and a decision goes before all else [C4][H2]", () => {
  const files = [{ file_name: "a.csv" }];
  assert.deepEqual(what({ regenerate_assistant_message_id: "m" }), { does: "again", assistant: "m" });
  assert.deepEqual(what({ query, selected_files: files, regenerate_user_message_id: "u" }), {
    ...{ does: "again", user: "u", text: query, selected: ["a.csv"] },
  });
  assert.deepEqual(what({ regenerate_user_message_id: "u" }), { what: "body.query", rule: "missing" });
  const resumed = (action: "confirm" | "skip", more: object = {}): ChatBody => ({
    ...{ resume_interrupt_info: { resume_handle: { resume_token: "d" }, action, ...more } },
    ...{ regenerate_assistant_message_id: "m", interrupted_assistant_message_id: "i" },
  });
  const decide = { does: "decide", decision: "d", assistant: "i", text: "" };
  assert.deepEqual(what(resumed("skip")), { ...decide, skips: true, changed: [] });
  const args = { modified_args: [{ key: "a", value: 1 }] };
  assert.deepEqual(what({ ...resumed("confirm", args), query }), {
    ...{ ...decide, skips: false, text: query, changed: [["a", 1]] },
  });
});

test("a conversation is named by the beginning of what was said, on one line [C4]", () => {
  assert.equal(chatTitle("\n\n  sum it\t\n up, please \n"), "sum it up, please");
  assert.equal(chatTitle("😀".repeat(51)), "😀".repeat(50));
  assert.equal(chatTitle(" \n"), "");
});

test("a failure of a turn stands in its document with its status, in the reader's language and twice the same [C1][P4]", () => {
  const network = { code: "model_network", params: { model: "m", server: "s", said: "gone" } };
  const { BaseError, HTTPCode, Language, ...flat } = documentError(network, { language: "en", runId: "r" });
  assert.deepEqual([HTTPCode, Language, BaseError], [502, "en-US", flat]);
  assert.deepEqual(flat.error_details, { ...network, request_id: "r" });
  assert.equal(documentError(network, { language: "zh", runId: "r" }).Language, "zh-CN");
});

test("a failure that only another version knew is one of ours all the same [C1][Q1]", () => {
  const { HTTPCode, error_code } = documentError({ code: "of_later", params: {} }, { language: "en", runId: "r" });
  assert.deepEqual([HTTPCode, error_code], [500, "AgentAPP.of_later"]);
});
