import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { parseSync } from "oxc-parser";
import { wordsFor } from "../../src/words/words.ts";
import { causesIn } from "../world/causes.ts";

// A failure that no test meets has words, a status and advice that nobody ever saw.

const root = join(import.meta.dirname, "..", "..");
const codes = Object.keys(wordsFor("en").failures);

test("every failure is met by some test, which compares its code [P4]", () => {
  const files = globSync(["{src,test}/**/*.test.ts", "test/contracts/*.ts"], { cwd: root });
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const compared = new Set<string>();
  for (const code of codes) {
    for (const [file, text] of texts) {
      if (compared.has(code)) break;
      if (!text.includes(code)) continue;
      for (const met of codesIn(file, text)) compared.add(met);
      texts.delete(file);
    }
  }
  assert.deepEqual(
    codes.filter((code) => !compared.has(code)),
    [],
  );
});

test("a code counts as met where it is compared, and not where it is made by hand, or told to whoever reads the test", () => {
  const met = (text: string) => codesIn("a.test.ts", text);
  assert.deepEqual(met('assert.equal(failure.code, "not_a_file");'), ["not_a_file"]);
  assert.deepEqual(met("assert.match(text, /^Error: not_a_file: .*/); const x = `404 ${a} not_a_file`;"), [
    "not_a_file",
    "not_a_file",
  ]);
  assert.deepEqual(met('show(makeFailure("not_a_file", { path: "a" })); failure("not_a_file", {});'), []);
  assert.deepEqual(met('assert.equal(a, b, "not_a_file"); assert.ok(a, `not_a_file`); assert(a, "not_a_file");'), []);
  assert.deepEqual(met('// not_a_file\ntest("not_a_file is told", () => {}); let a: Failure<"not_a_file">;'), []);
});

/** Here failures are made to be shown, or to be given a status: nobody met them. */
const madeByHand = ["src/http/status.test.ts", "src/models/demo/failures.test.ts"];

test("every cause of a failure that has a sentence of its own is compared by some test [P4]", () => {
  const own = relative(root, import.meta.filename);
  const exclude = [own, ...madeByHand];
  const files = globSync(["{src,test}/**/*.test.ts", "test/contracts/*.ts"], { cwd: root, exclude });
  const tests = files.map((file) => new Set(comparedIn(file, readFileSync(join(root, file), "utf8"))));
  const causes = causesIn();
  assert.ok(causes.length > 150, `only ${causes.length} causes were found`);
  const missing = causes
    .filter(({ code, why }) => !tests.some((named) => named.has(code) && named.has(why)))
    .map(({ code, why }) => `${code} ${why}`);
  assert.deepEqual(missing, []);
});

test("every lack of a machine is named by some test [X3][P4]", () => {
  const files = globSync(["{src,test}/**/*.test.ts", "test/{contracts,attacks,docker}/*.ts"], { cwd: root });
  const named = new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\w+/g) ?? []));
  const lacks = Object.keys(wordsFor("en").sandbox.lacks);
  assert.deepEqual(
    lacks.filter((lack) => !named.has(lack)),
    [],
  );
});

type Tree = { readonly type: string; readonly [field: string]: unknown };

/** The codes in what a test compares: in its strings, patterns and names of members. */
function codesIn(file: string, text: string): string[] {
  return comparedIn(file, text, (word) => known.has(word));
}

function comparedIn(file: string, text: string, isWanted = (_: string) => true): string[] {
  const found: string[] = [];
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) look(one);
    if (!isTree(value) || isOfTypes.test(value.type)) return;
    for (const said of textsOf(value)) found.push(...said.split(/\W+/).filter(isWanted));
    // A code of one word is also a word of everyday language, unless it stands alone.
    if (value.type === "Literal" && single.has(String(value.value))) found.push(String(value.value));
    for (const [field, inner] of Object.entries(value)) look(field === "arguments" ? comparedBy(value) : inner);
  };
  look(parseSync(file, text).program);
  return found;
}

const known = new Set(codes.filter((code) => code.includes("_")));
const single = new Set(codes.filter((code) => !code.includes("_")));

/** What stands in types compares nothing; a value that is given a type is a value still. */
const isOfTypes = /^TS(?!\w+Expression$)/;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function textsOf(tree: Tree): string[] {
  if (tree.type === "Identifier") return [String(tree.name)];
  if (tree.type === "TemplateElement") return [Object(tree.value).raw];
  return tree.type === "Literal" ? [String(tree.raw)] : [];
}

/** The arguments of a call without those that make a failure, name a test, or are told when an assertion fails. */
function comparedBy({ callee, arguments: given }: Tree): unknown[] {
  const all = Array.isArray(given) ? given : [];
  if (!isTree(callee)) return all;
  const isAssertion = isTree(callee.object) && callee.object.name === "assert";
  const name = String(isTree(callee.property) ? callee.property.name : callee.name);
  if (["makeFailure", "storedFailure", "failure"].includes(name)) return [];
  if (name === "test") return all.slice(1);
  if (name === "assert" || (isAssertion && name === "ok")) return all.slice(0, 1);
  return isAssertion ? all.slice(0, 2) : all;
}
