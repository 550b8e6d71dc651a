import assert from "node:assert/strict";
import { test } from "node:test";
import { Slot } from "../protocol/message.ts";
import { defaultResolver, type ModelFacts } from "./resolver.ts";

const all: readonly Slot[] = Slot.options;
const plain: ModelFacts = { hasImages: false, hasCode: false, task: "hello", final: false };
const complex = "Do this:\n1. read\n2. compare\n3. report";

const cases: readonly [
  what: string,
  facts: Partial<ModelFacts>,
  filled: readonly Slot[],
  slot: Slot,
  reason: string,
][] = [
  ["nothing special goes to base", {}, all, "base", "default"],
  [
    "the user's preference comes first",
    { preferred: "chat", hasImages: true, hasCode: true },
    all,
    "chat",
    "preferred",
  ],
  ["a preference for an empty slot is still named", { preferred: "chat" }, ["base"], "chat", "preferred"],
  ["images go to vision before code", { hasImages: true, hasCode: true }, all, "vision", "images"],
  [
    "images without a vision slot do not block code",
    { hasImages: true, hasCode: true },
    ["base", "code"],
    "code",
    "code",
  ],
  ["code goes before complexity", { hasCode: true, task: complex }, all, "code", "code"],
  ["a complex task goes to reasoning", { task: complex }, all, "reasoning", "complex: 3 parts"],
  ["a complex task without a reasoning slot goes to base", { task: complex }, ["base", "code"], "base", "default"],
  [
    "code without a code slot may still be complex",
    { hasCode: true, task: complex },
    ["base", "reasoning"],
    "reasoning",
    "complex: 3 parts",
  ],
  ["the last answer goes to chat", { final: true, hasCode: true, task: complex }, all, "chat", "final"],
  [
    "the last answer without a chat slot goes to base",
    { final: true, hasCode: true, task: complex },
    ["base", "code", "reasoning"],
    "base",
    "default",
  ],
  ["the last answer with images goes to vision", { final: true, hasImages: true }, all, "vision", "images"],
  ["the last answer with a preference goes there", { final: true, preferred: "code" }, all, "code", "preferred"],
];

for (const [what, facts, filled, slot, reason] of cases) {
  test(`a model is chosen: ${what} [M2]`, () => {
    assert.deepEqual(defaultResolver({ ...plain, ...facts }, new Set(filled)), { slot, reason });
  });
}
