/** `npm run bench sandbox`: what running code costs against a bare `python3 -c pass`, in one run and in turns. */
import { runParts } from "./run-parts.ts";
import { measureCells } from "./sandbox/cells.ts";
import { measureDocker } from "./sandbox/docker.ts";
import { measureFiles } from "./sandbox/files.ts";
import { measureIdle } from "./sandbox/idle.ts";
import { measureMany } from "./sandbox/many.ts";
import { full, short } from "./sandbox/sizes.ts";
import { measureImports, measureStarts } from "./sandbox/starts.ts";
import { openWorld } from "./sandbox/world.ts";

const parts = {
  cells: measureCells,
  starts: measureStarts,
  files: measureFiles,
  imports: measureImports,
  idle: measureIdle,
  many: measureMany,
  docker: measureDocker,
};
await runParts({ name: "sandbox", full, short, parts, openWorld: openUsable });

/** Where no code runs there is nothing to measure; limits that are missing are said, for they cost nothing here. */
async function openUsable(folder: string): ReturnType<typeof openWorld> {
  const world = await openWorld(folder);
  const { missing, degraded } = await world.provider.probe();
  if (missing[0] !== undefined) throw new Error(`no code runs here: ${missing[0].reason}`);
  if (degraded.length > 0) console.log(`Without these limits: ${degraded.map(({ name }) => name).join(", ")}`);
  return world;
}
