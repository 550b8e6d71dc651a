/**
 * `npm run bench http`: what the server costs against a plain relay and a bare sink, in one run and in turns.
 *
 *   -- --short        small counts, to see that it runs; nothing is judged
 *   -- --only tokens  one part of it: tokens, text, streams, uploads
 *
 * A missed target is printed and does not fail the run; a wrong answer does.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, lineOf } from "./figure.ts";
import { measureFirstToken } from "./http/first-token.ts";
import { measureLongText } from "./http/long-text.ts";
import { measureManyStreams } from "./http/many-streams.ts";
import { full, type Sizes, short } from "./http/sizes.ts";
import { measureUploads } from "./http/uploads.ts";
import { openWorld } from "./http/world.ts";

const resultsFolder = join(import.meta.dirname, "results");
const measures = {
  tokens: measureFirstToken,
  text: measureLongText,
  streams: measureManyStreams,
  uploads: measureUploads,
};
const { values: flags } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
});
const parts = Object.entries(measures).filter(([name]) => flags.only === undefined || name === flags.only);
if (parts.length === 0) throw new Error(`--only takes one of ${Object.keys(measures).join(", ")}`);
await bench(flags.short ? short : full, `http${flags.only ? `-${flags.only}` : ""}${flags.short ? "-short" : ""}.json`);

async function bench(sizes: Sizes, resultsFile: string): Promise<void> {
  mkdirSync(resultsFolder, { recursive: true });
  const folder = mkdtempSync(join(resultsFolder, "data-"));
  const figures: Figure[] = [];
  try {
    for (const [, measure] of parts) {
      // A server for each part: what one leaves behind is not counted with the next.
      const world = await openWorld(mkdtempSync(join(folder, "part-")));
      try {
        for (const figure of await measure(world, sizes)) {
          const shown = flags.short ? { ...figure, atMost: undefined } : figure;
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
  const file = join(resultsFolder, resultsFile);
  const all = { at: new Date().toISOString(), machine, load: loadavg(), sizes, figures };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\nAll figures: ${file}`);
}
