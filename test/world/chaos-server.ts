import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import { pause } from "./events.ts";
import { type Program, watchProgram } from "./program.ts";
import { agentyard } from "./pty.ts";

/** One of several server processes on a database, which it reaches over a network of its own. */
export type ChaosServer = {
  readonly network: CuttingProxy;
  /** Undefined while it is not there. */
  address(): string | undefined;
  /** Answers when it listens. */
  start(): Promise<void>;
  /** Ends it, and starts it again after a while. */
  restart(signal: "SIGKILL" | "SIGTERM", afterMs: number): void;
  /** Resolves when it is there, or has ended for good. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export type ChaosServerOptions = {
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

export async function chaosServer(options: ChaosServerOptions): Promise<ChaosServer> {
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
      const said = `${program?.written.errors.slice(-saidMax)}\n${logOf(options).slice(-saidMax)}`;
      onFault(`server ${number} did not end within ${endMsMax} ms after ${signal}: ${said}`);
      program?.child.kill("SIGKILL");
    });
    await program?.ended;
    giveUp();
  }

  return {
    ...{ network, start },
    address: () => address,
    restart(signal, afterMs) {
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

function logOf({ folder, number }: ChaosServerOptions): string {
  const newest = globSync(join(folder, `data-${number}`, "logs", "*.log"))
    .sort()
    .at(-1);
  return newest === undefined ? "" : readFileSync(newest, "utf8");
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
