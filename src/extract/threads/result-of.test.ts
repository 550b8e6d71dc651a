import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../../words/words.ts";
import { resultOf } from "./result-of.ts";
import type { Outcome } from "./thread.ts";

test("whatever ends a reader has a code, and words that say what to do [D1]", () => {
  const outcomes: readonly Outcome[] = [
    { kind: "late" },
    { kind: "memory" },
    { kind: "stopped" },
    { kind: "crashed", error: new Error("broken") },
    { kind: "unread", why: { why: "memory" } },
    { kind: "unread", why: { why: "rights" } },
  ];
  const said = outcomes.map((outcome) => {
    const found = resultOf(outcome, "a.pdf", 61);
    return found.ok ? [] : [found.failure.code, found.failure.params];
  });
  assert.deepEqual(said, [
    ["document_too_slow", { name: "a.pdf", seconds: 61 }],
    ["document_too_costly", { name: "a.pdf" }],
    ["document_stopped", { name: "a.pdf" }],
    ["document_reader_crashed", { name: "a.pdf" }],
    ["document_too_costly", { name: "a.pdf" }],
    ["document_locked", { name: "a.pdf", why: "rights" }],
  ]);
  assert.deepEqual(wordsFor("en").failures.document_locked({ name: "a.epub", why: "rights" }), [
    "a.epub is protected by rights management (DRM), so that other programs cannot read it.",
    "Use a copy without this protection, if you have one.",
  ]);
});
