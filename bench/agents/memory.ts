import type { Figure } from "../figure.ts";
import { companyOrder, holdOrder } from "./orders.ts";
import type { Sizes } from "./sizes.ts";
import { liveKb, order, stopAll, type World } from "./world.ts";

/**
 * What an agent holds that has worked and now waits, while another one of its tree is at work: without that nobody would be
 * held in memory at all. What its making left with its parent is counted with it.
 */
export async function measureMemory(world: World, { agents, rounds }: Sizes): Promise<Figure[]> {
  await perAgent(world, agents); // Warms up: code and caches are there.
  const each: number[] = [];
  for (let round = 0; round < rounds; round += 1) each.push(await perAgent(world, agents));
  return [
    {
      what: `memory of an idle agent, ${agents} in a tree`,
      unit: "KB",
      value: each.toSorted((a, b) => a - b)[rounds >> 1] ?? Number.NaN,
      from: each,
      atMost: memoryKbMax,
    },
  ];
}

const memoryKbMax = 64;

async function perAgent(world: World, agents: number): Promise<number> {
  const row = await world.conversation();
  await order(world, row, { text: holdOrder, until: (all) => all.length === 2 });
  const before = await liveKb();
  await order(world, row, {
    text: companyOrder("wait", agents),
    // The one that works is the one whose model does not answer.
    until: (all) => all.length === agents + 2 && all.filter(({ state }) => state === "working").length === 1,
  });
  const kb = ((await liveKb()) - before) / agents;
  await stopAll(world, row);
  return kb;
}
