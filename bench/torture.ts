/** `npm run torture`: the proofs that take too long for `npm test`, which runs a short form of each. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const powerCuts = { AGENTYARD_POWER_CUTS: "10" };
const proofs: { readonly what: string; readonly file: string; readonly env: Record<string, string> }[] = [
  { what: "200 kills at random moments", file: "test/crashes/crash.test.ts", env: { AGENTYARD_RANDOM_KILLS: "200" } },
  {
    what: "two servers on one database, one killed after every single write, wherever its callers are",
    file: "test/crashes/two-servers.test.ts",
    env: { AGENTYARD_SERVER_KILLS: "every" },
  },
  {
    what: "a process on PostgreSQL killed after every single write of eleven scenarios",
    file: "test/crashes/postgres-kills.test.ts",
    env: { AGENTYARD_DATABASE_KILLS: "every" },
  },
  {
    what: "a move and a restore onto PostgreSQL killed before every single question",
    file: "test/contracts/postgres-move-kills.test.ts",
    env: { AGENTYARD_MOVE_KILLS: "every" },
  },
  {
    what: "an upgrade of PostgreSQL's tables killed before every single question",
    file: "test/contracts/postgres-upgrade.test.ts",
    env: { AGENTYARD_UPGRADE_KILLS: "every" },
  },
  {
    what: "20 kills of a company of agents",
    file: "test/crashes/company-kills.test.ts",
    env: { AGENTYARD_COMPANY_KILLS: "20" },
  },
  {
    what: "three servers on one database, 300 conversations, three minutes of kills, cuts and restarts",
    file: "test/crashes/chaos.test.ts",
    env: { AGENTYARD_CHAOS_CONVERSATIONS: "300", AGENTYARD_CHAOS_SECONDS: "180" },
  },
  {
    what: "a whole day of a user with five kills, on either database",
    file: "test/stories/day.test.ts",
    env: { AGENTYARD_DAYS: "all" },
  },
  {
    what: "200 random trees of agents",
    file: "test/stories/agent-trees.test.ts",
    env: { AGENTYARD_AGENT_TREES: "200" },
  },
  {
    what: "100 random programs of agents within their budget",
    file: "test/stories/budget-trees.test.ts",
    env: { AGENTYARD_BUDGET_TREES: "100" },
  },
  {
    what: "10,000 conversations moved to PostgreSQL, backed up and restored",
    file: "test/stories/moved-yards.test.ts",
    env: { AGENTYARD_MOVED_CONVERSATIONS: "10000" },
  },
  { what: "power cuts of a log that is written", file: "test/crashes/power-cut-log.test.ts", env: powerCuts },
  { what: "power cuts of a first start and a migration", file: "test/crashes/power-cut-start.test.ts", env: powerCuts },
  { what: "power cuts of a server at work", file: "test/crashes/power-cut-serve.test.ts", env: powerCuts },
  { what: "power cuts of backup and restore", file: "test/crashes/power-cut-backup.test.ts", env: powerCuts },
  {
    what: "500 random conversations keep their prefix",
    file: "test/stories/prefix.test.ts",
    env: { AGENTYARD_PROPERTY_RUNS: "500" },
  },
  {
    what: "500 random conversations whose window is too small, and one of 2,000 steps in each window",
    file: "test/stories/compaction-torture.test.ts",
    env: { AGENTYARD_TORTURE_RUNS: "500", AGENTYARD_TORTURE_STEPS: "2000" },
  },
  {
    what: "100,000 hostile paths and ids",
    file: "test/contracts/workspace-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_PATHS: "100000" },
  },
  {
    what: "20,000 requests of every kind over every route",
    file: "test/stories/http-fuzz.test.ts",
    env: { AGENTYARD_FUZZ_REQUESTS: "20000" },
  },
  {
    what: "100 kills in the middle of a write",
    file: "test/contracts/workspace-writes.test.ts",
    env: { AGENTYARD_WRITE_KILLS: "100" },
  },
  {
    what: "40 kills of a server in the middle of executions, uploads and deletions",
    file: "test/crashes/sandbox-kills.test.ts",
    env: { AGENTYARD_SANDBOX_KILLS: "40" },
  },
  {
    what: "a program of more than half a minute",
    file: "test/contracts/sandbox-deaths.test.ts",
    env: { AGENTYARD_LONG_PROGRAM: "31" },
  },
  {
    what: "hostile texts of 250 KB before the judge",
    file: "src/approvals/hostile.test.ts",
    env: { AGENTYARD_HOSTILE_CHARACTERS: "1000000" },
  },
  {
    what: "all sandbox suites as an ordinary user",
    file: "test/contracts/sandbox-unprivileged.test.ts",
    env: { AGENTYARD_UNPRIVILEGED: "all" },
  },
];

// Nobody's own: tests look for it in what is answered, and `/root` stands in honest answers, too.
const home = mkdtempSync(join(tmpdir(), "agentyard-torture-"));
let failures = 0;
for (const { what, file, env } of proofs) {
  console.log(`\n${what}`);
  const done = spawnSync(process.execPath, ["--test", join(root, file)], {
    stdio: "inherit",
    env: { ...process.env, HOME: home, ...env },
  });
  if (done.status !== 0) failures += 1;
}
rmSync(home, { recursive: true, force: true });
process.exitCode = failures === 0 ? 0 : 1;
