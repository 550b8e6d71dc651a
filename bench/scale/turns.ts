import { availableParallelism } from "node:os";
import type { Figure } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import { clientOf, newConversation, takeTurn } from "./talk.ts";
import type { Servers, World } from "./world.ts";

const stepsPerTurn = 2;

/** Turns per second with one file, and with a database server that one or more processes share; and where the time goes. */
export async function measureTurns(world: World, { conversations, seconds, processes }: Sizes): Promise<Figure[]> {
  const wanted = { conversations, seconds };
  const file = await throughput(await world.servers("sqlite", 1), wanted);
  const figures = [...figuresOf("SQLite, 1 process", file)];
  for (const count of processes) {
    const shared = await throughput(await world.servers("postgres", count), wanted);
    const what = `PostgreSQL, ${count} process${count === 1 ? "" : "es"}`;
    figures.push(...figuresOf(what, shared, file));
  }
  return figures;
}

type Throughput = {
  readonly perSecond: number;
  /** Processor time of a turn, in milliseconds: servers, database, model, and this process, which asks and reads. */
  readonly cpu: readonly number[];
  /** How many cores all of them kept busy. */
  readonly cores: number;
  readonly processes: number;
};

async function throughput(servers: Servers, wanted: Pick<Sizes, "conversations" | "seconds">): Promise<Throughput> {
  const client = clientOf(servers.addresses);
  let turns = 0;
  const talkUntil = async (time: number) => {
    const id = await newConversation(client);
    // Each of them one at the least, and those that were begun count to their end, as their processor time does.
    let after = 0;
    do {
      after = await takeTurn(client, { id, steps: stepsPerTurn, after });
      turns += 1;
    } while (performance.now() < time);
  };
  const all = (time: number) => Promise.all(Array.from({ length: wanted.conversations }, () => talkUntil(time)));
  await all(performance.now() + (wanted.seconds * 1000) / 4);
  turns = 0;
  const [before, own] = [servers.cpuMs(), process.cpuUsage()];
  const startedAt = performance.now();
  await all(startedAt + wanted.seconds * 1000);
  const ms = performance.now() - startedAt;
  const [after, { user, system }] = [servers.cpuMs(), process.cpuUsage(own)];
  await servers.close();
  const used = [
    ...[after.servers - before.servers, after.database - before.database, after.model - before.model],
    (user + system) / 1000,
  ];
  return {
    processes: servers.addresses.length,
    perSecond: (1000 * turns) / ms,
    cpu: used.map((each) => each / turns),
    cores: used.reduce((sum, each) => sum + each, 0) / ms,
  };
}

function figuresOf(what: string, { perSecond, cpu, cores, processes }: Throughput, file?: Throughput): Figure[] {
  const against = file && { what: "SQLite", value: file.perSecond };
  const all = cpu.reduce((sum, each) => sum + each, 0);
  // A server is one thread: so many turns fit into its time, and so many into that of this whole machine.
  const bounds = [(processes * 1000) / (cpu[0] ?? Number.NaN), (availableParallelism() * 1000) / all];
  return [
    { what: `turns of ${stepsPerTurn} steps, ${what}`, unit: "per second", value: perSecond, against },
    {
      ...{ what: `processor time of a turn, ${what} (servers, database, model, client)`, unit: "ms", from: cpu },
      value: all,
    },
    { what: `cores kept busy, ${what}`, unit: "", value: cores },
    {
      ...{ what: `turns that processors allow, ${what} (servers, this machine)`, unit: "per second", from: bounds },
      value: Math.min(...bounds),
    },
  ];
}
