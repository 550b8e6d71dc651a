// `npm run replica-suite`: all stories against two processes on one PostgreSQL database, each request to either of them. The
// database server is started for them, in a folder of its own, and stopped again. It takes far longer than the stories on
// their own, and is therefore no part of `npm test`, which runs a few of them so (test/stories/balanced.test.ts).
// `npm run replica-suite -- word…` runs the stories whose path has one of the words, `--from name` those from there on;
// `--replicas 1` one process alone; `--log folder` keeps what each file said.
import { spawn } from "node:child_process";
import {
  chmodSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { seedFor } from "../test/world/fuzz-chance.ts";
import { startPostgres } from "../test/world/postgres-server.ts";
import { oneProcessStories } from "./one-process-stories.ts";
import { temporaryRoot } from "./temporary-root.ts";

type Outcome = { readonly name: string; readonly outcome: "passed" | "failed" | "skipped" };
type Told = {
  readonly file: string;
  readonly outcomes: readonly Outcome[];
  /** How many went to each of the processes; none where a story asks no server. */
  readonly requests: readonly number[];
  readonly isBroken: boolean;
};

/** Two stories wait for each other's processors less than one waits for its own time. */
const lanes = 2;

/** A file that says nothing for so long has not come to its end. */
const fileMsMax = 400_000;

const root = join(import.meta.dirname, "..");
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    replicas: { type: "string", default: "2" },
    from: { type: "string", default: "" },
    log: { type: "string" },
  },
});
const temporary = mkdtempSync(join(temporaryRoot(), "agentyard-replicas-"));
chmodSync(temporary, 0o711); // Some stories start a database server of their own, which runs as another user.
const logs = values.log ?? temporary;
mkdirSync(logs, { recursive: true });

// What was started ends with it, also where it is told to end.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const server = await startPostgres();
const { PATH } = process.env;
// Nobody's own: stories look for it in what is answered.
const HOME = join(temporary, "home");
mkdirSync(HOME);
const env = {
  ...{ PATH, HOME, LANG: "C.UTF-8", TMPDIR: temporary, NODE_COMPILE_CACHE: join(temporary, "compiled") },
  ...{ AGENTYARD_TEST_DATABASE: server.place, AGENTYARD_TEST_REPLICAS: values.replicas },
  // Said at the beginning, so that whatever it finds can be had again.
  AGENTYARD_SEED: String(seedFor("replicas")),
};
try {
  const told: Told[] = [];
  const files = storyFiles();
  const runLane = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const ran = await run(file);
      console.log(lineOf(ran));
      told.push(ran);
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  process.exitCode = report(told);
} finally {
  await server.stop();
  rmSync(temporary, { recursive: true, force: true });
}

function storyFiles(): string[] {
  return globSync("test/stories/*.test.ts", { cwd: root })
    .filter((file) => basename(file) >= values.from && !isLeftOut(file))
    .filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word)))
    .sort();
}

/** All of it; single tests are left out by their names. */
function isLeftOut(file: string): boolean {
  return oneProcessStories.some((story) => story.test === undefined && `${story.file}.test.ts` === basename(file));
}

function skippedIn(file: string): string[] {
  const tests = oneProcessStories.filter((story) => `${story.file}.test.ts` === basename(file));
  return tests.flatMap(({ test }) => (test === undefined ? [] : [`--test-skip-pattern=^${RegExp.escape(test)}`]));
}

async function run(file: string): Promise<Told> {
  const name = basename(file, ".test.ts");
  const [outcomesFile, tallyFile] = [join(temporary, `${name}-outcomes.jsonl`), join(temporary, `${name}-tally.jsonl`)];
  const reporters = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...["--test-reporter=./scripts/reporters/test-outcomes.ts", `--test-reporter-destination=${outcomesFile}`],
  ];
  const said = createWriteStream(join(logs, `${name}.txt`));
  const child = spawn(process.execPath, ["--test", ...reporters, ...skippedIn(file), file], {
    ...{ cwd: root, env: { ...env, AGENTYARD_TEST_TALLY: tallyFile }, stdio: ["ignore", "pipe", "pipe"] },
    timeout: fileMsMax,
  });
  child.stdout.pipe(said, { end: false });
  child.stderr.pipe(said, { end: false });
  const code = await new Promise((resolve) => child.once("close", resolve));
  said.end();
  const outcomes = linesOf<Outcome>(outcomesFile);
  const shares = linesOf<number[]>(tallyFile);
  const requests = [0, 1].map((index) => shares.reduce((sum, share) => sum + (share[index] ?? 0), 0));
  return { file, outcomes, requests, isBroken: code !== 0 && !outcomes.some(({ outcome }) => outcome === "failed") };
}

function linesOf<T>(path: string): T[] {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  return lines.filter((line) => line !== "").map((line): T => JSON.parse(line));
}

function lineOf({ file, outcomes, requests, isBroken }: Told): string {
  const count = (wanted: Outcome["outcome"]) => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const counts = `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped; ${requests.join(" + ")} requests`;
  const named = outcomes.filter(({ outcome }) => outcome !== "passed");
  const lines = named.map(({ name, outcome }) => `    ${outcome}: ${name}`);
  return [`${basename(file, ".test.ts").padEnd(32)} ${counts}${isBroken ? ", did not end" : ""}`, ...lines].join("\n");
}

function report(told: readonly Told[]): number {
  const all = told.flatMap(({ outcomes }) => outcomes);
  const count = (wanted: Outcome["outcome"]) => all.filter(({ outcome }) => outcome === wanted).length;
  const broken = told.filter(({ isBroken }) => isBroken).length;
  const asked = told.filter(({ requests }) => requests.some((sent) => sent > 0));
  const sums = [0, 1].map((index) => asked.reduce((sum, { requests }) => sum + (requests[index] ?? 0), 0));
  console.log(
    `\n${asked.length} files sent ${sums.join(" + ")} requests to two processes; the others ask no server over HTTP.`,
  );
  console.log(
    `${told.length} files: ${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped` +
      `${broken > 0 ? `; ${broken} did not end` : ""}`,
  );
  console.log("\nLeft out, because it is about one process or about files of SQLite:");
  for (const { file, test, why } of oneProcessStories)
    console.log(`  ${file}${test === undefined ? "" : ` (${test} …)`}: ${why}`);
  return count("failed") + broken === 0 && all.length > 0 ? 0 : 1;
}
