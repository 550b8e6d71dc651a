import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, lineOf } from "./figure.ts";

export type Bench<World, Sizes> = {
  readonly name: string;
  readonly full: Sizes;
  readonly short: Sizes;
  /** In the order in which they are measured. */
  readonly parts: Readonly<Record<string, (world: World, sizes: Sizes) => Promise<readonly Figure[]>>>;
  readonly openWorld: (folder: string) => Promise<World & { close(): Promise<void> }>;
};

const resultsFolder = join(import.meta.dirname, "results");

/**
 * Measures, prints and keeps the figures of one bench.
 *
 *   -- --short       small counts, to see that it runs; nothing is judged
 *   -- --only parts  one part of it
 *
 * A missed target is printed and does not fail the run; a wrong answer does.
 */
export async function runParts<World, Sizes>(bench: Bench<World, Sizes>): Promise<void> {
  const options = { short: { type: "boolean", default: false }, only: { type: "string" } } as const;
  const { short: isShort, only } = parseArgs({ options }).values;
  const parts = Object.entries(bench.parts).filter(([name]) => only === undefined || name === only);
  if (parts.length === 0) throw new Error(`--only takes one of ${Object.keys(bench.parts).join(", ")}`);
  const sizes = isShort ? bench.short : bench.full;
  const figures: Figure[] = [];
  const folder = makeFolder();
  // A world for each part: what one leaves behind is not counted with the next. Where nothing is judged one is enough.
  const groups = isShort ? [parts] : parts.map((part) => [part]);
  try {
    for (const group of groups) {
      const world = await bench.openWorld(mkdtempSync(join(folder, "part-")));
      try {
        for (const [, measure] of group)
          for (const figure of await measure(world, sizes)) {
            const shown = isShort ? { ...figure, atMost: undefined } : figure;
            console.log(lineOf(shown));
            figures.push(shown);
          }
      } finally {
        await world.close();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const machine = { node: process.version, platform: process.platform, arch: process.arch, cores: cpus().length };
  const file = join(resultsFolder, `${[bench.name, only, isShort && "short"].filter(Boolean).join("-")}.json`);
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
