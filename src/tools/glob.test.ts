import assert from "node:assert/strict";
import { matchesGlob } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { compileGlob, wantsHidden } from "./glob.ts";

const fitting: readonly [pattern: string, fit: readonly string[], unfit: readonly string[]][] = [
  ["*.csv", ["a.csv", "uploads/a.csv", "uploads/2026/销售.csv"], ["a.csv.bak", "csv", "uploads/.a.csv", ".x/a.csv"]],
  ["./*.csv", ["a.csv"], ["uploads/a.csv"]],
  ["uploads/*.csv", ["uploads/a.csv"], ["a.csv", "uploads/2026/a.csv", "xuploads/a.csv"]],
  ["uploads//./a.csv", ["uploads/a.csv"], ["a.csv"]],
  ["**/a.csv", ["a.csv", "uploads/a.csv", "x/y/z/a.csv"], ["xa.csv", "x/a.csv/b"]],
  ["outputs/**", ["outputs/a", "outputs/a/b/c.md"], ["uploads/a", "outputs/.git/config"]],
  ["outputs/**/b/*.md", ["outputs/b/c.md", "outputs/a/b/c.md", "outputs/b/b/b/c.md"], ["outputs/c.md", "b/c.md"]],
  ["**/x/**/y", ["x/y", "a/x/b/x/c/y"], ["y", "x", "x/z"]],
  ["report-?.md", ["report-1.md", "report-汉.md", "report-😀.md"], ["report-.md", "report-10.md"]],
  ["[abc].txt", ["a.txt", "c.txt"], ["d.txt", "ab.txt"]],
  ["[a-cx].txt", ["b.txt", "x.txt"], ["d.txt"]],
  ["[!a].txt", ["b.txt"], ["a.txt", ".txt"]],
  ["[^a-c].txt", ["d.txt"], ["b.txt"]],
  ["[]a].txt", ["].txt", "a.txt"], ["b.txt"]],
  ["[abc.txt", ["[abc.txt"], ["a.txt"]],
  ["*.{md,txt}", ["a.md", "b/c.txt"], ["a.csv", "a.{md,txt}"]],
  ["{uploads,outputs}/**/*.{md,t{xt,ex}}", ["uploads/a.md", "outputs/x/b.tex"], ["temp/a.md", "uploads/a.tx"]],
  ["a{,b}c", ["ac", "abc"], ["abbc"]],
  ["{a}.txt", ["{a}.txt"], ["a.txt"]],
  ["{a,b", ["{a,b"], ["a"]],
  ["a\\*b", ["a*b"], ["axb"]],
  ["\\{a,b\\}", ["{a,b}"], ["a"]],
  [".env", [".env", "x/.env"], ["env"]],
  [".*", [".env"], ["env"]],
  ["a**b", ["ab", "axxb"], ["a/b"]],
  ["Report*", ["Report-1"], ["report-1"]],
  ["caf\u00e9*", ["cafe\u0301.txt"], ["cafe.txt"]],
];

test("files are found by a pattern [F2]", () => {
  for (const [pattern, fit, unfit] of fitting) {
    const glob = compiled(pattern);
    assert.deepEqual([fit.filter((path) => !glob(path)), unfit.filter(glob)], [[], []], pattern);
  }
});

test("where case is ignored, any case fits, in sets too [F2]", () => {
  const compiledGlob = compileGlob("Rep[O]rt*.{CSV,md}", { ignoresCase: true });
  assert.ok(compiledGlob.ok);
  assert.deepEqual(["report.csv", "REPORT-1.MD", "repart.csv"].map(compiledGlob.value), [true, true, false]);
});

test("a pattern asks for hidden files when one of its names begins with a dot [F2]", () => {
  const hidden = [".env", "a/.git/*", "{.env,a}", "\\.env", "./.env", "**/.x"];
  const plain = ["*", "./*", "a.b", "**/*.md", "./a", "."];
  assert.deepEqual([hidden.filter((pattern) => !wantsHidden(pattern)), plain.filter(wantsHidden)], [[], []]);
});

const refused: readonly [pattern: string, why: string, max?: number][] = [
  ["", "nothing"],
  [" ./ ", "nothing"],
  ["x".repeat(1_001), "too_long", 1_000],
  ["{a,b}".repeat(8), "too_many", 200],
  ["{a,b}".repeat(200), "too_many", 200],
  [`${"{a,".repeat(240)}b${"}".repeat(240)}`, "too_many", 200],
];

test("a pattern that names nothing, or far too much, is refused with the reason [F2]", () => {
  for (const [pattern, why, max] of refused) {
    const glob = compileGlob(pattern);
    const { code, params } = Object(!glob.ok && glob.failure);
    assert.deepEqual([code, params.why, params.max], ["pattern_invalid", why, max], pattern.slice(0, 40));
  }
  assert.ok(compileGlob("x".repeat(1_000)).ok);
});

test("no pattern takes long, whatever the name [F2][Q2]", () => {
  const name = "a".repeat(255);
  for (const pattern of ["*a".repeat(120), `${"[a-z]*".repeat(60)}!`, `${"?*".repeat(120)}b`])
    assert.equal(compiled(pattern)(`${name}/${name}/x`), false);
  assert.equal(compiled(`${"**/a/".repeat(100)}b`)("a/".repeat(60)), false);
});

test("patterns mean what they mean elsewhere [F2]", () => {
  const piece = fc.constantFrom("a", "b", ".", "*", "?", "[ab]", "[!a]", "{a,b}", "ab", "**/", "/");
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `x/${pieces.join("")}z`);
  const name = fc.array(fc.constantFrom("a", "b", "z"), { minLength: 1, maxLength: 4 }).map((units) => units.join(""));
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `x/${names.join("/")}`);
  const isOdd = (text: string) => /\.|[^/]\*\*|\*\*[^/]|\*\*\*/.test(text); // Where others do not agree either.
  fc.assert(
    fc.property(pattern, path, (written, given) => {
      fc.pre(!isOdd(written));
      assert.equal(compiled(written)(given), matchesGlob(given, written));
    }),
    { numRuns: 500 },
  );
});

function compiled(pattern: string): (path: string) => boolean {
  const glob = compileGlob(pattern);
  assert.ok(glob.ok, pattern);
  return glob.value;
}
