import assert from "node:assert/strict";
import { compilePattern } from "../../src/approvals/pattern.ts";

/** Whether a pattern of the operator finds something in a text. */
export function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  assert.ok(compiled.ok, pattern);
  return compiled.value.matches(text);
}
