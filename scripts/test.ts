// `npm test`: the unit tests in one process, and beside it stories, contracts, crashes and attacks. Stories and contracts
// share processes, a few files each; one that begins with `// Runs alone: why` has its own. Where a test starts the program, it
// is the package that was built of these sources a moment before.
// `npm test -- word…` runs only the test files whose path has one of the words; `--test-name-pattern` chooses by name.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { writePackage } from "./build/package.ts";
import type { Counted } from "./reporters/test-count.ts";
import { temporaryRoot } from "./temporary-root.ts";

/** Half a second of a file's processor time is its start; more files than this, and the lanes end at different times. */
const sharingMax = 8;

/** Two more than the cores of the smallest machine: a browser waits now and then. With three, a core was idle for a minute in all. */
const lanes = 4;

/** The longest test takes two minutes on the smallest machine. One that waits for ever fails by its name instead of stopping CI. */
const testMsMax = 900_000;

const root = join(import.meta.dirname, "..");
const startedAt = performance.now();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "test-name-pattern": { type: "string", multiple: true, default: [] } },
});
const namePatterns = values["test-name-pattern"].map((pattern) => `--test-name-pattern=${pattern}`);
const isFiltered = positionals.length > 0 || namePatterns.length > 0;

const temporary = mkdtempSync(join(temporaryRoot(), "agentyard-test-"));
chmodSync(temporary, 0o711); // Some tests run as another user, who must get to the folder made for them.
try {
  const built = join(temporary, "package");
  await writePackage(root, built);
  const env = { ...cleanEnvironment(), AGENTYARD_TESTED_PACKAGE: built };
  process.exitCode = report(await runTests(env));
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function chosen(globs: string[]): string[] {
  const isChosen = (file: string) => positionals.length === 0 || positionals.some((word) => file.includes(word));
  return globSync(globs, { cwd: root }).filter(isChosen).sort();
}

/** Nothing of this machine but what a program needs to run: no key, no proxy, no language. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const home = join(temporary, "home");
  mkdirSync(home);
  const { PATH, CI, AGENTYARD_SCREENSHOTS } = process.env;
  // Each test file is a process of its own: what one has compiled the others need not, which halves their start.
  const compiled = join(temporary, "compiled");
  return {
    PATH,
    HOME: home,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    NODE_COMPILE_CACHE: compiled,
    ...(CI && { CI }),
    ...(AGENTYARD_SCREENSHOTS && { AGENTYARD_SCREENSHOTS }),
  };
}

async function runTests(env: NodeJS.ProcessEnv): Promise<Counted> {
  const units = chosen(["src/**/*.test.ts", "test/*.test.ts"]);
  const behaviour = chosen(["test/{stories,contracts,crashes,attacks}/**/*.test.ts"]);
  if (units.length + behaviour.length === 0) return nothingRan();
  console.log(`${units.length} files of unit tests, ${behaviour.length} of behaviour`);
  const countFile = join(temporary, "count.json");
  const reporters = [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/reporters/test-count.ts",
    `--test-reporter-destination=${countFile}`,
  ];
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        "--import=./scripts/without-test-hooks.ts",
        ...["--test", `--test-timeout=${testMsMax}`, `--test-concurrency=${lanes}`],
        ...[...reporters, ...namePatterns, ...shareProcesses(units, behaviour)],
      ],
      { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] },
    );
    child.on("error", reject);
    child.on("close", resolve);
  });
  return countIn(countFile, exitCode);
}

/**
 * Files that import a few of these each, and first of all, because the longest are among them, the units and those that need
 * a process of their own. The test runner goes by their names.
 */
function shareProcesses(units: readonly string[], behaviour: readonly string[]): string[] {
  const alone = behaviour.filter(runsAlone);
  const sharing = behaviour.filter((file) => !alone.includes(file));
  const groups = [units, ...alone.map((file) => [file])].filter(({ length }) => length > 0);
  for (let at = 0; at < sharing.length; at += sharingMax) groups.push(sharing.slice(at, at + sharingMax));
  return groups.map((group, index) => {
    const importing = join(temporary, `group-${String(index + 1).padStart(3, "0")}.test.mjs`);
    const imported = group === units ? group : ["test/world/leftovers.ts", ...group];
    writeFileSync(importing, imported.map((file) => `import "${pathToFileURL(join(root, file))}";\n`).join(""));
    return importing;
  });
}

function runsAlone(file: string): boolean {
  if (/^test\/(crashes|attacks)\//.test(file)) return true;
  return readFileSync(join(root, file), "utf8").startsWith("// Runs alone: ");
}

function countIn(countFile: string, exitCode: number | null): Counted {
  const counted = existsSync(countFile) ? readFileSync(countFile, "utf8") : "";
  if (counted === "") return countFault("A test ended the whole process.");
  const count: Counted = JSON.parse(counted);
  if (exitCode !== 0 && count.failed === 0) return countFault(`Nothing failed, but the tests ended with ${exitCode}.`);
  return count.passed + count.failed === 0 ? nothingRan() : count;
}

/** Whoever ran nothing has failed, unless the tests were chosen. */
function nothingRan(): Counted {
  return isFiltered ? countNothing() : countFault("No test was run.");
}

function countNothing(): Counted {
  return { passed: 0, failed: 0, skipped: 0, failures: [], filesMs: {} };
}

function countFault(why: string): Counted {
  return { ...countNothing(), failed: 1, failures: [{ name: "all tests", file: "", why }] };
}

/** What failed is told once more at the very end: of a long output often only that is kept. */
function report({ passed, skipped, failures, filesMs, ...count }: Counted): number {
  const isSkipAllowed = process.env.CI !== "true";
  const failed = count.failed + (isSkipAllowed ? 0 : skipped);
  const files = Object.entries(filesMs).sort(([, one], [, other]) => other - one);
  console.log(`\n${((performance.now() - startedAt) / 1000).toFixed(1)} s, of its tests the longest files:`);
  for (const [file, ms] of files.slice(0, 15)) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  for (const { name, file, why } of failures) console.log(`\n✖ ${name}\n${file}\n${why}`);
  if (passed + failed === 0) console.log("No test was run.");
  if (skipped > 0 && !isSkipAllowed) console.log(`In CI a skipped test is a failed one: ${skipped}.`);
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 && isSkipAllowed ? `, ${skipped} skipped` : ""}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
