import { type Figure, spreadOf } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import { clientOf, newConversation, takeTurn } from "./talk.ts";
import type { World } from "./world.ts";

const takeOverMsMax = 5_000;
/** Long enough to be killed in the middle of it. */
const steps = 200;
const eventOfKill = 20;
/** What the dying process has on its way when it is killed is stored within this. */
const dyingMsMax = 100;

/** From the kill of the process that drives a turn to the first event that another one stores. */
export async function measureTakeOver(world: World, { kills }: Sizes): Promise<readonly Figure[]> {
  const times: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) times.push(await takeOver(world));
  return [{ what: "take-over after kill -9", unit: "ms", value: spreadOf(times), atMost: takeOverMsMax }];
}

async function takeOver(world: World): Promise<number> {
  const servers = await world.servers("postgres", 2);
  const [driver = "", other = ""] = servers.addresses;
  const there = [driver];
  const client = clientOf(there);
  // Whoever gets the first request for a conversation has it.
  const id = await newConversation(client);
  let events = 0;
  let killedAt = Number.POSITIVE_INFINITY;
  let ms = Number.NaN;
  await takeTurn(client, {
    ...{ id, steps },
    onEvent({ at }) {
      events += 1;
      if (Number.isNaN(ms) && at > killedAt + dyingMsMax) ms = at - killedAt;
      if (events !== eventOfKill) return;
      killedAt = Date.now();
      there[0] = other;
      void servers.kill(driver);
    },
  });
  await servers.close();
  return ms;
}
