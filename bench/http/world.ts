import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { addressIn } from "../address-in.ts";
import { entry } from "../entry.ts";
import type { Order } from "./plain-servers.ts";

/** Our server, the model behind it, and what it is held against; each a process of its own. */
export type World = {
  readonly folder: string;
  readonly model: string;
  readonly relay: string;
  readonly sink: string;
  readonly yard: string;
  /** Of our server, in bytes: what it holds in memory, and the processor time it has used in milliseconds. */
  memory(): number;
  cpuMs(): number;
  close(): Promise<void>;
};

export async function openWorld(folder: string): Promise<World> {
  const children: ChildProcess[] = [];
  const start = async (file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const child = spawn(process.execPath, ["--expose-gc", file, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: folder, ...env },
    });
    children.push(child);
    return { child, line: await addressIn(child) };
  };
  const plain = async (...args: string[]) => {
    const { line } = await start(join(import.meta.dirname, "plain-servers.ts"), args);
    return `http://127.0.0.1:${line}`;
  };
  const model = await plain("model");
  const settings = {
    MODEL_BASIC_BASE_URL: `${model}/v1`,
    MODEL_BASIC_ID: "bench",
    MODEL_BASIC_API_KEY: "k",
    AGENTYARD_MODEL_CALLS_MAX: "2000",
  };
  const yard = await start(entry, ["serve", "--port", "0", "--data", join(folder, "data")], settings);
  return {
    ...{ folder, model, yard: yard.line },
    relay: await plain("relay", `${model}/v1/chat/completions`),
    sink: await plain("sink", folder),
    memory: () => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(proc(yard.child, "status"))?.[1]),
    cpuMs: () => cpuMsIn(proc(yard.child, "stat")),
    async close() {
      for (const child of children) {
        const gone = new Promise((resolve) => child.once("close", resolve));
        child.kill("SIGTERM");
        await gone;
      }
    },
  };
}

function proc({ pid }: ChildProcess, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, "utf8");
}

const ticksPerSecond = 100;

function cpuMsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

const keepAlive = new Agent({ keepAlive: true, maxSockets: 2_000 });

/** Sends JSON and hands out the answer as it comes. */
export function post(url: string, body: unknown): Promise<IncomingMessage> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const sent = request(url, { method: "POST", headers, agent: keepAlive }, resolve);
    sent.once("error", reject);
    sent.end(text);
  });
}

export function chatBody(order: Order, more: object = {}): object {
  return { query: JSON.stringify(order), stream: true, inc_stream: true, ...more };
}

export const chatPath = "/api/agent-factory/v1/app/bench/chat/completion";
