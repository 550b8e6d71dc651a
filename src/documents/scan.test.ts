import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { manualClock } from "../../test/world/manual-clock.ts";
import type { LineHit, SearchQuery } from "./documents.ts";
import { placesIn } from "./excerpt.ts";
import { plansFor } from "./query.ts";
import { countsOf, newProgress, place, scanFiles } from "./scan.ts";
import { runJob } from "./scan-job.ts";
import type { TextResult } from "./search.ts";
import { watchOver } from "./watch-over.ts";

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

test("a search for words may take a minute, one for a pattern ten seconds; what was found by then is told [D3]", () => {
  const timed = (query: string, isRegex: boolean, secondsPerFile: number) => {
    const { found, stopped } = search({ query, isRegex, secondsPerFile, files: 4 });
    return [found, stopped];
  };
  assert.deepEqual(timed("word", false, 14.9), [4, undefined]);
  assert.deepEqual(timed("word", false, 20), [3, "time"]);
  assert.deepEqual(timed("w.rd", true, 2.4), [4, undefined]);
  assert.deepEqual(timed("w.rd", true, 5), [2, "time"]);
});

type Search = { query: string; isRegex: boolean; secondsPerFile: number; files: number };

function search({ query, isRegex, secondsPerFile, files }: Search) {
  const [clock, progress] = [manualClock(), newProgress()];
  const plans = plansFor(query, isRegex);
  assert.ok(plans.ok);
  const bytes = Buffer.from("a word is here\n");
  function* slowFiles() {
    for (let file = 0; file < files; file += 1) {
      yield { path: `${file}.txt`, bytes: bytes.length, read: () => bytes };
      clock.move(secondsPerFile * 1_000);
    }
  }
  const hits: LineHit[] = [];
  const job = { path: ".", root: 0, plans: plans.value, hitsMax: 10, contextCharacters: 10, progress };
  const stopped = runJob(job, { clock, files: slowFiles, found: (hit) => void hits.push(hit) });
  return { found: hits.length, stopped, counts: countsOf(progress) };
}

const lineExcerpt = fc
  .array(fc.constantFrom("a", "ab", "b", "🙂", "-", "--------", "汉"), { maxLength: 60 })
  .map((parts) => parts.join(""));
const marks = fc.constantFrom(/a/g, /ab|b/g, /a*/g, /🙂/gu, /汉.+?-/gu, /-+/g);

test("all matches of a line are shown, none of them twice, and nothing else is marked [D3]", () => {
  fc.assert(
    fc.property(lineExcerpt, marks, fc.nat({ max: 12 }), (text, pattern, characters) => {
      const places = [...placesIn(text, pattern, characters)];
      const matches = [...text.matchAll(pattern)];
      if (matches.length === 0)
        assert.deepEqual(
          places.map(({ start, end }) => [start, end]),
          [[0, 0]],
        );
      for (const { index, 0: match } of matches.filter((one) => one[0] !== ""))
        assert.equal(
          places.filter(({ from, to, start }) => start <= index && from <= index && index < to).length,
          1,
          match,
        );
      for (const [index, { start, to }] of places.entries())
        assert.ok(start >= (places[index - 1]?.to ?? 0) && to >= start);
    }),
  );
});

test("a search for words on a busy machine is given up only after a minute without any progress [D3]", () => {
  const { look, progress, endings, timers } = watchedSearch();
  look(599);
  Atomics.add(progress, place.beats, 1);
  look(600);
  assert.equal(endings(), 0);
  look(1);
  assert.equal(endings(), 1);
  look(1_000);
  assert.deepEqual([endings(), timers()], [1, 0]);
});

function watchedSearch() {
  const [clock, progress] = [manualClock(), newProgress()];
  let endings = 0;
  const stop = watchOver(progress, clock, () => {
    endings += 1;
  });
  const look = (times: number) => {
    for (let time = 0; time < times; time += 1) clock.move(100);
  };
  return { look, stop, progress, endings: () => endings, timers: clock.timers };
}
