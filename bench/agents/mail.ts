import { setTimeout } from "node:timers/promises";
import type { AgentInfo } from "../../src/protocol/agent-routes.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { type Figure, spreadOf, timed } from "../figure.ts";
import { must } from "../must.ts";
import { companyOrder, holdOrder, tellOrder } from "./orders.ts";
import type { Sizes } from "./sizes.ts";
import { order, stopAll, type World } from "./world.ts";

/**
 * A message, among so many agents that wait, from the commit after which the sender's call may run. Two figures: until the
 * message is durably in the reader's history, whatever happens then; and until the reader's next request, which has it, may
 * leave. The first holds the call itself, the sender's next request made ready, and one commit for all of it; the second
 * one more request, and one more commit. In turns with appends of the same storage that nothing else goes along with.
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
  const handOvers: HandOver[] = [];
  const appends: number[] = [];
  for (const { id } of all.filter(isLed)) {
    handOvers.push(await handOver(world, row, { reader: id, times }));
    appends.push(await timed(() => append(world, beside)));
  }
  times.forget();
  await stopAll(world, row);
  const what = `a message to an agent that waits, ${agents} in a tree`;
  const against = { what: "a durable append", value: spreadOf(appends) };
  const spread = (read: (each: HandOver) => number) => ({ unit: "ms", value: spreadOf(handOvers.map(read)), against });
  return [
    { what: `${what}, until it is in the reader's history`, ...spread(({ storedMs }) => storedMs), atMost: appendsMax },
    { what: `${what}, until the reader's request may leave`, ...spread(({ readMs }) => readMs) },
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

/** From the commit after which the call may run. */
type HandOver = { readonly storedMs: number; readonly readMs: number };

const quietMs = 20;

/** When the log was seen to have grown, and how far. */
function timesOf({ yard }: World, { number }: ConversationRow) {
  const seen: { readonly lastSeq: number; readonly at: number }[] = [];
  const forget = yard.log.onAppend(number, (lastSeq) => {
    seen.push({ lastSeq, at: performance.now() });
  });
  return {
    forget,
    /** Nothing was written for a while. */
    async quiet() {
      for (let count = -1; count !== seen.length; ) {
        count = seen.length;
        await setTimeout(quietMs);
      }
    },
    at: (seq: number) => seen.find(({ lastSeq }) => lastSeq >= seq)?.at ?? Number.NaN,
  };
}

/** Reads only when nothing is written any more: what the bench reads in between would be measured as well. */
async function handOver(
  { yard }: World,
  row: ConversationRow,
  { reader, times }: { readonly reader: string; readonly times: ReturnType<typeof timesOf> },
): Promise<HandOver> {
  const { seq } = must(await yard.engine.send(row, { text: tellOrder(reader), mode: "steer" }));
  for (;;) {
    await times.quiet();
    const events = await yard.log.read(row.number, { after: seq, limit: Number.MAX_SAFE_INTEGER });
    const sent = events.find(({ type }) => type === "call.started");
    const stored = events.find((event) => event.type === "agent.mailed" && event.to === reader);
    const read = events.find((event) => isReading(event, reader));
    // The sender has heard that it is delivered, and the reader has answered: everybody waits again.
    const said = events.filter((event) => event.type === "message.assistant" && event.calls === undefined).length;
    if (sent === undefined || stored === undefined || read === undefined || said < 2) continue;
    const from = times.at(sent.seq);
    return { storedMs: times.at(stored.seq) - from, readMs: times.at(read.seq) - from };
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
