import assert from "node:assert/strict";
import { test } from "node:test";
import { toLack } from "./lack-answer.ts";

test("what a machine lacks is told in the caller's language [X3][P5]", () => {
  const about = { detail: "", sudo: "", install: "apt-get install -y bubblewrap" };
  const lack = { name: "no_bwrap", reason: "r", fix: "f", about } as const;
  assert.deepEqual(toLack(lack, "zh"), {
    name: "no_bwrap",
    reason: "未安装 bubblewrap，程序无法与本机隔离。",
    fix: "apt-get install -y bubblewrap",
  });
  assert.match(toLack(lack, "en").reason, /^bubblewrap is not installed/);
  assert.deepEqual(toLack({ ...lack, about: undefined }, "zh"), { name: "no_bwrap", reason: "r", fix: "f" });
});
