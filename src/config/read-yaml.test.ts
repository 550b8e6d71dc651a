import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { readYaml } from "./read-yaml.ts";

test("YAML that others wrote comes back as plain values [T4]", async () => {
  const text = "openapi: 3.1.0\nday: 2026-01-01\nlist: [1, true, null, 一]\ntwice: &a { x: 1 }\nagain: *a\n";
  assert.deepEqual(await readYaml(text, systemClock), {
    ok: true,
    value: { openapi: "3.1.0", day: "2026-01-01", list: [1, true, null, "一"], twice: { x: 1 }, again: { x: 1 } },
  });
});

const levels = Array.from(
  { length: 12 },
  (_, at) =>
    `l${at}: &l${at} [${Array(10)
      .fill(at === 0 ? "x" : `*l${at - 1}`)
      .join(", ")}]`,
);
const hostile: [what: string, text: string][] = [
  ["broken", "a: [1, 2"],
  ["a value in many places", levels.join("\n")],
  ["very deep", `a: ${"[".repeat(20_000)}`],
  ["the same key twice", "a: 1\na: 2"],
];
for (const [what, text] of hostile)
  test(`YAML that is ${what} is refused in words, and the next one is read [T4]`, async () => {
    const read = await readYaml(text, systemClock);
    assert.equal(read.ok, false);
    assert.ok(!read.ok && read.failure.length > 0 && read.failure.length <= 200, JSON.stringify(read).slice(0, 300));
    assert.deepEqual(await readYaml("a: 1", systemClock), { ok: true, value: { a: 1 } });
  });
