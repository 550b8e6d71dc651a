import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import type { Config } from "../../src/config/config.ts";
import { homesHere } from "../../src/homes/homes.ts";
import type { Engine } from "../../src/loop/loop.ts";
import type { Logger } from "../../src/observe/observe.ts";
import type { Peers } from "../../src/peers.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Yard } from "../../src/yard.ts";
import { databaseEnv } from "./database-env.ts";
import { type Chance, chanceOf } from "./fuzz-chance.ts";

/**
 * With `AGENTYARD_TEST_REPLICAS=2` beside `AGENTYARD_TEST_DATABASE` a test that opens a yard has so many of them on one
 * database and one folder of files, as if they were processes of their own, and one that starts `agentyard serve` has as many
 * processes behind a balancer: each request goes to one of them by chance (`AGENTYARD_SEED`, which is a new one in each
 * `npm run replica-suite`).
 */
export type Replica = {
  readonly yard: Yard;
  readonly config: Config;
  readonly logger: Logger;
  readonly peers: Peers;
};

const { AGENTYARD_TEST_DATABASE: database, AGENTYARD_TEST_REPLICAS: wanted = "1", AGENTYARD_SEED: given } = process.env;
const { AGENTYARD_TEST_TALLY: tally } = process.env;
/** How many servers a yard of a test has. */
export const replicaCount = database === undefined ? 1 : Number(wanted);
const seed = Number(given ?? 1);
const own: string[] = [];
const requests = Array<number>(replicaCount).fill(0);
if (replicaCount > 1)
  process.once("exit", (code) => {
    for (const folder of own) rmSync(folder, { recursive: true, force: true });
    if (tally !== undefined && requests.some((sent) => sent > 0))
      appendFileSync(tally, `${JSON.stringify(requests)}\n`);
    if (code !== 0) console.error(`replicas: AGENTYARD_SEED=${seed}`);
  });

type Wanted = {
  readonly clock?: Clock | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly isOneProcess?: true;
};

/**
 * A folder for each. One alone where a test moves time by hand, for processes share the time of their database; where
 * files lie in images, which one process mounts; where the data lies in files; and where a test plays the process itself.
 */
export function replicaFolders(data: string, { clock, env = {}, isOneProcess }: Wanted): string[] {
  const isAlone = isOneProcess || clock !== undefined || isOfOne({ ...databaseEnv(data), ...env });
  const others = Array.from({ length: isAlone ? 0 : replicaCount - 1 }, (_, index) => `${data}-${index + 2}`);
  for (const folder of others) mkdirSync(folder, { recursive: true });
  own.push(...others);
  return [data, ...others];
}

export const noPeers: Peers = { homes: homesHere, ports: [], serve() {}, leave: async () => {}, close: async () => {} };

/** What all of them have in common: the first one's folder has the files. */
export function replicaEnv(files?: string, processes = replicaCount): Record<string, string> {
  if (processes === 1) return {};
  return { AGENTYARD_KEY: "the key of all replicas of a test", ...(files && { AGENTYARD_FILES_DIR: files }) };
}

/** What Node is told by an option is meant for the program, and for nothing beside it. */
function isOfOne(env: Readonly<Record<string, string>>): boolean {
  return (
    env.AGENTYARD_DATABASE_URL === undefined || env.AGENTYARD_SANDBOX_DISK === "image" || env.NODE_OPTIONS !== undefined
  );
}

const living = new Map<string, { isDead: boolean }>();

/**
 * One who opens a data directory that is open already plays that the process before it is dead, as its owner's lock would
 * tell: that one says no more that it lives.
 */
export function inPlaceOf(folder: string, storage: Storage): Storage {
  const before = living.get(folder);
  if (before !== undefined) before.isDead = true;
  const self = { isDead: false };
  living.set(folder, self);
  return { ...storage, beat: async (server) => (self.isDead ? { wasGone: false, living: [] } : storage.beat(server)) };
}

type Started = { readonly script: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** What starts `agentyard serve`: the program itself, or what starts several of it behind a balancer. */
export function asServers(program: string, env: Started["env"]): Started {
  if (replicaCount === 1 || isOfOne(env)) return { script: [program], env };
  const script = [join(import.meta.dirname, "balanced-serve.ts"), program];
  return { script, env: { ...env, AGENTYARD_SEED: String(seed), ...(tally && { AGENTYARD_TEST_TALLY: tally }) } };
}

/** All of them as one yard: requests go to any, what is done to a conversation without one is done where it is at home. */
export function asOne(replicas: readonly Replica[]): { readonly yard: Yard; readonly config: Config } {
  const [first, ...others] = replicas;
  if (first === undefined) throw new Error("a yard has one process at least");
  // Before the app of the first one speaks for all.
  for (const { yard, peers } of replicas) peers.serve({ app: { fetch: yard.app.fetch }, passes: yard.passes });
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    for (const { yard, peers } of replicas.toReversed()) {
      await peers.leave();
      await yard.close();
      await peers.close();
    }
  };
  const close = () => {
    closing ??= closeAll();
    return closing;
  };
  if (others.length === 0) return { ...first, yard: { ...first.yard, close } };
  const fetches = [...replicas.map(({ yard }) => yard.app.fetch).entries()];
  const chance: Chance = chanceOf(seed);
  first.yard.app.fetch = (...input) => {
    const [index, ask] = chance.pick(fetches);
    requests[index] = (requests[index] ?? 0) + 1;
    return ask(...input);
  };
  const at: At = async (number) => {
    const home = await first.peers.homes.homeOf(`c:${number}`);
    return replicas.find(({ peers }) => !home.isHere && peers.homes.server === home.server) ?? first;
  };
  const parts = { engine: engineOf(replicas, at), log: logOf(replicas, first, at) };
  return { config: first.config, yard: { ...first.yard, ...parts, close } };
}

/** Where a conversation is at home. */
type At = (number: number) => Promise<Replica>;

/** What is appended is heard by who waits in the same process. */
function logOf(replicas: readonly Replica[], { yard }: Replica, at: At): Yard["log"] {
  return {
    ...yard.log,
    append: async (number, ...input) => (await at(number)).yard.log.append(number, ...input),
    rename: async (row, ...input) => (await at(row.number)).yard.log.rename(row, ...input),
    onAppend(number, listener) {
      const ends = replicas.map((replica) => replica.yard.log.onAppend(number, listener));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

function engineOf(replicas: readonly Replica[], at: At): Engine {
  const engines = replicas.map(({ yard }) => yard.engine);
  const [first] = engines;
  if (first === undefined) throw new Error("no engine");
  return new Proxy(first, {
    get(_, name: keyof Engine) {
      const own: unknown = first[name];
      if (name === "live")
        return (...[number, listener]: Parameters<Engine["live"]>) => {
          const ends = engines.map((engine) => engine.live(number, listener));
          return () => {
            for (const end of ends) end();
          };
        };
      if (name === "files" || name === "open" || typeof own !== "function") return own;
      return (...input: unknown[]) => {
        const number = numberOf(input[0]);
        if (number === undefined) return own.apply(first, input);
        return at(number).then(({ yard: { engine } }) => Reflect.apply(engine[name], engine, input));
      };
    },
  });
}

function numberOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || !("number" in value)) return undefined;
  return typeof value.number === "number" ? value.number : undefined;
}
