import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import { parsedJson } from "../base/json.ts";
import type { Logger } from "../observe/observe.ts";
import { messageBytesMax } from "./limits.ts";
import { ownCode } from "./own-code.ts";
import type { McpReached } from "./settings.ts";

type Program = Extract<McpReached, { by: "program" }>;

/**
 * A server that is a program of ours, spoken with over its standard input and output. The client's own transport was no
 * help: it starts the program twice to find out which generation it speaks, hands it more of our environment, and leaves
 * the children of the program running.
 */
export type ChildTransport = Transport & {
  /** By these two the client knows that it is no network behind it. */
  readonly pid: number | undefined;
  readonly stderr: null;
  /** How the program ended: `ENOENT`, `exit 1`, `SIGSEGV`; empty while it runs. */
  readonly ending: string;
};

type Parts = {
  readonly server: string;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function childTransport(program: Program, { server, clock, logger }: Parts): ChildTransport {
  let child: ChildProcessWithoutNullStreams | undefined;
  let ending = "";
  let hasSpoken = false;
  let ended: Promise<void> = Promise.resolve();
  const transport: ChildTransport & { pid: number | undefined } = {
    pid: undefined,
    stderr: null,
    get ending() {
      return ending;
    },
    async start() {
      const { command, args, env, cwd } = program;
      // A group of its own: what the program started ends with it, and Ctrl+C in our terminal does not reach it.
      const started = spawn(command, args, { env: { ...env }, cwd, detached: true, windowsHide: true });
      child = started;
      ended = new Promise((resolve) => started.once("close", () => resolve()));
      await new Promise<void>((resolve, reject) => {
        started.once("spawn", resolve);
        started.once("error", (error) => {
          ending = systemCode(error) ?? "";
          reject(error);
        });
      });
      transport.pid = started.pid;
      started.once("exit", (code, signal) => {
        ending = signal ?? `exit ${code}`;
      });
      started.once("close", () => transport.onclose?.());
      started.stdin.on("error", (error) => transport.onerror?.(error));
      const take = openLines((line) => {
        hasSpoken = receive(transport, line) || hasSpoken;
      });
      started.stdout.on("data", (chunk: Buffer) => {
        if (take(chunk) !== "too_long") return;
        // Before it notices that nobody listens: what ended it is to be told.
        if (started.pid !== undefined) signalGroup(started.pid, "SIGKILL");
        started.stdout.destroy();
      });
      started.stdout.on("error", (error) => transport.onerror?.(error));
      noteSaid(started, { server, logger });
    },
    send(message) {
      const text = `${JSON.stringify(message)}\n`;
      return new Promise((resolve, reject) => {
        if (child === undefined || ending !== "") return reject(new Error("the program has ended"));
        child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
      });
    },
    async close() {
      const { pid } = transport;
      if (child === undefined || pid === undefined) return;
      child.stdin.end();
      const over = endGroup(pid, { ended, clock, isPolite: hasSpoken });
      await inBackground(logger, "an MCP server could not be ended", over, { server });
    },
  };
  const { start, send, close } = transport;
  return Object.assign(transport, { start: ownCode(start), send: ownCode(send), close: ownCode(close) });
}

/** The lines of a program. The client's own reader copies all it has with every piece, which takes seconds for a long line. */
function openLines(onLine: (line: string) => void): (chunk: Buffer) => "taken" | "too_long" {
  let pieces: Buffer[] = [];
  let sizeBytes = 0;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(newLine); at >= 0; at = chunk.indexOf(newLine, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, at)]).toString("utf8");
      [pieces, sizeBytes, from] = [[], 0, at + 1];
      if (line.trim() !== "") onLine(line);
    }
    pieces.push(chunk.subarray(from));
    sizeBytes += chunk.length - from;
    return sizeBytes > messageBytesMax ? "too_long" : "taken";
  };
}

const newLine = 0x0a;

/** What is no message of the protocol is told and passed over: many programs greet on their output. */
function receive(transport: Transport, line: string): boolean {
  const message = parsedJson(line);
  if (isMessage(message)) transport.onmessage?.(message);
  else transport.onerror?.(new Error("a line that is no message"));
  return isMessage(message);
}

/** The client looks at the rest. */
function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

const lineMax = 2_000;
const linesMax = 400;

/** What a program says beside the protocol is for the operator: in the log file, but never all of it. */
function noteSaid(child: ChildProcessWithoutNullStreams, { server, logger }: Pick<Parts, "server" | "logger">): void {
  let lines = 0;
  let rest = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (chunk: string) => {
    const pieces = (rest + chunk).split("\n");
    rest = (pieces.pop() ?? "").slice(0, lineMax);
    for (const piece of pieces) {
      lines += 1;
      if (lines <= linesMax && piece.trim() !== "")
        logger.info("MCP server {server} says: {said}", { server, said: piece.slice(0, lineMax) });
      if (lines === linesMax) logger.warn("MCP server {server} says more than is kept", { server });
    }
  });
}

/** A program that listens ends with its input; one that does not is told twice. */
const politeMsMax = 1_500;
const toldMsMax = 1_000;
/** All of it takes no longer. */
export const childCloseMsMax = politeMsMax + 2 * toldMsMax + 500;

type Ending = { readonly ended: Promise<void>; readonly clock: Clock; readonly isPolite: boolean };

/** One that never said anything has nothing to put away: nobody waits for it. */
async function endGroup(pid: number, { ended, clock, isPolite }: Ending): Promise<void> {
  const isOver = async (ms: number) => {
    const stop = new AbortController();
    const first = await Promise.race([ended.then(() => "ended" as const), clock.wait(ms, stop.signal)]);
    stop.abort();
    return first === "ended";
  };
  if (isPolite && !(await isOver(politeMsMax))) signalGroup(pid, "SIGTERM");
  if (!isPolite || !(await isOver(toldMsMax))) signalGroup(pid, "SIGKILL");
  await isOver(toldMsMax);
  // What the program left behind has no other parent.
  signalGroup(pid, "SIGKILL");
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody is left.
    systemCodeOrThrow(error);
  }
}
