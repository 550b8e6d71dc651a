/** The child process of one measure (see jobs.ts): does the job in its arguments, sends the figures as JSON, and ends. */
import { measureAppends, type OpenAppends } from "./appends.ts";
import type { Job } from "./jobs.ts";
import { measureReopening, type OpenReopening } from "./reopening.ts";
import { type OpenVariant, variantFiles, type World } from "./variant.ts";
import { measureWork } from "./work.ts";

const [jobText = "", worldText = ""] = process.argv.slice(2);
const job: Job = JSON.parse(jobText);
const world: World = JSON.parse(worldText);

process.on("disconnect", () => process.exit(1));
const figures = await measure();
process.send?.(JSON.stringify(figures), () => process.exit(0));

async function measure(): Promise<unknown> {
  switch (job.kind) {
    case "work":
      return measureWork(job.variant, job.work, world);
    case "appends": {
      const { openAppends }: { openAppends: OpenAppends } = await import(variantFiles.agentyard);
      return measureAppends(openAppends, job.conversations, world.folder);
    }
    case "reopening": {
      const agentyard: { open: OpenVariant; openReopening: OpenReopening } = await import(variantFiles.agentyard);
      return measureReopening(agentyard.open, agentyard.openReopening, world);
    }
  }
}
