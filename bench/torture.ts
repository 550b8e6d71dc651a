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
const powerCuts = { AGENTYARD_POWER_CUTS: "10" };
const proofs: readonly Proof[] = [
  {
    name: "kills",
    what: "200 kills at random moments",
    file: "test/crashes/crash.test.ts",
    env: { AGENTYARD_RANDOM_KILLS: "200" },
  },
  {
    name: "two-servers",
    what: "two servers on one database, one killed after every single write, wherever its callers are",
    file: "test/crashes/two-servers.test.ts",
    env: { AGENTYARD_SERVER_KILLS: "every" },
  },
  {
    name: "postgres-kills",
    what: "a process on PostgreSQL killed after every single write of eleven scenarios",
    file: "test/crashes/postgres-kills.test.ts",
    env: { AGENTYARD_DATABASE_KILLS: "every" },
  },
  {
    name: "move-kills",
    what: "a move and a restore onto PostgreSQL killed before every single question",
    file: "test/contracts/postgres-move-kills.test.ts",
    env: { AGENTYARD_MOVE_KILLS: "every" },
  },
  {
    name: "upgrade-kills",
    what: "an upgrade of PostgreSQL's tables killed before every single question",
    file: "test/contracts/postgres-upgrade.test.ts",
    env: { AGENTYARD_UPGRADE_KILLS: "every" },
  },
  {
    name: "company-kills",
    what: "20 kills of a company of agents",
    file: "test/crashes/company-kills.test.ts",
    env: { AGENTYARD_COMPANY_KILLS: "20" },
  },
  {
    name: "chaos",
    what: "three servers on one database, 300 conversations, three minutes of kills, cuts and restarts",
    file: "test/crashes/chaos.test.ts",
    env: { AGENTYARD_CHAOS_CONVERSATIONS: "300", AGENTYARD_CHAOS_SECONDS: "180" },
  },
  {
    name: "day",
    what: "a whole day of a user with five kills, on either database",
    file: "test/stories/day.test.ts",
    env: { AGENTYARD_DAYS: "all" },
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
    name: "moved-data",
    what: "10,000 conversations moved to PostgreSQL, backed up and restored",
    file: "test/stories/moved-yards.test.ts",
    env: { AGENTYARD_MOVED_CONVERSATIONS: "10000" },
  },
  {
    name: "power-cut-log",
    what: "power cuts of a log that is written",
    file: "test/crashes/power-cut-log.test.ts",
    env: powerCuts,
  },
  {
    name: "power-cut-start",
    what: "power cuts of a first start and a migration",
    file: "test/crashes/power-cut-start.test.ts",
    env: powerCuts,
  },
  {
    name: "power-cut-serve",
    what: "power cuts of a server at work",
    file: "test/crashes/power-cut-serve.test.ts",
    env: powerCuts,
  },
  {
    name: "power-cut-backup",
    what: "power cuts of backup and restore",
    file: "test/crashes/power-cut-backup.test.ts",
    env: powerCuts,
  },
  {
    name: "prefix",
    what: "500 random conversations keep their prefix",
    file: "test/stories/prefix.test.ts",
    env: { AGENTYARD_PROPERTY_RUNS: "500" },
  },
  {
    name: "compaction",
    what: "500 random conversations whose window is too small, and one of 2,000 steps in each window",
    file: "test/stories/compaction-torture.test.ts",
    env: { AGENTYARD_TORTURE_RUNS: "500", AGENTYARD_TORTURE_STEPS: "2000" },
  },
  {
    name: "paths",
    what: "100,000 hostile paths and ids",
    file: "test/contracts/workspace-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_PATHS: "100000" },
  },
  {
    name: "requests",
    what: "20,000 requests of every kind over every route",
    file: "test/stories/http-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_REQUESTS: "20000" },
  },
  {
    name: "write-kills",
    what: "100 kills in the middle of a write",
    file: "test/contracts/workspace-writes.test.ts",
    env: { AGENTYARD_WRITE_KILLS: "100" },
  },
  {
    name: "sandbox-kills",
    what: "40 kills of a server in the middle of executions, uploads and deletions",
    file: "test/crashes/sandbox-kills.test.ts",
    env: { AGENTYARD_SANDBOX_KILLS: "40" },
  },
  {
    name: "long-program",
    what: "a program of more than half a minute",
    file: "test/contracts/sandbox-deaths.test.ts",
    env: { AGENTYARD_LONG_PROGRAM: "31" },
  },
  {
    name: "hostile-texts",
    what: "hostile texts of 250 KB before the judge",
    file: "src/approvals/hostile.test.ts",
    env: { AGENTYARD_HOSTILE_CHARACTERS: "1000000" },
  },
  {
    name: "unprivileged",
    what: "all sandbox suites as an ordinary user",
    file: "test/contracts/sandbox-unprivileged.test.ts",
    env: { AGENTYARD_UNPRIVILEGED: "all" },
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
