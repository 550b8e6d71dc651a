import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBalancer } from "./balancer.ts";
import { postgresServer } from "./postgres-server.ts";
import { agentyard } from "./pty.ts";

/** The servers of a whole day behind one address: they are killed and started again. */
export type DayServers = AsyncDisposable & {
  readonly address: string;
  /** Where the files of conversations lie. */
  readonly files: string;
  /** For commands that are typed beside them. */
  readonly env: Readonly<Record<string, string>>;
  /** SIGKILL, to each in turn: from the second time on it hits the one that has everything. It is there again afterwards. */
  kill(): Promise<void>;
  readonly kills: () => number;
};

type Server = { readonly child: ChildProcess; readonly place: string; readonly ended: Promise<unknown> };

/** One with its file, or two on a database. */
export async function dayServers(kind: "sqlite" | "postgres"): Promise<DayServers> {
  const folder = mkdtempSync(join(tmpdir(), "day-"));
  const files = join(folder, kind === "sqlite" ? "data-0" : "files");
  const { PATH = "" } = process.env;
  const env: Record<string, string> = { PATH, HOME: folder, TMPDIR: folder, LANG: "C.UTF-8" };
  if (kind === "postgres") {
    env.AGENTYARD_DATABASE_URL = (await postgresServer()).newPlace();
    env.AGENTYARD_FILES_DIR = files;
    env.AGENTYARD_KEY = "the key that both servers of a day have";
  }
  const start = (number: number) => startServer({ ...env, AGENTYARD_DATA: join(folder, `data-${number}`) }, folder);
  const servers: (Server | undefined)[] = [];
  const end = async () => {
    for (const server of servers) server?.child.kill("SIGTERM");
    await Promise.all(servers.map((server) => server?.ended));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let number = 0; number < (kind === "sqlite" ? 1 : 2); number += 1) servers.push(await start(number));
  } catch (error) {
    await end();
    throw error;
  }
  const balancer = await openBalancer({
    ...{ seed: 1, servers: () => servers.flatMap((server) => server?.place ?? []) },
  });
  let kills = 0;
  return {
    ...{ address: balancer.address, files, env, kills: () => kills },
    async kill() {
      const number = kills % servers.length;
      kills += 1;
      const server = servers[number];
      servers[number] = undefined;
      server?.child.kill("SIGKILL");
      await server?.ended;
      servers[number] = await start(number);
    },
    async [Symbol.asyncDispose]() {
      await balancer.close();
      await end();
    },
  };
}

async function startServer(env: Readonly<Record<string, string>>, cwd: string): Promise<Server> {
  const child = spawn(process.execPath, [agentyard, "serve", "--port", "0"], {
    env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  const place = await new Promise<string>((resolve, reject) => {
    const hear = (text: string) => {
      said += text;
      const [, found] = /listens on http:\/\/(127\.0\.0\.1:\d+) /.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.setEncoding("utf8").on("data", hear);
    child.stderr?.setEncoding("utf8").on("data", hear);
    void ended.then(() => reject(new Error(`the server did not begin: ${said}`)));
  });
  return { child, place, ended };
}
