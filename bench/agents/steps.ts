import type { ConversationRow } from "../../src/storage/storage.ts";
import { type Figure, spreadOf } from "../figure.ts";
import { briefText, companyOrder } from "./orders.ts";
import type { Sizes } from "./sizes.ts";
import { spent, type World } from "./world.ts";

/**
 * What a step costs, with a tool call each, of one agent alone in its conversation and of so many in one tree: all that the
 * process does from the message to rest, by the number of steps that were taken, with the making and the end of each agent.
 */
export async function measureSteps(world: World, { agents, steps, rounds }: Sizes): Promise<Figure[]> {
  const alone: Cost[] = [];
  const together: Cost[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const one = await costOf(world, briefText({ deed: "work", steps, led: 0 }));
    const many = await costOf(world, companyOrder("work", agents, steps));
    if (one.steps !== steps || many.steps < agents * 0.8 * steps) throw new Error("steps are missing");
    if (round === 0) continue; // Warms up.
    alone.push(one);
    together.push(many);
  }
  const spread = (of: Cost[], read: (cost: Cost) => number) => spreadOf(of.map(read));
  const what = `a step, ${agents} agents in a tree, ${steps} of each`;
  const single = `a step of one agent that is alone, ${steps} of them`;
  return [
    {
      ...{ what: `${what}, processor`, unit: "ms", value: spread(together, ({ cpuMs }) => cpuMs) },
      against: { what: single, value: spread(alone, ({ cpuMs }) => cpuMs) },
      atMost: costMax,
    },
    {
      ...{ what: `${what}, by the clock`, unit: "ms", value: spread(together, ({ ms }) => ms) },
      against: { what: single, value: spread(alone, ({ ms }) => ms) },
    },
  ];
}

const costMax = 1.3;

/** Of one step. */
type Cost = { readonly cpuMs: number; readonly ms: number; readonly steps: number };

async function costOf(world: World, text: string): Promise<Cost> {
  const row = await world.conversation();
  const { cpuMs, ms } = await spent(() => whenOver(world, row, text));
  const events = await world.yard.log.read(row.number, { after: 0, limit: Number.MAX_SAFE_INTEGER });
  const steps = events.filter(({ type }) => type === "step.started").length;
  return { cpuMs: cpuMs / steps, ms: ms / steps, steps };
}

/** Looks at the newest event alone: whoever folded the tree again and again would be measured as well. */
async function whenOver({ yard }: World, row: ConversationRow, text: string): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = async (lastSeq: number) => {
    const [last] = await yard.log.read(row.number, { after: lastSeq - 1, limit: 1 });
    if (last?.type === "turn.finished" && last.agent === undefined) over.resolve();
  };
  const forget = yard.log.onAppend(row.number, (lastSeq) => void look(lastSeq).catch(over.reject));
  await yard.engine.send(row, { text, mode: "queue" });
  await over.promise;
  forget();
}
