// `npm test`: a few processes (lanes) take one test file after the other; what has to be alone gets a process of its own.
// Tests that start the program start the package, which is built of these sources once.
//   npm test -- word…                    only files whose path has one of the words
//   npm test -- --test-name-pattern=re   only tests whose name fits
//   npm run test:changed                 only what the change since main can reach; `-- --since HEAD~3` for another start
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { noBrowser, startBrowser } from "../test/world/browser.ts";
import { cannotStore, startPostgres } from "../test/world/postgres-server.ts";
import { writePackage } from "./build/package.ts";
import { temporaryRoot } from "./temporary-root.ts";
import { testsOfChange } from "./test/changed.ts";
import { type FileResult, runInLanes } from "./test/lanes.ts";

/** Two more than the cores of the smallest machine: browsers, databases and sandboxes let a lane wait now and then. */
const lanes = 4;

const root = join(import.meta.dirname, "..");
const startedAt = performance.now();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "test-name-pattern": { type: "string", multiple: true, default: [] },
    changed: { type: "boolean", default: false },
    since: { type: "string", default: "main" },
  },
});

/** How long each file took the last time: the longest begin first. */
const durations = join(root, "node_modules", ".cache", "test-durations.json");

const temporary = mkdtempSync(join(temporaryRoot(), "agentyard-test-"));
chmodSync(temporary, 0o711); // Some tests run as another user, who must get to the folder made for them.
try {
  const files = chosenFiles();
  console.log(`${files.length} test files in ${lanes} lanes`);
  const built = join(temporary, "package");
  if (files.length > 0) await writePackage(root, built);
  await using shared = new AsyncDisposableStack();
  const env = { ...cleanEnvironment(), AGENTYARD_TESTED_PACKAGE: built, ...(await startShared(files, shared)) };
  const results = await runInLanes(
    files.map((file) => ({ file, isAlone: runsAlone(file) })),
    {
      ...{ root, env, lanes, namePatterns: values["test-name-pattern"] },
      onFile: printFile,
    },
  );
  process.exitCode = report(results);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** One browser and one database server for all files that use them; a file that is run by itself starts its own. */
async function startShared(files: readonly string[], shared: AsyncDisposableStack): Promise<NodeJS.ProcessEnv> {
  const uses = (word: RegExp) => files.some((file) => word.test(readFileSync(join(root, file), "utf8")));
  const env: NodeJS.ProcessEnv = {};
  if (noBrowser === undefined && uses(/world\/browser\.ts"/)) {
    const browser = await startBrowser();
    shared.defer(() => browser.close());
    env.AGENTYARD_TEST_BROWSER = browser.address;
  }
  // A file that is chosen by a word starts one where it needs it.
  if (positionals.length === 0 && !cannotStore && uses(/postgres/i)) {
    const database = await startPostgres({}, temporary);
    shared.defer(() => database.stop());
    env.AGENTYARD_TEST_POSTGRES = database.folder;
  }
  return env;
}

function chosenFiles(): string[] {
  const all = globSync(
    ["src/**/*.test.ts", "test/*.test.ts", "test/{stories,contracts,crashes,attacks}/**/*.test.ts"],
    {
      cwd: root,
    },
  );
  const named = all.filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word)));
  const chosen = values.changed ? testsOfChange(root, named, values.since) : named;
  const known = knownDurations();
  const cost = (file: string) => known[file] ?? statSync(join(root, file)).size / 10;
  return chosen.toSorted((one, other) => cost(other) - cost(one));
}

function knownDurations(): Record<string, number> {
  return existsSync(durations) ? JSON.parse(readFileSync(durations, "utf8")) : {};
}

/** Its first line says why. */
function runsAlone(file: string): boolean {
  return readFileSync(join(root, file), "utf8").startsWith("// Runs alone: ");
}

/** Nothing of this machine but what a program needs to run: no key, no proxy, no language. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const home = join(temporary, "home");
  mkdirSync(home);
  const { PATH, CI, AGENTYARD_SCREENSHOTS } = process.env;
  return {
    PATH,
    HOME: home,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    NODE_COMPILE_CACHE: join(temporary, "compiled"),
    ...(CI && { CI }),
    ...(AGENTYARD_SCREENSHOTS && { AGENTYARD_SCREENSHOTS }),
  };
}

function printFile({ file, outcomes, ms }: FileResult): void {
  const failed = outcomes.filter(({ state }) => state === "failed").length;
  const count = failed === 0 ? `${outcomes.length}` : `${failed} of ${outcomes.length} failed`;
  console.log(`${failed === 0 ? "✔" : "✖"} ${relative(root, file)}  ${count}  ${(ms / 1000).toFixed(1)} s`);
}

/** What failed is told once more at the very end: of a long output often only that is kept. */
function report(results: readonly FileResult[]): number {
  const tests = results.flatMap(({ file, outcomes }) => outcomes.map((outcome) => ({ file, ...outcome })));
  const count = (state: string) => tests.filter((test) => test.state === state).length;
  if (positionals.length === 0 && !values.changed) keepDurations(results);
  console.log(`\n${((performance.now() - startedAt) / 1000).toFixed(1)} s, the ten longest tests:`);
  for (const { ms, file, name } of tests.toSorted((one, other) => other.ms - one.ms).slice(0, 10))
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file} › ${name}`);
  for (const { state, file, name, why } of tests)
    if (state === "failed") console.log(`\n✖ ${name}\n${file}\n${why ?? ""}`);
  const skipped = count("skipped");
  const isSkipAllowed = process.env.CI !== "true";
  if (skipped > 0 && !isSkipAllowed) console.log(`In CI a skipped test is a failed one: ${skipped}.`);
  const failed = count("failed") + (isSkipAllowed ? 0 : skipped);
  const ran = count("passed") + failed;
  if (ran === 0) console.log("No test was run.");
  console.log(
    `\n${count("passed")} passed, ${failed} failed${skipped > 0 && isSkipAllowed ? `, ${skipped} skipped` : ""}`,
  );
  return failed === 0 && (ran > 0 || values.changed) ? 0 : 1;
}

function keepDurations(results: readonly FileResult[]): void {
  mkdirSync(join(durations, ".."), { recursive: true });
  writeFileSync(durations, JSON.stringify(Object.fromEntries(results.map(({ file, ms }) => [file, Math.round(ms)]))));
}
