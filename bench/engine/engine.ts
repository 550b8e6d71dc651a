/**
 * `npm run bench engine`: the same scripted work through a bare loop, AgentYard and three peers, in one run.
 *
 *   -- --quick           50 steps, one round, bare loop and AgentYard only
 *   -- --full            also LangGraph at 1,000 steps and every peer at 32 conversations
 *   -- --validate-saver  only check the LangGraph saver
 *
 * A missed target is printed and does not fail the run; a measure that breaks does, after the others are done.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Job, nameOf, runJob } from "./jobs.ts";
import { installPeers, peerVersions, validateSaver } from "./peers.ts";
import { type Extent, jobsOfRound, omissionsOf, roundsOf } from "./plan.ts";
import { report } from "./report.ts";
import type { Results } from "./results.ts";
import { judge } from "./targets.ts";
import type { World } from "./variant.ts";

const resultsFolder = join(import.meta.dirname, "..", "results");

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    "validate-saver": { type: "boolean", default: false },
  },
});
if (flags["validate-saver"]) checkPeers();
else await bench(flags.quick ? "quick" : flags.full ? "full" : "normal");

async function bench(extent: Extent): Promise<void> {
  if (extent !== "quick") checkPeers();
  const { server, modelUrl } = await startModelServer();
  const { results, failures } = await measureAll(extent, { modelUrl, folder: makeFolder() });
  server.disconnect();

  console.log(`\n${report(results, roundsOf(extent), omissionsOf(extent))}`);
  const file = join(resultsFolder, extent === "quick" ? "engine-quick.json" : "engine.json");
  writeResults(file, results);
  console.log(`\nAll figures: ${file}`);
  for (const [name, reason] of failures) console.error(`\nFailed: ${name}\n${reason}`);
  if (failures.size > 0) process.exitCode = 1;
}

function checkPeers(): void {
  installPeers();
  validateSaver();
}

async function startModelServer(): Promise<{ server: ChildProcess; modelUrl: string }> {
  const server = fork(join(import.meta.dirname, "model-server.ts"));
  const [modelUrl] = await once(server, "message");
  return { server, modelUrl };
}

/** Beside the results and not in the system's temporary folder: that may be memory, and then nothing reaches a disk. */
function makeFolder(): string {
  mkdirSync(resultsFolder, { recursive: true });
  const folder = mkdtempSync(join(resultsFolder, "data-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.on("SIGINT", () => process.exit(130));
  return folder;
}

/** Runs the rounds. A job that failed once is not tried again. */
async function measureAll(extent: Extent, world: World): Promise<{ results: Results; failures: Map<string, string> }> {
  const results: Results = { works: [], appends: [], reopenings: [] };
  const failures = new Map<string, string>();
  for (let round = 1; round <= roundsOf(extent); round += 1) {
    for (const job of jobsOfRound(extent)) {
      const name = nameOf(job);
      if (failures.has(name)) continue;
      console.log(`round ${round}: ${name}`);
      await measureInto(results, job, world).catch((error: unknown) => failures.set(name, String(error)));
    }
  }
  return { results, failures };
}

async function measureInto(results: Results, job: Job, world: World): Promise<void> {
  switch (job.kind) {
    case "work":
      results.works.push({ variant: job.variant, work: job.work, figures: await runJob(job, world) });
      break;
    case "appends":
      results.appends.push({ conversations: job.conversations, cpuMs: await runJob(job, world) });
      break;
    case "reopening":
      results.reopenings.push(await runJob(job, world));
  }
}

function writeResults(file: string, results: Results): void {
  const machine = { node: process.version, platform: process.platform, arch: process.arch, cores: cpus().length };
  const record = { at: new Date().toISOString(), machine, peers: peerVersions(), targets: judge(results), results };
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
}
