import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";

// Two of the stories as `npm run replica-suite` runs all of them: two processes on one database, each request to either.

const root = join(import.meta.dirname, "..", "..");
const central = ["decisions"];
/** Starts the program itself, twice, behind a balancer. */
const started = ["serve-flow"];

test("stories are the same with two servers behind a balancer that sends each request to either [N1]", {
  skip: cannotStore,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "balanced-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [outcomes, tally] = [join(folder, "outcomes.jsonl"), join(folder, "tally.jsonl")];
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, AGENTYARD_TESTED_PACKAGE } = process.env;
  // Always the same way for each request: others are for `npm run replica-suite` to find.
  const { AGENTYARD_SEED = "1" } = process.env;
  const env = {
    ...{ PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, AGENTYARD_TESTED_PACKAGE, AGENTYARD_SEED, LANG: "C.UTF-8" },
    ...{ AGENTYARD_TEST_DATABASE: (await postgresServer()).place, AGENTYARD_TEST_REPLICAS: "2" },
    AGENTYARD_TEST_TALLY: tally,
  };
  const reporters = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...["--test-reporter=./scripts/reporters/test-outcomes.ts", `--test-reporter-destination=${outcomes}`],
  ];
  const files = [...central, ...started].map((name) => `test/stories/${name}.test.ts`);
  const skipped = leftOut.map((name) => `--test-skip-pattern=^${RegExp.escape(name)}`);
  // One that waits for ever is told of by its name.
  const args = ["--test", "--test-isolation=none", "--test-timeout=180000", ...skipped, ...reporters, ...files];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  const told = linesOf<{ name: string; outcome: string }>(outcomes);
  const failed = told.filter(({ outcome }) => outcome !== "passed").map(({ name }) => name);
  assert.deepEqual(failed, [], said);
  assert.ok(told.length >= 8, said);
  // Both processes had a share.
  const shares = linesOf<number[]>(tally);
  for (const index of [0, 1]) assert.ok(shares.some((share) => (share[index] ?? 0) > 10));
});

/** All but the long ones, and one that is about one process (scripts/one-process-stories.ts). */
const leftOut = [
  ...["killed in", "a lost index", "nobody finds what", "what is undone", "the same runs with the API key"],
  "a server that closes says so",
];

function linesOf<T>(path: string): T[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line): T[] => (line === "" ? [] : [JSON.parse(line)]));
}
