import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { addressIn } from "../address-in.ts";
import { entry } from "../entry.ts";

/** What a server uses at one moment. */
export type Look = {
  readonly memoryMb: number;
  readonly descriptors: number;
  /** With those of its sandboxes. */
  readonly processes: number;
  readonly diskMb: number;
};

export type SoakServer = {
  readonly address: string;
  look(): Look;
  /** `SIGTERM`: as an operator does it. `SIGKILL`: as a power cut does. Then the same server again. */
  restart(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  close(): Promise<void>;
};

export async function startServer(folder: string, env: Readonly<Record<string, string>>): Promise<SoakServer> {
  const data = join(folder, "data");
  const own = { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: folder, AGENTYARD_DATA: data, ...env };
  const start = async (port: string) => {
    const child = spawn(process.execPath, [entry, "serve", "--port", port], {
      ...{ stdio: ["ignore", "pipe", "inherit"], env: own, cwd: folder },
    });
    return { child, address: await addressIn(child) };
  };
  let { child, address } = await start("0");
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const ended = once(child, "close");
    child.kill(signal);
    await ended;
  };
  return {
    address,
    look: () => lookAt(child.pid ?? 0, data),
    async restart(signal) {
      await end(signal);
      ({ child, address } = await start(new URL(address).port));
    },
    close: () => end("SIGTERM"),
  };
}

function lookAt(pid: number, data: string): Look {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return {
    memoryMb: Number(kilobytes) / 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: treeBelow(pid),
    // What goes away while it counts makes it fail, and changes nothing.
    diskMb: Number(/^\d+/.exec(spawnSync("du", ["-sk", data], { encoding: "utf8" }).stdout)?.[0]) / 1024,
  };
}

/** The process and all below it. */
function treeBelow(pid: number): number {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const parents = new Map(rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]));
  const isBelow = (each: number | undefined): boolean =>
    each !== undefined && (each === pid || isBelow(parents.get(each)));
  return [...parents.keys()].filter(isBelow).length;
}
