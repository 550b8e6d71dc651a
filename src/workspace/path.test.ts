import assert from "node:assert/strict";
import { test } from "node:test";
import { isTooDeep, parsePath, parseWritable, shownPath } from "./path.ts";

test("a path is taken up to 64 names, 255 bytes a name and 4096 bytes in all, and refused with the reason beyond [W5]", () => {
  const long = "ü".repeat(127);
  // 16 names of 255 bytes with the slashes between them, and one byte less or more in the last.
  const whole = (bytes: number) => [...Array.from({ length: 15 }, () => "d".repeat(255)), "d".repeat(bytes)].join("/");
  const cases: Record<string, readonly [path: string, why: string]> = {
    "64 names": [Array.from({ length: 64 }, () => "d").join("/"), "taken"],
    "65 names": [Array.from({ length: 65 }, () => "d").join("/"), "too_deep"],
    "64 names, dots between them": [Array.from({ length: 64 }, () => "d").join("//./"), "taken"],
    "255 bytes": [`${long}a`, "taken"],
    "256 bytes of 128 characters": [`${long}ü`, "too_long"],
    "4095 bytes": [whole(255), "taken"],
  };
  for (const [what, [path, why]] of Object.entries(cases)) assert.equal(refusalOf(path), why, what);
  assert.equal(refusalOf(`${whole(250)}/abcd`), "taken", "4095 bytes of 17 names");
  assert.equal(refusalOf(`${whole(250)}/abcde`), "taken", "4096 bytes");
  assert.equal(refusalOf(`${whole(250)}/abcdef`), "too_long", "4097 bytes");
  assert.deepEqual(
    [isTooDeep({ names: 63, bytes: 4095 }), isTooDeep({ names: 64, bytes: 1 }), isTooDeep({ names: 1, bytes: 4096 })],
    [false, true, true],
  );
});

test("whatever could lead outside, or begin a line of its own, is refused before anything is looked at [W5][S5]", () => {
  const outside = ["..", "a/../b", "a..b", "/a", " /a", "\t/a", "\\a", "~", "~/a", "C:", "c:/a", "Z:\\a"];
  for (const path of outside) assert.equal(refusalOf(path), "path_traversal_blocked", JSON.stringify(path));
  const controls = ["\u0000", "\u001f", "\n", "\u007f", "\u0080", "\u009f", "\u2028", "\u2029", "\ud800"];
  for (const path of controls) assert.equal(refusalOf(`a${path}b`), "control_character", JSON.stringify(path));
  assert.equal(refusalOf("a\\b"), "backslash");
  for (const path of ["a~", "~a", "ab:c", "a b", "C", ".a", "a.", "ä/中"]) assert.equal(refusalOf(path), "taken", path);
});

test("a conversation is written below three of its folders, a task everywhere, and each refusal says which place it is [W5][W7]", () => {
  const refusal = (kind: "conversation" | "task", path: string) => {
    const parsed = parseWritable(kind, path);
    return parsed.ok ? parsed.value.join("/") : [parsed.failure.code, { ...parsed.failure.params }];
  };
  for (const folder of ["uploads", "outputs", "temp"]) {
    assert.equal(refusal("conversation", `./${folder}//a/`), `${folder}/a`);
    assert.deepEqual(refusal("conversation", folder), ["not_a_file", { path: folder }]);
  }
  const notWritable = (path: string, folder: string) => ["permission_denied", { path, folder, why: "not_writable" }];
  assert.deepEqual(refusal("conversation", "skills/a/b"), notWritable("skills/a/b", "skills"));
  assert.deepEqual(refusal("conversation", ".metadata.json"), notWritable(".metadata.json", "."));
  for (const kind of ["conversation", "task"] as const)
    assert.deepEqual(refusal(kind, "./"), ["path_invalid", { path: "./", why: "no_name" }]);
  assert.deepEqual(refusal("conversation", "../a"), ["path_traversal_blocked", { path: "../a" }]);
  assert.equal(refusal("task", "skills/a"), "skills/a");
});

test("a path is shown as it is, quoted where it is not plain, and cut after 200 characters [W5]", () => {
  assert.equal(shownPath("a".repeat(200)), "a".repeat(200));
  assert.equal(shownPath("a".repeat(201)), `${"a".repeat(200)}…`);
  assert.equal(shownPath("outputs/报告（终）.md"), "outputs/报告（终）.md");
  assert.equal(shownPath("a\nb"), '"a\\nb"');
  assert.equal(shownPath('"; rm'), '"\\"; rm"');
});

function refusalOf(path: string): string {
  const parsed = parsePath(path);
  if (parsed.ok) return "taken";
  return "why" in parsed.failure.params ? parsed.failure.params.why : parsed.failure.code;
}
