import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OwnPostgres, startPostgres } from "../../test/world/postgres-server.ts";
import { addressIn } from "../address-in.ts";
import { lookUp, modelName } from "../engine/script.ts";
import { entry } from "../entry.ts";

/** A database server that writes as one in earnest does, the model in a process of its own, and servers as operators start them. */
export type World = {
  /** Each with its own data directory. With `postgres` they share a database and the files; otherwise there is one, with a file of its own. */
  servers(kind: "sqlite" | "postgres", count: number): Promise<Servers>;
  /** Where the database is. */
  readonly database: string;
  /** The processor time that it has used so far. */
  databaseMs(): number;
  close(): Promise<void>;
};

export type Servers = {
  readonly addresses: readonly string[];
  /** The processor time used so far, in milliseconds. */
  cpuMs(): { readonly servers: number; readonly database: number; readonly model: number };
  kill(address: string): Promise<void>;
  close(): Promise<void>;
};

export async function openWorld(folder: string): Promise<World> {
  const model = fork(join(import.meta.dirname, "..", "engine", "model-server.ts"));
  const [modelUrl] = await once(model, "message");
  const database = await startPostgres(
    { fsync: "on", full_page_writes: "on", synchronous_commit: "on", autovacuum: "on", shared_buffers: "128MB" },
    diskFolder,
  );
  writeTool(folder);
  let worlds = 0;
  return {
    databaseMs: () => cpuMsBelow(database.pid() ?? 0),
    database: database.place,
    servers(kind, count) {
      worlds += 1;
      const place = join(folder, `servers-${worlds}`);
      const settings = {
        ...{
          MODEL_BASIC_BASE_URL: String(modelUrl),
          MODEL_BASIC_ID: modelName,
          MODEL_BASIC_CONTEXT_WINDOW: "10000000",
        },
        ...{ AGENTYARD_MODEL_CALLS_MAX: "2000", AGENTYARD_MAX_STEPS: "2000", HOME: folder },
        ...(kind === "postgres" ? sharing(place, database) : {}),
      };
      return startServers({ place, count, settings, model, database });
    },
    async close() {
      await database.stop();
      const gone = once(model, "exit");
      model.disconnect();
      await gone;
    },
  };
}

/** On a disk, and where a database server may go that must not be root. */
const diskFolder = "/var/tmp";

function sharing(place: string, database: OwnPostgres): Record<string, string> {
  return {
    AGENTYARD_DATABASE_URL: database.newPlace(),
    AGENTYARD_FILES_DIR: join(place, "files"),
    AGENTYARD_KEY: "the key that all servers of this bench share",
  };
}

/** The tool that the scripted model calls: it costs nothing itself. */
function writeTool(folder: string): void {
  const tools = join(folder, ".config", "agentyard", "tools");
  mkdirSync(tools, { recursive: true });
  const { name, description, parameters, result } = lookUp;
  const tool = { name, description, class: "pure", parameters };
  writeFileSync(
    join(tools, "look-up.mjs"),
    `export default { ...${JSON.stringify(tool)}, run: () => ${JSON.stringify(result)} };\n`,
  );
  writeFileSync(join(tools, "..", "tools.yaml"), `optional: { ${name}: { always_available: true } }\n`);
}

type Starting = {
  readonly place: string;
  readonly count: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly model: ChildProcess;
  readonly database: OwnPostgres;
};

async function startServers({ place, count, settings, model, database }: Starting): Promise<Servers> {
  const running = new Map<string, ChildProcess>();
  const startOne = async (number: number) => {
    const data = join(place, `data-${number}`);
    mkdirSync(data, { recursive: true });
    const env = { PATH: process.env.PATH, LANG: "C.UTF-8", ...settings };
    const child = spawn(process.execPath, [entry, "serve", "--port", "0", "--data", data], {
      ...{ env, cwd: place, stdio: ["ignore", "pipe", "inherit"] },
    });
    running.set(await addressIn(child), child);
  };
  // One after another: the first makes the tables.
  for (let number = 0; number < count; number += 1) await startOne(number);
  const end = async (child: ChildProcess, signal: "SIGTERM" | "SIGKILL") => {
    const gone = once(child, "close");
    child.kill(signal);
    await gone;
  };
  return {
    addresses: [...running.keys()],
    cpuMs: () => ({
      servers: [...running.values()].reduce((sum, { pid = 0 }) => sum + cpuMsOf(pid), 0),
      database: cpuMsBelow(database.pid() ?? 0),
      model: cpuMsOf(model.pid ?? 0),
    }),
    async kill(address) {
      const child = running.get(address);
      running.delete(address);
      if (child !== undefined) await end(child, "SIGKILL");
    },
    async close() {
      await Promise.all([...running.values()].map((child) => end(child, "SIGTERM")));
    },
  };
}

const ticksPerSecond = 100;

/** With the children that have ended. */
function cpuMsOf(pid: number, withChildren = false): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  return ((user + system + (withChildren ? childUser + childSystem : 0)) * 1000) / ticksPerSecond;
}

/** A process and its children; a database server has one for each connection. */
function cpuMsBelow(pid: number): number {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return children.reduce(
    (sum, child) => sum + (parentOf(child) === pid ? cpuMsOf(Number(child)) : 0),
    cpuMsOf(pid, true),
  );
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // It has just ended.
  }
}
