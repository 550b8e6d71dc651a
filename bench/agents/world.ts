import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { openLogs } from "../../src/observe/observe.ts";
import type { AgentInfo } from "../../src/protocol/agent-routes.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { openYard, type Yard } from "../../src/yard.ts";
import { noSandbox } from "../../test/world/sandbox.ts";
import { must } from "../must.ts";
import { lookUp, modelName } from "./orders.ts";

/** A yard as the product wires it, with durable writes, and the model in a process of its own. */
export type World = {
  readonly yard: Yard;
  conversation(): Promise<ConversationRow>;
  close(): Promise<void>;
};

export async function openWorld(folder: string): Promise<World> {
  const model = fork(join(import.meta.dirname, "model-server.ts"));
  const [modelUrl] = await once(model, "message");
  const logger = openLogs({
    ...{ dir: folder, level: "info", clock: systemClock, startId: "bench", pid: process.pid, secrets: [] },
    onOff: () => {},
  });
  const storage = must(openSqlite({ path: join(folder, "sessions.db"), clock: systemClock }));
  const yard = await openYard({
    ...{ config: await configFor(folder, String(modelUrl)), storage, sandbox: noSandbox(), logger, version: "bench" },
    ...{ clock: systemClock, ids: systemIds, random: () => 0.5, tools: [tool] },
  });
  return {
    yard,
    async conversation() {
      const row = must(await yard.engine.create(localOwner, {}));
      must(await yard.engine.setBudget(row, { agents: agentsMax }));
      return row;
    },
    async close() {
      await yard.close();
      await logger.close();
      const gone = once(model, "exit");
      model.disconnect();
      await gone;
    },
  };
}

/** Each agent gets its share before it has made any itself. */
const agentsMax = 10_000;

const tool = defineTool({
  name: lookUp.name,
  description: "Look up one page of the notes on a topic.",
  class: "pure",
  input: z.object({ page: z.number() }),
  run: () => ok({ text: lookUp.result }),
});

async function configFor(folder: string, modelUrl: string): Promise<Config> {
  const env = {
    ...{ AGENTYARD_DATA: folder, MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: modelName },
    MODEL_BASIC_CONTEXT_WINDOW: "10000000",
  };
  const config = must(await loadConfig({ env, cwd: folder, homeDir: folder, programDir: folder, flags: {} }));
  // The main agent hears of each end, and answers.
  return { ...config, loop: { ...config.loop, stepsMax: 2_000 } };
}

/** Gives an order, and answers as soon as the agents are as they are to be. */
export async function order(
  { yard }: World,
  row: ConversationRow,
  { text, until }: { readonly text: string; readonly until: (agents: readonly AgentInfo[]) => boolean },
): Promise<readonly AgentInfo[]> {
  must(await yard.engine.send(row, { text, mode: "steer" }));
  return whenAgents(yard, row, until);
}

/** A turn may end between two looks: each append is a reason for another one. */
async function whenAgents(
  { engine, log }: Yard,
  row: ConversationRow,
  isSo: (agents: readonly AgentInfo[]) => boolean,
): Promise<readonly AgentInfo[]> {
  for (;;) {
    const moved = Promise.withResolvers<void>();
    const forget = log.onAppend(row.number, () => moved.resolve());
    const agents = await engine.agentTree(row);
    if (isSo(agents)) {
      forget();
      return agents;
    }
    await moved.promise;
    forget();
  }
}

/** Stops everything in a conversation, and waits until that is so. */
export async function stopAll({ yard }: World, row: ConversationRow): Promise<void> {
  must(await yard.engine.cancel(row));
  await whenAgents(yard, row, (agents) => agents.every(({ state }) => !isOpen.has(state)));
}

const isOpen: ReadonlySet<AgentInfo["state"]> = new Set(["working", "waiting_agents", "waiting_person"]);

/** The processor's time that the work takes in this process, in milliseconds, and the clock's. */
export async function spent(work: () => Promise<unknown>): Promise<{ readonly cpuMs: number; readonly ms: number }> {
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, ms: performance.now() - startedAt };
}

/** What one collection finds to be dead may hold something that only the next one finds. */
const collections = 4;

/** Memory in use after all garbage is collected, in KB. */
export async function liveKb(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  for (let count = 0; count < collections; count += 1) {
    if (typeof collect === "function") collect();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
}
