import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LineHit, SearchQuery } from "./documents.ts";
import { plansFor } from "./query.ts";
import { countsOf, newProgress, scanFiles } from "./scan.ts";
import type { TextResult } from "./search.ts";

const words = ["foo", "Foo", "bar", "foobar", " ", "\r", "12", "é", "É", "你好", "🙂", "a-b", ".", "(", "ſ", "K"];
const line = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(""));
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
const query = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((chosen) => chosen.join(""));
const patterns = fc.constantFrom(
  ...["foo", "^foo", "bar$", "foo\\s*bar", "\\d+", "fo{1,2}", "[a-f]+r", "^\\W*$", "(?<!o)b", "foo(?!b)", "(foo|12)+"],
  ...["^$", "x*", ".{3}", "\\S\\s\\S", "[^a]b", "é", "你.", "^.$", "\\bfoo\\b", "(.)\\1", "k", "s", "\\w"],
);

test("a search finds exactly the lines that a reader would find one by one [D3]", () => {
  fc.assert(
    fc.property(text, query, (content, asked) => {
      const wanted = asked.trim();
      const isAscii = /^\p{ASCII}*$/u.test(wanted);
      const pattern = new RegExp(RegExp.escape(wanted), isAscii ? "i" : "iu");
      fc.pre(wanted !== "" && !wanted.includes("\r"));
      assert.deepEqual(scan(content, asked, false), byEye(content, pattern));
    }),
    { numRuns: 500 },
  );
});

test("a pattern finds exactly the lines that match when they stand alone [D3]", () => {
  fc.assert(
    fc.property(text, patterns, (content, pattern) => {
      assert.deepEqual(scan(content, pattern, true), byEye(content, new RegExp(pattern, "iu")));
    }),
    { numRuns: 1_000 },
  );
});

test("every part of a long line can be reached: matches far from each other are places of their own [D3]", () => {
  const { find } = searchable({
    "outputs/long.json": `{"a": 1}\n${"x".repeat(3_000)}one two${"y".repeat(50_000)}ONE one${"z".repeat(50_000)}one\nend\n`,
    "outputs/short.md": `one ${"-".repeat(40)} one one ${"-".repeat(40)} one\n`,
  });
  const long = { path: "outputs/long.json", line: 2 };
  const short = { path: "outputs/short.md", line: 1 };
  const counts = { total: 6, filesSearched: 2, filesSkipped: 0, stopped: undefined };
  const hits = [
    { ...long, column: 3_001, text: "...xxxxx**one** twoy..." },
    { ...long, column: 53_008, text: "...yyyyy**ONE** **one**z..." },
    { ...long, column: 103_015, text: "...zzzzz**one**\nend" },
    { ...short, text: "**one** ----..." },
    { ...short, text: "...---- **one** **one** ..." },
    { ...short, text: "...---- **one**" },
  ];
  assert.deepEqual(find("one", { contextCharacters: 5 }), { hits, ...counts });
  assert.deepEqual(find("one", { contextCharacters: 5, hitsMax: 2 }), { hits: hits.slice(0, 2), ...counts });
  assert.deepEqual(find("one two", { contextCharacters: 5 }).hits, [
    { ...long, column: 3_001, text: "...xxxxx**one two**yyyyy..." },
  ]);
});

test("a column is given from 2,001 characters in a line on [D3]", () => {
  const { find } = searchable({
    "outputs/a.txt": `${"x".repeat(1_994)}needle\r\n`,
    "outputs/b.txt": `${"x".repeat(1_995)}needle\r\n`,
  });
  const { hits } = find("needle", { contextCharacters: 1 });
  assert.deepEqual(hits, [
    { path: "outputs/a.txt", line: 1, text: "...x**needle**" },
    { path: "outputs/b.txt", line: 1, column: 1_996, text: "...x**needle**" },
  ]);
});

test("counting ends also where one line has matches without end [D3]", () => {
  const { find } = searchable({ "outputs/a.json": "1,".repeat(1_000_000) });
  const { hits, ...counts } = find("1", { hitsMax: 2, contextCharacters: 0 });
  assert.deepEqual(
    hits.map(({ column }) => column),
    [1, 3],
  );
  assert.deepEqual(counts, { total: 10_000, filesSearched: 1, filesSkipped: 0, stopped: "hits" });
});

test("a pattern that matches nothing everywhere finds a long line once [D3]", () => {
  const { find } = searchable({ "outputs/a.json": "1,".repeat(5_000_000), "outputs/b.txt": "x\n" });
  const { hits, ...counts } = find("x*", { isRegex: true, contextCharacters: 2 });
  assert.deepEqual(hits, [
    { path: "outputs/a.json", line: 1, column: 1, text: "1,..." },
    { path: "outputs/b.txt", line: 1, text: "**x**" },
  ]);
  assert.deepEqual(counts, { total: 2, filesSearched: 2, filesSkipped: 0, stopped: undefined });
});

test("the mark at the beginning of a file is no part of its first line [D3][F1]", () => {
  const { find } = searchable({
    "outputs/a.csv": "\uFEFFid,name\n1,x\n",
    "outputs/b.csv": Buffer.from("\uFEFFid,name\n2,y\n", "utf16le"),
    "outputs/c.csv": Buffer.concat([Buffer.from("\uFEFFid,name\n3,"), Buffer.from([0xff, 0x0a])]),
  });
  const { hits, total } = find("^id,", { isRegex: true, contextCharacters: 5 });
  const text = (next: string) => `**id,**name\n${next}`;
  assert.deepEqual([total, hits.map((hit) => hit.text)], [3, [text("1..."), text("2..."), text("3...")]]);
  assert.equal(find("\\uFEFF", { isRegex: true }).total, 0);
});

function scan(content: string, asked: string, isRegex: boolean): number[] {
  const { hits, total, stopped } = searchable({ "a.txt": content }).find(asked, { isRegex, contextCharacters: 20 });
  assert.deepEqual([total, stopped], [hits.length, undefined]);
  // A line with matches far from each other is in there more than once.
  return [...new Set(hits.map((hit) => hit.line))];
}

function searchable(contents: Readonly<Record<string, string | Buffer>>) {
  const files = Object.entries(contents).map(([path, content]) => {
    const bytes = Buffer.from(content);
    return { path, bytes: bytes.length, read: () => bytes };
  });
  return {
    find(
      asked: string,
      { isRegex = false, hitsMax = 1_000, contextCharacters = 50 }: Partial<SearchQuery> = {},
    ): TextResult {
      const plans = plansFor(asked, isRegex);
      assert.ok(plans.ok && plans.value[0] !== undefined);
      const hits: LineHit[] = [];
      const progress = newProgress();
      const stopped = scanFiles(files, {
        ...{ plan: plans.value[0], hitsMax, contextCharacters, progress },
        isLate: () => false,
        found: (hit) => void hits.push(hit),
      });
      return { hits, ...countsOf(progress), stopped };
    },
  };
}

function byEye(content: string, pattern: RegExp): number[] {
  const lines = content.split("\n");
  // What follows the last line feed is a line only if there is something.
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((one, index) => (pattern.test(one.replace(/\r$/, "")) ? [index + 1] : []));
}
