// `npm run check`: what a machine can hold. A check that read nothing has failed, however green it calls itself.
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

interface Check {
  name: string;
  command: string;
  /** Finds in the output what was read: a number, or one match for each thing. */
  read: RegExp;
  unit: string;
}

const root = join(import.meta.dirname, "..");

export const checks: readonly Check[] = [
  {
    name: "tsc",
    command: "tsc --checkers 1 --incremental --tsBuildInfoFile node_modules/.cache/tsc.json --listFiles --pretty false",
    read: /^(?!.*node_modules)[^\s(]+\.ts$/gm,
    unit: "files",
  },
  {
    name: "tsc web",
    command: "tsc -p web --checkers 1 --listFiles --pretty false",
    read: /^(?!.*node_modules)[^\s(]+\/web\/[^\s(]+\.tsx?$/gm,
    unit: "files",
  },
  { name: "biome", command: "biome check", read: /Checked (\d+) files?/, unit: "files" },
  { name: "oxlint", command: "oxlint --type-aware", read: /on (\d+) files? with/, unit: "files" },
  {
    name: "knip",
    command: "knip --no-progress --reporter symbols --reporter ./scripts/reporters/knip-count.ts",
    read: /knip read (\d+) files/,
    unit: "files",
  },
  { name: "licences", command: "node scripts/licences.ts", read: /^(\d+) packages/m, unit: "packages" },
  {
    name: "failures page",
    command: "node scripts/failures-page.ts --check",
    read: /^(\d+) failures/m,
    unit: "failures",
  },
  {
    name: "house",
    command: "node --test --test-reporter=spec test/house.test.ts",
    read: /pass (\d+)/,
    unit: "tests",
  },
];

if (import.meta.main) {
  process.exitCode = (await runChecks(process.env)) ? 0 : 1;
}

/** Runs all checks at once and prints a line for each as it ends, with its output where it failed; answers whether all are good. */
async function runChecks(env: NodeJS.ProcessEnv): Promise<boolean> {
  const results = await Promise.all(checks.map((check) => runCheck(check, env)));
  return results.every(Boolean);
}

async function runCheck(check: Check, env: NodeJS.ProcessEnv): Promise<boolean> {
  const startedAt = performance.now();
  const { exitCode, output } = await run(check.command, env);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const count = countRead(output, check.read);
  const isGood = exitCode === 0 && count > 0;
  console.log(`${isGood ? "✓" : "✗"} ${check.name.padEnd(14)}${seconds.padStart(5)} s  ${count} ${check.unit}`);
  if (exitCode !== 0) console.log(withoutFileList(output));
  else if (count === 0) console.log(`  ${check.command}\n  read nothing.\n${output}`);
  return isGood;
}

function run(command: string, env: NodeJS.ProcessEnv): Promise<{ exitCode: number | null; output: string }> {
  const [program = "", ...args] = command.split(" ");
  const bin = join(root, "node_modules", ".bin");
  const child = spawn(join(bin, program), args, {
    cwd: root,
    env: { ...env, PATH: `${bin}${delimiter}${env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output: Buffer.concat(chunks).toString() }));
  });
}

export function countRead(output: string, read: RegExp): number {
  return read.global ? (output.match(read)?.length ?? 0) : Number(output.match(read)?.[1] ?? 0);
}

/** tsc prints what it read after what it found. */
function withoutFileList(output: string): string {
  return output
    .split("\n")
    .filter((line) => !/^[^\s(]+\.[cm]?tsx?$/.test(line))
    .join("\n");
}
