/**
 * `npm run bench sandbox`: what running code costs against a bare `python3 -c pass`, in one run and in turns.
 *
 *   -- --short       small counts, to see that it runs; nothing is judged
 *   -- --only cells  one part of it: cells, starts, files, imports, idle, many, docker
 *
 * A missed target is printed and does not fail the run; a wrong answer does.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, lineOf } from "./figure.ts";
import { measureCells } from "./sandbox/cells.ts";
import { measureDocker } from "./sandbox/docker.ts";
import { measureFiles } from "./sandbox/files.ts";
import { measureIdle } from "./sandbox/idle.ts";
import { measureMany } from "./sandbox/many.ts";
import { full, type Sizes, short } from "./sandbox/sizes.ts";
import { measureImports, measureStarts } from "./sandbox/starts.ts";
import { openWorld } from "./sandbox/world.ts";

const resultsFolder = join(import.meta.dirname, "results");
const measures = {
  cells: measureCells,
  starts: measureStarts,
  files: measureFiles,
  imports: measureImports,
  idle: measureIdle,
  many: measureMany,
  docker: measureDocker,
};
const { values: flags } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
});
const parts = Object.entries(measures).filter(([name]) => flags.only === undefined || name === flags.only);
if (parts.length === 0) throw new Error(`--only takes one of ${Object.keys(measures).join(", ")}`);
await bench(
  flags.short ? short : full,
  `sandbox${flags.only ? `-${flags.only}` : ""}${flags.short ? "-short" : ""}.json`,
);

async function bench(sizes: Sizes, resultsFile: string): Promise<void> {
  const figures: Figure[] = [];
  const folder = makeFolder();
  const world = await openWorld(folder);
  try {
    const { missing, degraded } = await world.provider.probe();
    if (missing[0] !== undefined) throw new Error(`no code runs here: ${missing[0].reason}`);
    console.log(`Limits that this machine lacks: ${degraded.map(({ name }) => name).join(", ") || "none"}`);
    for (const [, measure] of parts) {
      for (const figure of await measure(world, sizes)) {
        console.log(lineOf(figure));
        figures.push(figure);
      }
    }
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const machine = { node: process.version, platform: process.platform, arch: process.arch, cores: cpus().length };
  const file = join(resultsFolder, resultsFile);
  const all = { at: new Date().toISOString(), machine, load: loadavg(), sizes, figures };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\nAll figures: ${file}`);
}

/** Beside the results and not in the system's temporary folder: that may be memory, and then nothing reaches a disk. */
function makeFolder(): string {
  mkdirSync(resultsFolder, { recursive: true });
  const folder = mkdtempSync(join(resultsFolder, "data-"));
  process.on("SIGINT", () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(130);
  });
  return folder;
}
