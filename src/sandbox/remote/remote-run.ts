import { createEventQueue } from "../guest/event-queue.ts";
import { createResults, type ResultKind } from "../guest/results.ts";
import type { Execution, ExecutionEvent } from "../provider.ts";
import type { HostMessage, ServerMessage } from "./wire.ts";

type RunMessage = Extract<HostMessage, { type: "started" | "output" | "cut" | "result" | "exited" }>;

/** An execution on another machine, as its reader has it. */
export type RemoteRun = {
  events(): AsyncGenerator<ExecutionEvent, void, undefined>;
  /** False for what no host says. */
  take(message: RunMessage, payload: Buffer): boolean;
  interrupt(): void;
  kill(): void;
  /** The guest is gone. */
  lose(): void;
  isOver(): boolean;
};

export type RemoteRunOptions = {
  readonly outputBytesMax: number;
  readonly send: (message: ServerMessage) => void;
  readonly onOver: () => void;
};

/** A supervisor adds remarks of its own. A host that sends more is not one of ours. */
const remarksBytesMax = 64 * 1024;

const nothingUsed = { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };

export function createRemoteRun({ id, signal }: Execution, options: RemoteRunOptions): RemoteRun {
  const { outputBytesMax, send } = options;
  const queue = createEventQueue<ExecutionEvent>();
  const outputBytes = { stdout: 0, stderr: 0 };
  const cut = new Set<string>();
  const results = createResults();
  let [isOver, hasBegun, isKilled, isCancelled] = [false, false, false, false];
  const finish = (event: Extract<ExecutionEvent, { kind: "exited" }>) => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener("abort", cancel);
    queue.push(event);
    queue.end();
    options.onOver();
  };
  const endAs = (how: "cancelled" | "killed" | "lost", more: { readonly isPythonLost?: true } = {}) =>
    finish({ kind: "exited", how, code: undefined, signal: undefined, ...more, metrics: nothingUsed });
  const cancel = () => {
    isCancelled = true;
    send({ type: "cancel", id });
  };
  const kill = () => {
    if (isOver) return;
    isKilled = true;
    send({ type: "kill", id });
  };
  if (signal?.aborted) endAs("cancelled");
  else signal?.addEventListener("abort", cancel, { once: true });
  const takeResult = (kind: ResultKind, payload: Buffer, hasMore: boolean): boolean => {
    const result = results.take(kind, payload, hasMore);
    if (result === "too_much" || result === "unfit") return false;
    if (result !== "incomplete") queue.push({ kind: "result", ...result });
    return true;
  };
  return {
    events: () => queue.read(kill),
    isOver: () => isOver,
    interrupt: () => send({ type: "interrupt", id }),
    kill,
    lose: () => endAs(isCancelled ? "cancelled" : isKilled ? "killed" : "lost", hasBegun ? { isPythonLost: true } : {}),
    take(message, payload) {
      switch (message.type) {
        case "started":
          if (hasBegun) return false;
          hasBegun = true;
          queue.push({ kind: "started", ...(message.isPythonNew && { isPythonNew: true }) });
          return true;
        case "output":
          outputBytes[message.stream] += payload.length;
          if (payload.length === 0) return false;
          queue.push({ kind: "output", stream: message.stream, bytes: payload });
          return outputBytes[message.stream] <= outputBytesMax + remarksBytesMax;
        case "cut":
          if (cut.has(message.stream) || payload.length > message.bytes) return false;
          cut.add(message.stream);
          queue.push({ kind: "cut", stream: message.stream, bytes: message.bytes, tail: payload });
          return true;
        case "result":
          return takeResult(message.kind, payload, message.hasMore);
        case "exited": {
          const { how, code, signal: by, isPythonLost, metrics } = message;
          finish({ kind: "exited", how, code, signal: by, ...(isPythonLost && { isPythonLost }), metrics });
          return true;
        }
      }
    },
  };
}
