import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import { installPeers } from "../engine/peers.ts";
import { type Figure, spreadOf } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const Told = z.object({ late: z.array(z.number()), cpuMs: z.number() });

/** Why no queue wakes conversations (decision 0102): a row beside the event, against a job of pg-boss in the same transaction. */
export async function measureWakes(world: World, { messages }: Sizes): Promise<readonly Figure[]> {
  const what = "taken up after its commit, by a job of pg-boss";
  if (messages === 0) return [{ what, unit: "ms", value: 0, skipped: "for it takes the peers" }];
  installPeers();
  const [row, job] = [measure(world, "row", messages), measure(world, "job", messages)];
  const against = "by a row and a call";
  return [
    { what, unit: "ms", value: job.late, against: { what: against, value: row.late } },
    {
      ...{ what: "processor time of a message, by a job of pg-boss (server, database)", unit: "ms" },
      ...{ value: job.server + job.database, from: [job.server, job.database] },
      against: {
        what: `${against} (${row.server.toFixed(1)}, ${row.database.toFixed(1)})`,
        value: row.server + row.database,
      },
    },
  ];
}

function measure({ database, databaseMs }: World, way: "row" | "job", messages: number) {
  const program = join(import.meta.dirname, "..", "peers", "wakes.ts");
  const before = databaseMs();
  const args = [program, way, database, String(messages)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  const { late, cpuMs } = Told.parse(JSON.parse(stdout));
  return { late: spreadOf(late), server: cpuMs / messages, database: (databaseMs() - before) / messages };
}
