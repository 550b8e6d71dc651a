import { writeSync } from "node:fs";
import { join } from "node:path";
import { killingStorage } from "../world/killing-storage.ts";
import { must } from "../world/yard.ts";
import { begin, type KillAfter, standingAfter, startScenario, writtenBy } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** Each of these is one of two servers on a database of their own; all of them are killed with this process. */
export type ServersOrder = readonly {
  readonly scenario: keyof typeof scenarios;
  readonly modelUrl: string;
  readonly database: string;
  /** What both servers have in common; this one has a folder in it. */
  readonly shared: string;
  /** Who plays is here, or at the other server: then the conversation is made here, so that it is at home here. */
  readonly plays: "here" | { readonly conversation: string };
  readonly killAfter?: KillAfter | undefined;
}[];

async function serve({ scenario: name, plays, killAfter, ...place }: ServersOrder[number]): Promise<void> {
  const tell = (told: object) => writeSync(1, `${JSON.stringify({ yard: place.shared, ...told })}\n`);
  const scenario = scenarios[name];
  const stands = standingAfter(killAfter, { tell, stand: () => {} });
  const yard = await startScenario(scenario, {
    ...{ ...place, data: join(place.shared, "one") },
    wrapStorage: (storage) =>
      killingStorage(stands(storage), { onWritten: (write, given) => tell({ wrote: writtenBy(write, given) }) }),
  });
  if (plays === "here") await scenario.play(yard);
  else await must(yard.client.call("getState", { params: { id: await made(yard, plays.conversation) } }));
  tell({ done: true });
}

async function made(yard: Parameters<typeof begin>[0], id: string): Promise<string> {
  await begin(yard, id);
  return id;
}

// Whoever started it is gone: nobody else would end it.
process.stdin.resume().once("end", () => process.exit(1));
const order: ServersOrder = JSON.parse(process.argv[2] ?? "[]");
await Promise.all(order.map(serve));
