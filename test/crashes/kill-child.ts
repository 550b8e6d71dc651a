import { writeSync } from "node:fs";
import { type KillAfter, standingAfter, startScenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** What a child process is to do: play each of these to its end, or until it is killed. */
export type Order = readonly {
  readonly scenario: keyof typeof scenarios;
  readonly modelUrl: string;
  readonly data: string;
  /** The address of a database that is no file. */
  readonly database?: string | undefined;
  readonly killAfter?: KillAfter | undefined;
}[];

const lanes = 4;

/**
 * Each yard comes to a stand when its write is on disk. The process is killed when all stand, so that one start of Node
 * serves many kills: what a process leaves that is killed a moment after its storage last answered.
 */
async function playAll(order: Order): Promise<void> {
  const queue = order.values();
  let standing = 0;
  const lane = async () => {
    for (const { scenario, modelUrl, data, database, killAfter } of queue) {
      const stands = Promise.withResolvers<"stands">();
      const wrapStorage = standingAfter(killAfter, {
        tell: (told) => writeSync(1, `${JSON.stringify({ yard: data, ...told })}\n`),
        stand: () => stands.resolve("stands"),
      });
      const played = play(scenario, { data, database, modelUrl, wrapStorage });
      if ((await Promise.race([stands.promise, played])) === "stands") standing += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (standing > 0) process.kill(process.pid, "SIGKILL");
}

async function play(name: Order[number]["scenario"], place: Parameters<typeof startScenario>[1]): Promise<"ended"> {
  const scenario = scenarios[name];
  const yard = await startScenario(scenario, place);
  await scenario.play(yard);
  await yard.close();
  return "ended";
}

await playAll(JSON.parse(process.argv[2] ?? "{}"));
process.exit(0);
