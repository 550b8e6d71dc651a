import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TestReader } from "../../scripts/failures/met.ts";
import { testMeeting, testsWithCodes } from "../../scripts/failures/page.ts";
import { failureTexts } from "../../scripts/failures/texts.ts";
import { wordsFor } from "../../src/words/words.ts";

// A failure that no test meets has words, a status and advice that nobody ever saw. Which test meets which stands in
// docs/api/failures.md.

const root = join(import.meta.dirname, "..", "..");
const tests = testsWithCodes(root);

test("every failure is met by some test, which compares its code and did not make it itself [P4]", () => {
  const codes = Object.keys(wordsFor("en").failures);
  assert.deepEqual(
    codes.filter((code) => testMeeting(tests, code) === undefined),
    [],
  );
});

test("every cause of a failure that has a sentence of its own is met by a test, too [P4]", () => {
  const causes = failureTexts(root).filter(({ why }) => why !== undefined);
  assert.ok(causes.length > 170, `only ${causes.length} causes were found`);
  const missing = causes.filter(({ code, why }) => testMeeting(tests, code, why) === undefined);
  assert.deepEqual(
    missing.map(({ code, why }) => `${code} ${why}`),
    [],
  );
});

test("a code is met in the test whose assertions compare it, be it in a value, a pattern or a table, and in no other [P4]", () => {
  const source = `
    const cases = [["a", "no_a"], ["b", "no_b"]] as const;
    test("values", async () => { assert.equal(await codeOf("x"), "no_x"); assert.deepEqual(b, { code: "no_y" }); });
    test("patterns", () => { assert.match(text, /^no_p: /); assert.ok(text.includes("no_q")); });
    test("tables", () => { for (const [given, code] of cases) assert.equal(ask(given), code); });
    test("each", () => { cases.map(([given, code]) => assert.equal(ask(given), code)); });
    test("sentences", () => { const said = saidOf("no_s", {}); assert.ok(errors.startsWith(said)); });
    test("alone", () => { assert.equal(code, "lonely"); assert.ok(isOther, "other"); });
  `;
  assert.deepEqual(metIn({ "a.test.ts": source }), {
    ...{ values: ["no_x", "no_y"], patterns: ["no_p", "no_q"], tables: ["no_a", "no_b"], each: ["no_a", "no_b"] },
    ...{ sentences: ["no_s"], alone: ["lonely"] },
  });
});

test("a code is met in a helper that the test calls, where the helper compares it, and in what others share with it [P4]", () => {
  const files = {
    "a.test.ts": `
      import { refused } from "./test/world/refused.ts";
      const expected = (why: string) => ({ code: "no_b", why });
      function all(answer: unknown) { assert.equal(answer.code, "no_h"); }
      function ask(code: string) { assert.ok(isOpen); return send(code); }
      test("inside", () => all(1));
      test("given", async () => { await refused(answer, "no_g"); });
      test("built", () => { assert.deepEqual(answer, expected("io")); });
      test("only sent", () => { ask("no_n"); });
      test("calls nobody", () => {});
    `,
    "test/world/refused.ts": "export async function refused(a: A, code: string) { assert.equal(a.code, code); }",
  };
  assert.deepEqual(metIn(files), {
    ...{ inside: ["no_h"], given: ["no_g"], built: ["no_b"], "only sent": [], "calls nobody": [] },
  });
});

test("a code is not met where it is only written down, sent, waited past, told to whoever reads the test, or made by hand [P4]", () => {
  const source = `
    // no_a
    const full = { write: () => failure("no_d", {}) };
    const named: Failure<"no_e"> = answer;
    test("no_a is told", () => { const kept = "no_b"; if (x === "no_b") return; });
    test("told", () => { assert.equal(a, b, "no_c"); assert.ok(a, "no_c"); assert(a, \`no_c\`); });
    test("sent", () => { assert.equal(statusOf("no_f"), 404); assert.rejects(ask("no_f"), TypeError); });
    test("a double", () => { assert.equal(save(full).code, "no_d"); });
    test("by hand", () => { assert.equal(show(makeFailure("no_g", {})), "no_g"); });
    test("expected", () => { assert.deepEqual(ask(), failure("no_h", {})); });
  `;
  assert.deepEqual(metIn({ "a.test.ts": source }), {
    ...{ "no_a is told": [], told: [], sent: [], "a double": [], "by hand": [], expected: ["no_h"] },
  });
});

test("a cause is met where one assertion compares it beside its code, not where the word only stands in the same test [P4]", () => {
  const source = `
    const cases = [["a", "path"], ["b", "link"]] as const;
    test("together", () => { assert.deepEqual([code, why], ["no_a", "path"]); });
    test("tables", () => { for (const [given, why] of cases) assert.equal(ask(given), \`no_a \${why}\`); });
    test("among names", () => { assert.equal(told, "no_a path"); });
    test("with a colon", () => { assert.equal(told, "no_a: path"); });
    test("said", () => { const path = "path"; assert.equal(code, "no_a", "path"); });
    test("as a key", () => { assert.deepEqual(failure, { code: "no_a", params: { path: 1 } }); });
    test("elsewhere", () => { assert.equal(code, "no_a"); assert.equal(list.at(0), "path"); });
    test("in a sentence", () => { assert.equal(told, "no_a: the path"); });
  `;
  const tests = new TestReader(root, () => source).testsOf("a.test.ts");
  assert.deepEqual(
    tests.filter((one) => testMeeting([one], "no_a", "path") !== undefined).map(({ name }) => name),
    ["together", "tables", "among names", "with a colon"],
  );
});

/** What the tests of the first file meet, of what looks like a code there. */
function metIn(files: Readonly<Record<string, string>>): Record<string, string[]> {
  const codes = ["lonely", "other", ..."abcdefghnpqsxy"].map((name) => (name.length === 1 ? `no_${name}` : name));
  const met = new TestReader(root, (file) => files[file] ?? "").testsOf("a.test.ts");
  return Object.fromEntries(
    met.map((one) => [one.name, codes.filter((code) => testMeeting([one], code) !== undefined).sort()]),
  );
}

test("every lack of a machine is named by some test [X3][P4]", () => {
  const files = globSync(["{src,test}/**/*.test.ts", "test/{contracts,attacks,docker}/*.ts"], { cwd: root });
  const named = new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\w+/g) ?? []));
  const lacks = Object.keys(wordsFor("en").sandbox.lacks);
  assert.deepEqual(
    lacks.filter((lack) => !named.has(lack)),
    [],
  );
});
