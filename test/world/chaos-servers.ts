import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChaosServer, chaosServer } from "./chaos-server.ts";
import { pause } from "./events.ts";
import type { Chance } from "./fuzz-chance.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** Server processes on one database, each behind a network of its own, which somebody disturbs. */
export type ChaosServers = {
  /** Any of those that are there. */
  anyAddress(): string;
  /** Does one bad thing to one of them, or to the database, and answers what it was. */
  disturb(): Promise<string>;
  /** Everything is as it should be again, and every server is there. */
  mend(): Promise<void>;
  /** What an unsafe tool has done, a line each. */
  readonly deeds: string;
  /** Servers that did what nobody had asked of them. */
  readonly faults: readonly string[];
  /** Fires when they end for good. */
  readonly gone: AbortSignal;
  close(): Promise<void>;
};

type Options = {
  readonly count: number;
  readonly database: PostgresServer;
  readonly modelUrl: string;
  readonly chance: Chance;
};

const nobody = "http://127.0.0.1:1";

export async function chaosServers({ count, database, modelUrl, chance }: Options): Promise<ChaosServers> {
  const folder = mkdtempSync(join(tmpdir(), "chaos-"));
  const deeds = writeSignTool(folder);
  const schema = new URL(database.newPlace()).searchParams.get("schema") ?? "";
  const faults: string[] = [];
  const shared = {
    ...{ folder, modelUrl, database: { socketPath: database.socketPath, schema } },
    onFault: (what: string) => void faults.push(what),
  };
  const servers = await Promise.all(Array.from({ length: count }, (_, number) => chaosServer({ ...shared, number })));
  const gone = new AbortController();
  const ends = endsOf(chance);
  const troubles = Object.entries(troublesOf(database, chance));
  /** One that is being started is not disturbed besides. */
  const standing = () => servers.filter((server) => server.address() !== undefined);
  await Promise.all(servers.map((server) => server.start()));
  return {
    ...{ deeds, faults, gone: gone.signal },
    anyAddress: () => (standing().length === 0 ? nobody : (chance.pick(standing()).address() ?? nobody)),
    async disturb() {
      const there = standing();
      if (there.length === 0) return "nothing";
      // The last one is left to those who talk, with all the trouble that it has.
      const isEnd = there.length > 1 && chance.odds(0.5);
      const [what, disturb] = chance.pick(isEnd ? ends : troubles);
      await disturb(chance.pick(there));
      return what;
    },
    async mend() {
      await Promise.all(servers.map((server) => server.settled()));
    },
    async close() {
      gone.abort();
      await Promise.all(servers.map((server) => server.close()));
      if (process.env.AGENTYARD_CHAOS_KEEP === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Disturb = (server: ChaosServer) => Promise<void> | void;
type Disturbance = readonly [what: string, disturb: Disturb];

function endsOf(chance: Chance): readonly Disturbance[] {
  const kill: Disturbance = ["kill -9", (server) => server.restart("SIGKILL", chance.int(0, 1500))];
  return [kill, kill, kill, ["stopped in order", (server) => server.restart("SIGTERM", chance.int(0, 500))]];
}

function troublesOf(database: PostgresServer, chance: Chance): Readonly<Record<string, Disturb>> {
  return {
    "connections cut": ({ network }) => network.cut(),
    "connections closed by half": ({ network }) => network.halfClose(),
    async "network silent"({ network }) {
      network.holdBack(true);
      await pause(chance.int(300, 5000));
      // What was on its way arrives late, or never.
      if (chance.odds(0.5)) network.cut();
      network.holdBack(false);
    },
    async "network slow"({ network }) {
      network.delayBy(chance.int(20, 300));
      await pause(chance.int(500, 3000));
      network.delayBy(0);
    },
    async "database restarted"() {
      await database.stop(chance.odds(0.5) ? "SIGINT" : "SIGQUIT");
      await pause(chance.int(0, 1000));
      await database.start();
    },
  };
}

/** Leaves one line each time it is run. It can neither be undone nor repeated. Answers where the lines are. */
function writeSignTool(folder: string): string {
  const deeds = join(folder, "deeds.txt");
  writeFileSync(deeds, "");
  const tools = join(folder, ".config", "agentyard", "tools");
  mkdirSync(tools, { recursive: true });
  const tool = `import { appendFileSync } from "node:fs";
export default {
  name: "sign",
  description: "Signs something, for good.",
  class: "unsafe",
  parameters: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
  async run({ what }) {
    appendFileSync(${JSON.stringify(deeds)}, what + "\\n");
    await new Promise((resolve) => setTimeout(resolve, 30));
    return "signed " + what;
  },
};
`;
  writeFileSync(join(tools, "sign.mjs"), tool);
  return deeds;
}
