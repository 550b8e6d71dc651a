import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "./query.ts";
import { unitsOf } from "./rank.ts";
import { cutIntoPairs } from "./runs.ts";
import { tellingOf } from "./telling.ts";

/** What each pair tells, as a share of what it would tell by its rarity alone. */
function sharesIn(text: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  const units = unitsOf(parseQuery(text, cutIntoPairs));
  const all = units.map((unit) => counts[unit.characters ?? ""] ?? 0);
  const telling = tellingOf(units, all, 10_000);
  const plain = all.map((count) => Math.log(1 + (10_000 - count + 0.5) / (count + 0.5)));
  return Object.fromEntries(
    units.map(({ characters = "" }, index) => [
      characters,
      Number(((telling[index] ?? 0) / (plain[index] ?? 1)).toFixed(2)),
    ]),
  );
}

test("where two words meet, a pair of characters tells little, however rare it is [D3]", () => {
  const counts = { 软件: 839, 件包: 806, 包无: 5, 无法: 57, 法删: 2, 删除: 142 };
  assert.deepEqual(sharesIn("软件包无法删除", counts), { 软件: 1, 件包: 1, 包无: 0.3, 无法: 1, 法删: 0.3, 删除: 1 });
  // A name that stands in one passage: all pairs are equally rare, and all of them are meant.
  assert.deepEqual(sharesIn("沈眉庄园", { 沈眉: 1, 眉庄: 1, 庄园: 1 }), { 沈眉: 1, 眉庄: 1, 庄园: 1 });
});

test("a character that may be a word by itself or a part of one counts less, and is not lost [D3]", () => {
  assert.deepEqual(sharesIn("上海天气", { 上海: 9, 海天: 1, 天气: 9 }), { 上海: 0.3, 海天: 0.3, 天气: 1 });
  assert.deepEqual(sharesIn("上海", { 上海: 9 }), { 上海: 1 });
  assert.deepEqual(sharesIn("中国的", { 中国: 9, 国的: 9 }), { 中国: 1, 国的: 0.3 });
});
