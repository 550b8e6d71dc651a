import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createNameReader, wireName } from "./tool-names.ts";

test("every name becomes one that every server takes, and comes back as it was [M3]", () => {
  const property = fc.property(fc.uniqueArray(fc.string({ maxLength: 90 }), { minLength: 1 }), (names) => {
    const wire = names.map(wireName);
    assert.ok(wire.every((name) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)));
    assert.equal(new Set(wire).size, names.length);
    assert.deepEqual(wire.map(createNameReader(names)), names);
  });
  fc.assert(property);
});

const decorated: [returned: string, name: string][] = [
  ["read_file", "read_file"],
  ["functions.read_file", "read_file"],
  ["functions.read_file:0", "read_file"],
  ["default_api:read_file", "read_file"],
  ["default_api_read_file", "read_file"],
  ["tools/read_file()", "read_file"],
  [" `read_file` ", "read_file"],
  ["<function=read_file>", "read_file"],
  ["read_file<|channel|>commentary", "read_file"],
  ["calendar.list", "calendar.list"],
  ["read_files", "read_files"],
  ["read", "read"],
  ["read_file.list", "read_file.list"],
];

for (const [returned, name] of decorated) {
  test(`the name ${JSON.stringify(returned)} in an answer means ${JSON.stringify(name)} [M3]`, () => {
    assert.equal(createNameReader(["read_file", "list", "calendar.list"])(returned), name);
  });
}
