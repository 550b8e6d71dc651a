// Makes docs/api/failures.md: what each failure is answered with, says and advises, and the test that meets it.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { wordsFor } from "../../src/words/words.ts";
import { TestReader, type TestWithCodes } from "./met.ts";
import { type FailureText, failureTexts } from "./texts.ts";

const codes = Object.keys(wordsFor("en").failures);

/** Here failures are made up to be shown, or to be given a status or another name: nobody met them. */
const madeUp = ["src/http/dialect.test.ts", "src/http/status.test.ts", "src/models/demo/failures.test.ts"];

/** All tests of files that name a code. */
export function testsWithCodes(root: string): TestWithCodes[] {
  const named = new RegExp(codes.join("|"));
  const files = globSync(["{src,test}/**/*.test.ts", "test/contracts/*.ts"], { cwd: root, exclude: madeUp }).sort();
  const reader = new TestReader(root);
  return files
    .filter((file) => named.test(readFileSync(join(root, file), "utf8")))
    .flatMap((file) => reader.testsOf(file));
}

/** The test that shows a failure best, for one of its causes where that is asked for: through the door, and of little else. */
export function testMeeting(tests: readonly TestWithCodes[], code: string, why?: string): TestWithCodes | undefined {
  const orders: ((one: TestWithCodes) => number)[] = [
    ({ file }) => rank(file),
    ({ compared }) => codes.filter((one) => compared.has(one)).length,
  ];
  const [first] = tests
    .filter(({ compared, comparesTogether, makes }) => {
      const isMet = why === undefined ? compared.has(code) : comparesTogether(code, why);
      return isMet && !makes(code);
    })
    .map((test) => ({ test, order: orders.map((order) => order(test)) }))
    .sort((one, other) => one.order.map((by, at) => by - (other.order[at] ?? 0)).find((by) => by !== 0) ?? 0);
  return first?.test;
}

/** Stories come in by the door, contracts by that of a part, the others call the function. */
function rank(file: string): number {
  const at = ["test/stories/", "test/"].findIndex((folder) => file.startsWith(folder));
  return at === -1 ? 2 : at;
}

export function writeFailuresPage(root: string): string {
  const tests = testsWithCodes(root);
  const byCode = Map.groupBy(failureTexts(root), ({ code }) => code);
  const parts = [...byCode].map(([code, texts]) => `## ${code}\n\n${tableOf(texts, tests)}\n`);
  return `${head}\n${parts.join("\n")}`;
}

const head = `# Failures, one by one

Made by \`node scripts/requirements.ts\` from the words of the product, the statuses of \`src/http/status.ts\` and the tests.
How a failure is answered stands in [the API](README.md#failures). What is in braces is filled in, and numbers are examples.
A *cause* is \`why\` of the parameters. Who calls over HTTP is given other advice where a command or a file of the operator
would be needed. The test compares this code, with the cause in the same assertion where the row names one, and what it compares was answered by the product, not made up.
An assertion that is made for each row of a table is one: which of its rows has both is not looked at.
`;

function tableOf(texts: readonly FailureText[], tests: readonly TestWithCodes[]): string {
  const rows = texts.map(({ code, why, status, what, next, nextOverHttp }) => {
    const advice = next === nextOverHttp ? cell(next) : `${cell(next)}<br>*Over HTTP:* ${cell(nextOverHttp)}`;
    const met = testMeeting(tests, code, why);
    const test = met === undefined ? "—" : `\`${met.file}\`: ${cell(met.name.replace(ids, ""))}`;
    return `| ${status} | ${why ?? ""} | ${cell(what)} | ${advice} | ${test} |`;
  });
  return `| status | cause | what it says | what to do | test |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}`;
}

/** Of the requirements that a test names. */
const ids = /\s*(?:\[[A-Z]\d+\])+$/;

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}
