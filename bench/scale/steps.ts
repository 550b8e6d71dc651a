import { type Figure, inTurns } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import { clientOf, newConversation, takeTurn } from "./talk.ts";
import type { Servers, World } from "./world.ts";

/** What a step costs with a database server, against the file: on the clock, and in processor time of all who work for it. */
export async function measureSteps(world: World, { steps, rounds }: Sizes): Promise<readonly Figure[]> {
  const onFile = await world.servers("sqlite", 1);
  const onServer = await world.servers("postgres", 1);
  const cpu = { file: 0, server: 0, database: 0 };
  const turnOn = (servers: Servers, count: (used: Used) => void) => {
    const client = clientOf(servers.addresses);
    return async () => {
      const id = await newConversation(client);
      const before = servers.cpuMs();
      const startedAt = performance.now();
      await takeTurn(client, { id, steps });
      const ms = performance.now() - startedAt;
      const after = servers.cpuMs();
      count({ servers: after.servers - before.servers, database: after.database - before.database });
      return ms / steps;
    };
  };
  const [file, server] = await inTurns(rounds, [
    turnOn(onFile, ({ servers }) => {
      cpu.file += servers;
    }),
    turnOn(onServer, ({ servers, database }) => {
      cpu.server += servers;
      cpu.database += database;
    }),
  ]);
  await onFile.close();
  await onServer.close();
  const perStep = (ms: number) => ms / (steps * (rounds + 1));
  if (file === undefined || server === undefined) throw new Error("two jobs have two figures");
  return [
    { what: "step on PostgreSQL", unit: "ms", value: server, against: { what: "on SQLite", value: file } },
    {
      ...{ what: "processor time of a step on PostgreSQL, server and database", unit: "ms" },
      ...{ value: perStep(cpu.server + cpu.database), from: [perStep(cpu.server), perStep(cpu.database)] },
      against: { what: "on SQLite", value: perStep(cpu.file) },
    },
  ];
}

type Used = { readonly servers: number; readonly database: number };
