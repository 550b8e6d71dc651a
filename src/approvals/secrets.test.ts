import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { withoutSecrets } from "./secrets.ts";

const secretsMax = 64;
const secretOf = (index: number) => `sk-${createHash("sha256").update(`${index}`).digest("hex").slice(0, 40)}`;
const textWith = (count: number) => Array.from({ length: count }, (_, index) => `echo ${secretOf(index)}`).join("\n");

test("of a text with more secrets than are looked for nothing is shown, and of one with fewer everything else [H1]", () => {
  const few = withoutSecrets(textWith(secretsMax - 1));
  assert.deepEqual([few.split("\n").length, few.includes(secretOf(secretsMax - 2))], [secretsMax - 1, false]);
  assert.equal(withoutSecrets(textWith(secretsMax + 1)), "…");
});
