import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { pause } from "./events.ts";
import type { Chance } from "./fuzz-chance.ts";
import type { OwnPostgres } from "./postgres-server.ts";
import { type Program, watchProgram } from "./program.ts";
import { agentyard } from "./pty.ts";

/** Server processes on one database, each behind a network of its own, which somebody disturbs. */
export type ChaosServers = Awaited<ReturnType<typeof chaosServers>>;

type Options = {
  readonly count: number;
  readonly database: OwnPostgres;
  readonly modelUrl: string;
  readonly chance: Chance;
};

const nobody = "http://127.0.0.1:1";

export async function chaosServers({ count, database, modelUrl, chance }: Options) {
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
    /** What an unsafe tool has done, a line each; servers that did what nobody had asked of them; fires when all end for good. */
    ...{ deeds, faults, gone: gone.signal },
    anyAddress: () => (standing().length === 0 ? nobody : (chance.pick(standing()).address() ?? nobody)),
    /** Does one bad thing to one of them, or to the database, and answers what it was. */
    async disturb(): Promise<string> {
      const there = standing();
      if (there.length === 0) return "nothing";
      // The last one is left to those who talk, with all the trouble that it has.
      const isEnd = there.length > 1 && chance.odds(0.5);
      const [what, disturb] = chance.pick(isEnd ? ends : troubles);
      await disturb(chance.pick(there));
      return what;
    },
    /** Everything is as it should be again, and every server is there. */
    async mend() {
      await Promise.all(servers.map((server) => server.settled()));
    },
    async close() {
      gone.abort();
      await Promise.all(servers.map((server) => server.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Disturb = (server: ChaosServer) => Promise<void> | void;
type Disturbance = readonly [what: string, disturb: Disturb];

function endsOf(chance: Chance): readonly Disturbance[] {
  const kill: Disturbance = ["kill -9", (server) => server.restart("SIGKILL", chance.int(0, 1500))];
  return [kill, kill, kill, ["stopped in order", (server) => server.restart("SIGTERM", chance.int(0, 500))]];
}

function troublesOf(database: OwnPostgres, chance: Chance): Readonly<Record<string, Disturb>> {
  return {
    "connections cut": ({ network }) => network.cut(),
    async "network silent"({ network }) {
      network.holdBack(true);
      await pause(chance.int(300, 5000));
      // What was on its way arrives late, or never.
      if (chance.odds(0.5)) network.cut();
      network.holdBack(false);
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

type ChaosServer = Awaited<ReturnType<typeof chaosServer>>;

type ChaosServerOptions = {
  readonly number: number;
  readonly folder: string;
  /** The socket of the database, and the schema that all of them share. */
  readonly database: { readonly socketPath: string; readonly schema: string };
  readonly modelUrl: string;
  /** Told when it ends without being asked to, or does not end when it is; both are faults. */
  readonly onFault: (what: string) => void;
};

const startMsMax = 120_000;
/** It only tells never from late. */
const endMsMax = 180_000;
/** Of what a server said, where it is at fault. */
const saidMax = 4_000;

/** One of several server processes on a database, which it reaches over a network of its own. */
async function chaosServer(options: ChaosServerOptions) {
  const { number, database, onFault } = options;
  const network = await cuttingProxy(database.socketPath);
  let [program, address, isOver] = [undefined as Program | undefined, undefined as string | undefined, false];
  let changing: Promise<void> = Promise.resolve();

  /** A database that is just away, or a network that is cut, may refuse it: then it is started again, as a service manager does. */
  async function start(): Promise<void> {
    for (const startedAt = systemClock.monotonic(); !isOver; ) {
      const begun = begin(options, network.port);
      program = begun;
      try {
        [, address] = await begun.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) /);
        void begun.ended.then(({ code, errors }) => {
          if (address === undefined || program !== begun) return;
          onFault(`server ${number} ended by itself with ${code}: ${errors.slice(-saidMax)}`);
          changing = start();
        });
        return;
      } catch (error) {
        if (systemClock.monotonic() - startedAt > startMsMax) throw error;
        await pause(200);
      }
    }
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    address = undefined;
    program?.child.kill(signal);
    const giveUp = systemClock.after(endMsMax, () => {
      const said = program?.written.errors.slice(-saidMax);
      onFault(`server ${number} did not end within ${endMsMax} ms after ${signal}: ${said}`);
      program?.child.kill("SIGKILL");
    });
    await program?.ended;
    giveUp();
  }

  return {
    ...{ network, start },
    address: () => address,
    /** Ends it, and starts it again after a while. */
    restart(signal: "SIGKILL" | "SIGTERM", afterMs: number) {
      changing = end(signal)
        .then(() => pause(afterMs))
        .then(start);
    },
    settled: () => changing,
    async close() {
      isOver = true;
      await changing;
      await end("SIGTERM");
      await network.close();
    },
  };
}

function begin({ number, folder, database, modelUrl }: ChaosServerOptions, port: number): Program {
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: folder, TMPDIR: folder, LANG: "C.UTF-8" },
    AGENTYARD_DATA: join(folder, `data-${number}`),
    AGENTYARD_FILES_DIR: join(folder, "files"),
    AGENTYARD_KEY: "a key that all of them share, 32 bytes or more",
    AGENTYARD_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres?schema=${database.schema}&sslmode=disable`,
    ...{ MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" },
  };
  return watchProgram(spawn(process.execPath, [agentyard, "serve", "--port", "0"], { cwd: folder, env }));
}

/** A port that leads to a socket, by way of a network that can be as bad as networks get. */
async function cuttingProxy(target: string) {
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket }>();
  let isHeldBack = false;
  let passing = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const pair = { near, far: createConnection({ path: target, allowHalfOpen: true }) };
    const { far } = pair;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    void pass(near, far).then(undefined, end);
    void pass(far, near).then(undefined, end);
  });

  async function pass(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      if (isHeldBack) await passing.promise;
      if (!to.write(chunk)) await new Promise<void>((resolve) => to.once("drain", resolve).once("close", resolve));
    }
    to.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a proxy has a port");
  return {
    port: address.port,
    /** All connections that there are, at once and without a good-bye. */
    cut() {
      for (const { near, far } of pairs) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    /** Nothing passes, and nobody hears of it; what was sent meanwhile arrives afterwards. */
    holdBack(isOn: boolean) {
      isHeldBack = isOn;
      passing.resolve();
      if (isOn) passing = Promise.withResolvers();
    },
    async close() {
      passing.resolve();
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
