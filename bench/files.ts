/**
 * `npm run bench files`: what work with files costs against the plain tools of the system, in one run and in turns.
 *
 *   -- --short  small counts, to see that it runs; nothing is judged
 *
 * A missed target is printed and does not fail the run; a wrong answer does.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureAncestors } from "./files/ancestors.ts";
import { type Figure, lineOf } from "./files/figure.ts";
import { measureLooking } from "./files/looking.ts";
import { measureSearch } from "./files/search.ts";
import { full, type Sizes, short } from "./files/sizes.ts";
import { openWorld } from "./files/world.ts";
import { measureWrites } from "./files/writes.ts";

const resultsFolder = join(import.meta.dirname, "results");
const { values: flags } = parseArgs({ options: { short: { type: "boolean", default: false } } });
await bench(flags.short ? short : full, flags.short ? "files-short.json" : "files.json");

async function bench(sizes: Sizes, resultsFile: string): Promise<void> {
  const figures: Figure[] = [];
  const folder = makeFolder();
  const world = await openWorld(folder);
  try {
    for (const measure of [measureLooking, measureAncestors, measureSearch, measureWrites]) {
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
  writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), machine, sizes, figures }, null, 2)}\n`);
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
