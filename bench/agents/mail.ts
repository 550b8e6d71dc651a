import type { AgentInfo } from "../../src/protocol/agent-routes.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { type Figure, spreadOf, timed } from "../figure.ts";
import { must } from "../must.ts";
import { companyOrder, holdOrder, tellOrder } from "./orders.ts";
import type { Sizes } from "./sizes.ts";
import { order, stopAll, type World } from "./world.ts";

/**
 * A message from the moment that the sender's call may run until the reader's next request has it and may leave, among so
 * many agents that wait. Both ends are commits, and so is the message itself: it cannot be less than two appends. In turns
 * with appends of the same storage that nothing else goes along with.
 */
export async function measureMail(world: World, { agents }: Sizes): Promise<Figure[]> {
  const row = await world.conversation();
  const beside = await world.conversation();
  const times = timesOf(world, row);
  // Where nobody is at work, whoever waits for an answer is told that none will come.
  await order(world, row, { text: holdOrder, until: (all) => all.length === 2 });
  const all = await order(world, row, {
    text: companyOrder("wait", agents),
    until: (now) => now.length === agents + 2 && isQuiet(now),
  });
  const handOvers: number[] = [];
  const appends: number[] = [];
  for (const { id } of all.filter(isLed)) {
    handOvers.push(await handOverMs(world, row, { reader: id, times }));
    appends.push(await timed(() => append(world, beside)));
  }
  times.forget();
  await stopAll(world, row);
  const what = `a message to an agent that waits, ${agents} in a tree`;
  return [
    {
      ...{ what, unit: "ms", value: spreadOf(handOvers) },
      against: { what: "a durable append", value: spreadOf(appends) },
      atMost: appendsMax,
    },
  ];
}

const appendsMax = 3;

/** Nobody is at work but the one whose model does not answer. */
function isQuiet(agents: readonly AgentInfo[]): boolean {
  return agents.filter(({ state }) => state === "working").length === 1;
}

function isLed({ parent }: AgentInfo): boolean {
  return parent !== null && parent !== "root";
}

/** When the log was seen to have grown, and how far. */
function timesOf({ yard }: World, { number }: ConversationRow) {
  const seen: { readonly lastSeq: number; readonly at: number }[] = [];
  let moved = Promise.withResolvers<void>();
  const forget = yard.log.onAppend(number, (lastSeq) => {
    seen.push({ lastSeq, at: performance.now() });
    moved.resolve();
    moved = Promise.withResolvers();
  });
  return {
    forget,
    next: () => moved.promise,
    at: (seq: number) => seen.find(({ lastSeq }) => lastSeq >= seq)?.at ?? Number.NaN,
  };
}

/** Reads only what is new: whoever looked at all agents meanwhile would be measured as well. */
async function handOverMs(
  { yard }: World,
  row: ConversationRow,
  { reader, times }: { readonly reader: string; readonly times: ReturnType<typeof timesOf> },
): Promise<number> {
  const events: LogEvent[] = [];
  const { seq } = must(await yard.engine.send(row, { text: tellOrder(reader), mode: "steer" }));
  for (;;) {
    const moved = times.next();
    const fresh = await yard.log.read(row.number, { after: events.at(-1)?.seq ?? seq, limit: Number.MAX_SAFE_INTEGER });
    events.push(...fresh);
    const sent = events.find(({ type }) => type === "call.started");
    const read = events.find((event) => isReading(event, reader));
    // The sender has heard that it is delivered, and the reader has answered: everybody waits again.
    const said = events.filter((event) => event.type === "message.assistant" && event.calls === undefined).length;
    if (sent !== undefined && read !== undefined && said === 2) return times.at(read.seq) - times.at(sent.seq);
    await moved;
  }
}

function isReading(event: LogEvent, reader: string): boolean {
  return event.type === "step.started" && event.agent === reader && event.joined !== undefined;
}

/** As much as a step stores. */
async function append({ yard }: World, { number }: ConversationRow): Promise<void> {
  const usage = { input: 1_000, output: 100 };
  must(
    await yard.log.append(number, [
      { type: "message.assistant", turn: 1, step: 1, text: "word ".repeat(60), finish: "stop", usage, durationMs: 1 },
      { type: "call.started", call: "call_1", class: "pure", attempt: 1 },
    ]),
  );
}
