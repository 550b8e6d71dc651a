import assert from "node:assert/strict";
import { test } from "node:test";
import { chatMessages } from "../openai/messages.ts";
import { defaultProfile } from "../profile.ts";
import { keepItems, keptItems } from "./kept.ts";

const origin = { api: "anthropic", model: "m" };

test("what an answer leaves for later is found again by its format and model, and by no other [M6][R1]", () => {
  const details: unknown[] = [];
  const items = [{ type: "thinking" }];
  keepItems(details, origin, items);
  const read: unknown[] = JSON.parse(JSON.stringify(details));
  assert.deepEqual(keptItems(read, origin), items);
  assert.equal(keptItems(read, { ...origin, model: "other" }), undefined);
  assert.equal(keptItems(read, { ...origin, api: "google" }), undefined);
  assert.equal(keptItems(undefined, origin), undefined);
  assert.equal(keptItems([null, "x", { api: "anthropic", model: "m" }], origin), undefined);
});

test("chat completions get their own details back, and none of another format [M6][R1]", () => {
  const { write } = chatMessages({ ...defaultProfile, reasoningReplay: "details" });
  const own = { type: "reasoning.text", text: "hm", signature: "s" };
  const details: unknown[] = [own];
  keepItems(details, origin, [{ type: "thinking", thinking: "secret" }]);
  const written = (reasoningDetails: unknown[]) =>
    JSON.parse(write({ role: "assistant", text: "hi", reasoningDetails }, false));
  assert.deepEqual(written(details), { role: "assistant", content: "hi", reasoning_details: [own] });
  assert.deepEqual(written(details.slice(1)), { role: "assistant", content: "hi" });
});
