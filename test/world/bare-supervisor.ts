import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { connectGuest, type GuestSettings } from "../../src/sandbox/guest/connection.ts";
import type { Execution } from "../../src/sandbox/provider.ts";

/** The Python that a guest would have: a shim that first looks for a version is not it. */
export const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

const guestFolder = join(import.meta.dirname, "../../src/sandbox/guest");

export type BareSupervisor = {
  readonly socket: Duplex;
  readonly pid: number;
  readonly workspace: string;
  /** Resolves with its exit code. */
  readonly gone: Promise<number | null>;
  /** What it wrote to its own stderr: nothing, unless it broke. */
  said(): string;
};

/** The supervisor as a plain process of this machine, without any isolation; it and all it started end with the test. */
export function bareSupervisor(t: TestContext, options: { readonly python?: string } = {}): BareSupervisor {
  const workspace = mkdtempSync(join(tmpdir(), "agentyard-guest-"));
  const child = spawn(options.python ?? python, ["-I", "-S", join(guestFolder, "supervisor.py")], {
    cwd: workspace,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: workspace, LANG: "C.UTF-8" },
    // The last one is planted: nobody inside may find it.
    stdio: ["ignore", "ignore", "pipe", "pipe", "ignore", "pipe"],
  });
  const socket = child.stdio[3];
  assert(socket instanceof Duplex && child.pid !== undefined);
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const gone = new Promise<number | null>((resolve) => child.once("close", resolve));
  t.after(async () => {
    socket.destroy();
    await gone;
    rmSync(workspace, { recursive: true, force: true });
  });
  return { socket, pid: child.pid, workspace, gone, said: () => said };
}

/** What a connection needs; a test says what it wants otherwise. */
function guestSettings(workspace: string) {
  return {
    id: "g1",
    workspace,
    javascript: [process.execPath],
    env: {},
    limits: { outputBytesMax: 1024 * 1024, fileBytesMax: 64 * 1024 * 1024 },
    oomKills: () => 0,
    helloTimeoutMs: 30_000,
    clock: systemClock,
    ids: systemIds,
  };
}

const programTimeoutMs = 40_000;

/** What a plain Python says that has the supervisor's own modules at hand: it calls `say` once, with one value. */
export async function pythonSays(code: string): Promise<unknown> {
  const begin = `
import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(guestFolder)})
heard_at = os.dup(1)
def say(value): os.write(heard_at, json.dumps(value).encode())
`;
  const options = { encoding: "utf8", timeout: programTimeoutMs, killSignal: "SIGKILL" } as const;
  const { stdout } = await promisify(execFile)(python, ["-I", "-S", "-c", begin + code], options);
  return JSON.parse(stdout);
}

type BareGuest = {
  /** Of what it runs, where an execution does not say so itself. */
  readonly language?: Execution["language"];
  readonly settings?: (workspace: string) => Partial<GuestSettings>;
  readonly python?: string;
};

/** A guest of such a supervisor, and ways to run code in it. */
export async function bareGuest(t: TestContext, { language = "bash", settings, ...options }: BareGuest = {}) {
  const supervisor = bareSupervisor(t, options);
  const { socket, workspace, said } = supervisor;
  const connected = await connectGuest(socket, { ...guestSettings(workspace), ...settings?.(workspace) });
  assert(connected.ok, said());
  const guest = connected.value;
  let count = 0;
  const start = (code: string, wanted: Partial<Execution> = {}) => {
    count += 1;
    return guest.run({ id: `e${count}`, language, code, agent: "a", timeoutMs: 60_000, ...wanted });
  };
  const run = (code: string, wanted?: Partial<Execution>) => outcomeOf(start(code, wanted));
  const events = (code: string, wanted?: Partial<Execution>) => allOf(start(code, wanted));
  return { supervisor, workspace, socket, guest, run, events };
}

type Event =
  | { readonly kind: "started" }
  | { readonly kind: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Buffer }
  | { readonly kind: "cut"; readonly stream: "stdout" | "stderr"; readonly bytes: number }
  | { readonly kind: "result"; readonly type: string; readonly bytes: Buffer }
  | {
      readonly kind: "exited";
      readonly how: string;
      readonly code: number | undefined;
      readonly signal: string | undefined;
    };

export type Outcome = {
  readonly stdout: string;
  readonly stderr: string;
  readonly results: readonly string[];
  /** How it ended, and with which code or signal: `done 0`. */
  readonly end: string;
};

/** All of them, to the end. */
export async function allOf<E>(events: AsyncIterable<E>): Promise<E[]> {
  const all: E[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** An execution in one value, to be compared as a whole. */
export async function outcomeOf(events: AsyncIterable<Event>): Promise<Outcome> {
  const output: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const results: string[] = [];
  let end = "no end";
  for await (const event of events) {
    if (event.kind === "output") output[event.stream].push(event.bytes);
    if (event.kind === "result") results.push(`${event.type} ${event.bytes}`);
    if (event.kind === "exited") end = `${event.how} ${event.signal ?? event.code}`;
  }
  const text = (stream: "stdout" | "stderr") => Buffer.concat(output[stream]).toString();
  return { stdout: text("stdout"), stderr: text("stderr"), results, end };
}

/** What a program that says nothing and ends well comes to; a test says what it wants otherwise. */
export function done(said: Partial<Outcome>): Outcome {
  return { stdout: "", stderr: "", results: [], end: "done 0", ...said };
}
