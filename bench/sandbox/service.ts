/** `agentyard sandbox` as a process of its own, spoken to over HTTP. */

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { entry } from "../entry.ts";

export type Service = {
  readonly pid: number;
  /** Runs a program in the session of a user, to its end; a wrong answer ends the bench. */
  run(user: string, execution: Readonly<Record<string, unknown>>): Promise<void>;
  /** The same, whatever comes of it. */
  tryRun(user: string, execution: Readonly<Record<string, unknown>>): Promise<void>;
  endSession(user: string): Promise<void>;
  /** After all garbage was collected: what its objects take up, and what the whole process does. */
  memory(): Promise<{ readonly liveMib: number; readonly residentMib: number }>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function openService(folder: string): Promise<Service> {
  const data = join(folder, "service");
  mkdirSync(data, { recursive: true });
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: data, TMPDIR: data, AGENTYARD_DATA: data, LANG: "C.UTF-8" };
  const node = ["--expose-gc", "--import", join(import.meta.dirname, "live-memory.ts")];
  const stdio: StdioOptions = ["ignore", "pipe", "inherit", "ipc"];
  const child = spawn(process.execPath, [...node, entry, "sandbox", "--port", "0"], { env, stdio });
  const address = await listening(child);
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${address}/api/v1${path}`, { method, headers, ...json });
    return { status: response.status, text: await response.text() };
  };
  const execute = (user: string, execution: object) =>
    send("POST", `/executions/sessions/sb-session-${user}/execute-sync`, execution);
  return {
    pid: child.pid ?? 0,
    async run(user, execution) {
      const { status, text } = await execute(user, execution);
      if (status !== 200 || JSON.parse(text).exit_code !== 0) throw new Error(`${status}: ${text}`);
    },
    async tryRun(user, execution) {
      await execute(user, execution);
    },
    async endSession(user) {
      await send("DELETE", `/sessions/sb-session-${user}`);
    },
    async memory() {
      child.send("memory");
      return (await once(child, "message"))[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "close");
    },
  };
}

/** Not by iterating over it: a stream that is left is closed, and the service still has things to say. */
async function listening(child: ChildProcess): Promise<string> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  for (;;) {
    const found = /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/.exec(said);
    if (found?.[1] !== undefined) return found[1];
    if (child.stdout === null || child.exitCode !== null) throw new Error(`the service ended: ${said}`);
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  }
}

/** What a process holds: its open descriptors, and how many processes descend from it. */
export function holdings(pid: number): { descriptors: number; processes: number } {
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, processes: descendantsOf(pid).length };
}

/** All processes below one. */
export function descendantsOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const children = text.split(" ").filter((name) => name !== "");
  return children.map(Number).flatMap((child) => [child, ...descendantsOf(child)]);
}
