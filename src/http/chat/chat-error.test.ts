import assert from "node:assert/strict";
import { test } from "node:test";
import { documentError } from "./chat-error.ts";

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
