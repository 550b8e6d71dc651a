// What starting costs: a turn of the demo model with ten MCP servers configured, one of which hangs, against one with none;
// and before the product itself starts: `npm start` with nothing to set up against an empty npm script
// with an empty pre-step, and `agentyard --version` against a Node that does nothing. All in one run, taken in turns.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const ROUNDS = 10;
const root = join(import.meta.dirname, "..");
const bin = join(root, "node_modules", ".bin");
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };

const folder = mkdtempSync(join(tmpdir(), "agentyard-bench-"));
const setUp = `node ${JSON.stringify(join(root, "scripts", "setup.mjs"))}`;
const scripts = { preempty: "node -e 0", empty: "node -e 0", preours: setUp, ours: "node -e 0" };
writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, scripts }));
for (const [name, servers] of [["none", {}] as const, ["ten", tenServers()] as const]) {
  mkdirSync(join(folder, name, "config"), { recursive: true });
  writeFileSync(join(folder, name, "config", "mcp_servers.yaml"), JSON.stringify({ servers }));
}
try {
  const [empty, ours, nothing, version] = medians([
    () => run("npm", "run", "--silent", "empty"),
    () => run("npm", "run", "--silent", "ours"),
    () => run(process.execPath, "-e", "0"),
    () => run(process.execPath, join(root, "bin", "agentyard.mjs"), "--version"),
  ]);
  const [without, withServers] = medians([() => run(...turnIn("none")), () => run(...turnIn("ten"))]);
  print("a turn with ten MCP servers", withServers, "a turn without", without, 1.1);
  print("npm start, nothing to set up", ours, "empty npm script with pre-step", empty, 1.2);
  print("agentyard --version", version, "node -e 0", nothing, 2);
} finally {
  rmSync(folder, { recursive: true });
}

/** Nine that answer and one that never does. What they offer is known after the first round, which does not count. */
function tenServers(): object {
  const script = join(root, "test", "world", "mcp-program.mjs");
  const manners = [...Array<string>(9).fill("well"), "silent"];
  return Object.fromEntries(
    manners.map((manner, index) => [`s${index}`, { command: process.execPath, args: [script, manner] }]),
  );
}

function turnIn(name: string): [program: string, ...args: string[]] {
  const place = join(folder, name);
  const set = [`AGENTYARD_CONFIG=${place}`, `AGENTYARD_DATA=${join(place, "data")}`];
  return ["env", ...set, process.execPath, join(root, "bin", "agentyard.mjs"), "run", "what time is it"];
}

/** In turns, so that a busy moment of the machine falls on all alike. */
function medians(jobs: (() => number)[]): number[] {
  const rounds = Array.from({ length: ROUNDS + 1 }, () => jobs.map((job) => job())).slice(1);
  return jobs.map((_, index) => rounds.map((round) => round[index] ?? 0).sort((a, b) => a - b)[ROUNDS / 2] ?? 0);
}

function run(program: string, ...args: string[]): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - startedAt;
}

function print(what: string, ms = 0, against: string, base = 0, target: number): void {
  const ratio = ms / base;
  const verdict = ratio <= target ? "held" : "missed";
  console.log(
    `${what}: ${ms.toFixed(0)} ms, ${ratio.toFixed(2)}× ${against} (${base.toFixed(0)} ms); target ${target}×: ${verdict}`,
  );
}
