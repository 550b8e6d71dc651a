// `npm run torture`: the long forms of promises of which `npm test` runs a short one. It takes hours.
//   npm run torture -- --list     what there is
//   npm run torture -- name…      only these
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

interface Proof {
  readonly name: string;
  readonly what: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, "..");
const proofs: readonly Proof[] = [
  {
    name: "kills",
    what: "crash scenarios gone on with after every write, and 200 kills at random moments",
    file: "test/crashes/crash.test.ts",
    env: { AGENTYARD_CRASH_SCENARIOS: "all", AGENTYARD_RANDOM_KILLS: "200" },
  },
  {
    name: "two-servers",
    what: "two servers on one database, one killed after every write",
    file: "test/crashes/two-servers.test.ts",
    env: { AGENTYARD_SERVER_KILLS: "every" },
  },
  {
    name: "postgres-move",
    what: "moves, restores and upgrades of a PostgreSQL database, killed before every query",
    file: "test/contracts/postgres-move.test.ts",
    env: { AGENTYARD_MOVE_KILLS: "every", AGENTYARD_UPGRADE_KILLS: "every" },
  },
  {
    name: "restore-kills",
    what: "a restore killed after every step",
    file: "test/stories/restore.test.ts",
    env: { AGENTYARD_RESTORE_KILLS: "every" },
  },
  {
    name: "chaos",
    what: "three servers on one database, 300 conversations, three minutes of kills, cuts and restarts",
    file: "test/crashes/chaos.test.ts",
    env: { AGENTYARD_CHAOS_SERVERS: "3", AGENTYARD_CHAOS_CONVERSATIONS: "300", AGENTYARD_CHAOS_SECONDS: "180" },
  },
  {
    name: "day",
    what: "a whole day of a user with five kills, on both databases",
    file: "test/torture/day.test.ts",
    env: {},
  },
  {
    name: "moved-data",
    what: "10,000 conversations moved to PostgreSQL, backed up and restored",
    file: "test/stories/postgres.test.ts",
    env: { AGENTYARD_MOVED_CONVERSATIONS: "10000" },
  },
  {
    name: "power-cuts",
    what: "power cuts of a log, a first start, a migration, a server at work, a backup and a restore",
    file: "test/crashes/power-cuts.test.ts",
    env: { AGENTYARD_POWER_CUTS: "10" },
  },
  {
    name: "benches",
    what: "the short form of every bench",
    file: "test/stories/bench.test.ts",
    env: { AGENTYARD_BENCHES: "all" },
  },
  {
    name: "agent-trees",
    what: "200 random trees of agents",
    file: "test/stories/agent-trees.test.ts",
    env: { AGENTYARD_AGENT_TREES: "200" },
  },
  {
    name: "budget-trees",
    what: "100 random programs of agents within their budget",
    file: "test/stories/budget-trees.test.ts",
    env: { AGENTYARD_BUDGET_TREES: "100" },
  },
  {
    name: "decisions",
    what: "25 rounds of decisions at the same moment",
    file: "test/stories/decisions.test.ts",
    env: { AGENTYARD_DECISION_ROUNDS: "25" },
  },
  {
    name: "prefix",
    what: "500 random conversations keep their prefix",
    file: "test/stories/prefix.test.ts",
    env: { AGENTYARD_PROPERTY_RUNS: "500" },
  },
  {
    name: "compaction",
    what: "500 random conversations with too small a window, and one of 2,000 steps in each window",
    file: "test/stories/compaction-torture.test.ts",
    env: { AGENTYARD_TORTURE_RUNS: "500", AGENTYARD_TORTURE_STEPS: "2000" },
  },
  {
    name: "paths",
    what: "100,000 hostile paths and ids, and links swapped during every operation",
    file: "test/contracts/workspace-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_PATHS: "100000", AGENTYARD_RACE_ROUNDS: "60" },
  },
  {
    name: "programs",
    what: "100 random programs that change files",
    file: "test/contracts/workspace-properties.test.ts",
    env: { AGENTYARD_PROPERTY_RUNS: "100" },
  },
  {
    name: "write-kills",
    what: "100 kills in the middle of a write",
    file: "test/contracts/workspace-writes.test.ts",
    env: { AGENTYARD_WRITE_KILLS: "100" },
  },
  {
    name: "searches",
    what: "random owners and searches, indexing killed after 1, 3, 5 and 7 batches",
    file: "test/stories/search-everything.test.ts",
    env: { AGENTYARD_PROPERTY_RUNS: "12", AGENTYARD_SEARCH_KILLS: "every" },
  },
  {
    name: "lost-documents",
    what: "three patterns of lost documents",
    file: "src/documents/search.test.ts",
    env: { AGENTYARD_LOST_PATTERNS: "all" },
  },
  {
    name: "lost-texts",
    what: "three patterns of lost texts",
    file: "src/search/search.test.ts",
    env: { AGENTYARD_LOST_PATTERNS: "all" },
  },
  {
    name: "quirks",
    what: "every quirk of a model server, sent in pieces of 1, 7 and 4096 bytes",
    file: "test/contracts/provider-quirks.test.ts",
    env: { AGENTYARD_QUIRK_CUTS: "every" },
  },
  {
    name: "requests",
    what: "20,000 requests of every kind over every route",
    file: "test/stories/http-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_REQUESTS: "20000" },
  },
  {
    name: "openai-requests",
    what: "20,000 requests in the dialects of OpenAI",
    file: "test/stories/openai-streams.test.ts",
    env: { AGENTYARD_FUZZ_REQUESTS: "20000" },
  },
  {
    name: "file-requests",
    what: "20,000 hostile names and paths in requests",
    file: "test/stories/http-files.test.ts",
    env: { AGENTYARD_FUZZ_REQUESTS: "20000" },
  },
  {
    name: "hostile-names",
    what: "the preview of every hostile file name in the browser",
    file: "test/stories/web-hostile.test.ts",
    env: { AGENTYARD_HOSTILE_NAMES: "all" },
  },
  {
    name: "hostile-texts",
    what: "hostile commands of 1,000,000 characters",
    file: "src/approvals/hostile.test.ts",
    env: { AGENTYARD_HOSTILE_CHARACTERS: "1000000" },
  },
  {
    name: "sandbox-kills",
    what: "40 kills of a server during executions, uploads and deletions",
    file: "test/crashes/sandbox-kills.test.ts",
    env: { AGENTYARD_SANDBOX_KILLS: "40" },
  },
  {
    name: "bombs",
    what: "memory, fork and print bombs beside 15 programs of others",
    file: "test/stories/sandbox-neighbours.test.ts",
    env: { AGENTYARD_BOMBS: "all" },
  },
  {
    name: "long-program",
    what: "a program of more than half a minute",
    file: "test/contracts/sandbox-deaths.test.ts",
    env: { AGENTYARD_LONG_PROGRAM: "31" },
  },
  {
    name: "unprivileged",
    what: "all sandbox suites as an ordinary user",
    file: "test/contracts/sandbox-unprivileged.test.ts",
    env: { AGENTYARD_UNPRIVILEGED: "all" },
  },
  {
    name: "skills",
    what: "every script of the shipped skills",
    file: "test/stories/shipped-skills.test.ts",
    env: { AGENTYARD_SHIPPED_SKILLS: "all" },
  },
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { list: { type: "boolean" } } });
const unknown = positionals.filter((name) => !proofs.some((proof) => proof.name === name));
const chosen = proofs.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}: see npm run torture -- --list`);
  process.exitCode = 2;
} else if (values.list) for (const { name, what } of proofs) console.log(`${name.padEnd(18)}${what}`);
else process.exitCode = runAll(chosen);

function runAll(all: readonly Proof[]): number {
  // Tests look for its name in answers, and `/root` stands in honest answers, too.
  const home = mkdtempSync(join(tmpdir(), "agentyard-torture-"));
  const lines: string[] = [];
  let failed = 0;
  for (const { name, what, file, env } of all) {
    console.log(`\n${name}: ${what}`);
    const startedAt = performance.now();
    const { status } = spawnSync(process.execPath, ["--test", join(root, file)], {
      stdio: "inherit",
      env: { ...process.env, HOME: home, ...env },
    });
    if (status !== 0) failed += 1;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(6);
    lines.push(`${status === 0 ? "✔" : "✖"} ${name.padEnd(18)}${seconds} s`);
  }
  rmSync(home, { recursive: true, force: true });
  console.log(`\n${lines.join("\n")}\n\n${all.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
