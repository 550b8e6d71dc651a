import type { Clock } from "../../base/clock.ts";
import type { Execution, ExecutionEvent, ExecutionMetrics } from "../provider.ts";
import { createEventQueue, type EventQueue } from "./event-queue.ts";
import { payloadBytesMax } from "./frames.ts";
import type { GuestMessage, HostMessage } from "./messages.ts";
import { createResults, type Results } from "./results.ts";

/** What an execution needs of the connection that it runs over. */
export type RunningHost = {
  readonly clock: Clock;
  readonly outputBytesMax: number;
  send(message: HostMessage, payload?: Uint8Array): void;
  /** How many processes of the guest were ended so far because memory ran out. */
  oomKills(): number;
  /** One more thing a guest said that means nothing. */
  drop(): void;
  close(why: string): void;
};

/** One execution as the host sees it: its events, its time limit, and what is done when it does not listen. */
export interface Running {
  readonly execution: Execution;
  /** Resolves with the last event. */
  readonly over: Promise<void>;
  events(): AsyncGenerator<ExecutionEvent, void, undefined>;
  /** Sends it off; until then it waits for an earlier one of the same agent. */
  begin(): void;
  take(message: ExecutionMessage, payload: Buffer): "protocol_error" | undefined;
  interrupt(): void;
  kill(): void;
  /** The guest is gone. */
  lose(): void;
}

export type ExecutionMessage = Extract<GuestMessage, { id: string | null }>;

/** After an interrupt that was not heeded, and after a kill that was not. */
const killAfterMs = 2000;
const closeAfterMs = 3000;
/** The supervisor's own remarks come on top of a stream's limit. */
const remarksBytesMax = 4096;
const nothingUsed = { cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };

type State = {
  readonly execution: Execution;
  readonly host: RunningHost;
  readonly queue: EventQueue<ExecutionEvent>;
  readonly results: Results;
  readonly outputBytes: { stdout: number; stderr: number };
  readonly cut: Set<"stdout" | "stderr">;
  phase: "waiting" | "running" | "over";
  /** The supervisor has said so. */
  hasBegun: boolean;
  beganAt: number;
  oomKillsBefore: number;
  /** Why we end it; the first reason stands. */
  ending: "timeout" | "cancelled" | "killed" | undefined;
  wasInterrupted: boolean;
  isPythonLost: boolean;
  stopTimer: () => void;
  onOver: () => void;
};

type How = Extract<ExecutionEvent, { kind: "exited" }>["how"];
type Exited = Extract<GuestMessage, { type: "exited" }>;

export function createRunning(execution: Execution, host: RunningHost): Running {
  const { promise: over, resolve: onOver } = Promise.withResolvers<void>();
  const state: State = {
    execution,
    host,
    queue: createEventQueue<ExecutionEvent>(),
    results: createResults(),
    outputBytes: { stdout: 0, stderr: 0 },
    cut: new Set(),
    phase: "waiting",
    hasBegun: false,
    beganAt: host.clock.monotonic(),
    oomKillsBefore: 0,
    ending: undefined,
    wasInterrupted: false,
    isPythonLost: false,
    stopTimer: () => {},
    onOver,
  };
  const cancel = () => stop(state, "cancelled");
  execution.signal?.addEventListener("abort", cancel, { once: true });
  void over.then(() => execution.signal?.removeEventListener("abort", cancel));
  if (execution.signal?.aborted) cancel();
  return {
    execution,
    over,
    events: () => state.queue.read(() => kill(state)),
    begin: () => begin(state),
    take: (message, payload) => take(state, message, payload),
    interrupt() {
      state.wasInterrupted = true;
      if (state.phase === "waiting") return stop(state, "cancelled");
      if (state.phase === "running") host.send({ type: "interrupt", id: execution.id });
    },
    kill: () => kill(state),
    lose() {
      if (state.phase === "running") state.isPythonLost = true;
      finish(state, { how: howItWasLost(state), code: null, signal: null, ...nothingUsed });
    },
  };
}

function begin(state: State): void {
  const { execution, host } = state;
  if (state.phase !== "waiting") return;
  state.phase = "running";
  state.beganAt = host.clock.monotonic();
  const { id, language, agent, folder = "", env = {} } = execution;
  if (execution.event !== undefined) sendPart(state, "event", Buffer.from(execution.event));
  if (execution.stdin !== undefined) sendPart(state, "stdin", execution.stdin);
  const code = Buffer.from(execution.code);
  const rest = Math.max(0, code.length - payloadBytesMax);
  if (rest > 0) sendPart(state, "code", code.subarray(0, rest));
  host.send({ type: "exec", id, language, agent, folder, env }, code.subarray(rest));
  // Read after the order was sent, so that nobody waits for it. The count could only be wrong if the program had used up
  // the whole of its memory in the meantime.
  state.oomKillsBefore = host.oomKills();
  state.stopTimer = host.clock.after(execution.timeoutMs, () => stop(state, "timeout"));
}

function sendPart({ execution, host }: State, name: "code" | "event" | "stdin", bytes: Uint8Array): void {
  for (let start = 0; start === 0 || start < bytes.length; start += payloadBytesMax) {
    host.send({ type: "part", id: execution.id, name }, bytes.subarray(start, start + payloadBytesMax));
  }
}

/** First as a person would with Ctrl+C, so that a program can put things in order. */
function stop(state: State, why: "timeout" | "cancelled"): void {
  if (state.phase === "over") return;
  if (state.phase === "waiting") {
    return finish(state, { how: why, code: null, signal: null, ...nothingUsed });
  }
  state.ending ??= why;
  state.host.send({ type: "interrupt", id: state.execution.id });
  retime(state, killAfterMs, () => kill(state));
}

function kill(state: State): void {
  if (state.phase === "over") return;
  if (state.phase === "waiting") return stop(state, "cancelled");
  state.ending ??= "killed";
  state.host.send({ type: "kill", id: state.execution.id });
  retime(state, closeAfterMs, () => state.host.close("execution_does_not_end"));
}

function retime(state: State, ms: number, action: () => void): void {
  state.stopTimer();
  state.stopTimer = state.host.clock.after(ms, action);
}

function take(state: State, message: ExecutionMessage, payload: Buffer): "protocol_error" | undefined {
  switch (message.type) {
    case "started":
      // Once, and no output is empty: else a supervisor that was taken over could say either without an end.
      if (state.hasBegun) return "protocol_error";
      state.hasBegun = true;
      state.queue.push({ kind: "started", ...(message.first ? { isPythonNew: true } : {}) });
      return undefined;
    case "out":
      state.outputBytes[message.stream] += payload.length;
      if (payload.length === 0) return "protocol_error";
      if (state.outputBytes[message.stream] > state.host.outputBytesMax + remarksBytesMax) return "protocol_error";
      state.queue.push({ kind: "output", stream: message.stream, bytes: payload });
      return undefined;
    case "cut":
      if (state.cut.has(message.stream) || payload.length > message.bytes) return "protocol_error";
      state.cut.add(message.stream);
      state.queue.push({ kind: "cut", stream: message.stream, bytes: message.bytes, tail: payload });
      return undefined;
    case "result": {
      const result = state.results.take(message.kind, payload, message.more);
      if (result === "too_much") return "protocol_error";
      if (result === "unfit") state.host.drop();
      else if (result !== "incomplete") state.queue.push({ kind: "result", ...result });
      return undefined;
    }
    case "kernel_lost":
      if (message.asked) state.ending ??= "killed";
      state.isPythonLost = true;
      return undefined;
    case "exited":
      finish(state, { ...message, how: howItEnded(state, message) });
      return undefined;
  }
}

function howItEnded(state: State, { code, signal }: Exited): How {
  if (state.ending !== undefined) return state.ending;
  // 137 is what a shell says of a child that was killed.
  const wasKilled = signal === "SIGKILL" || code === 137;
  if (wasKilled && state.host.oomKills() > state.oomKillsBefore) return "out_of_memory";
  if (state.isPythonLost) return "lost";
  return state.wasInterrupted && (signal === "SIGINT" || code === 130) ? "cancelled" : "done";
}

function howItWasLost({ ending, phase, host, oomKillsBefore }: State): How {
  if (ending !== undefined) return ending;
  return phase === "running" && host.oomKills() > oomKillsBefore ? "out_of_memory" : "lost";
}

function finish(state: State, end: Omit<Exited, "type" | "id"> & { readonly how: How }): void {
  if (state.phase === "over") return;
  const durationMs = state.phase === "waiting" ? 0 : state.host.clock.monotonic() - state.beganAt;
  state.phase = "over";
  state.stopTimer();
  const { cpuMs, memoryPeakBytes, readBytes, writtenBytes } = end;
  const metrics: ExecutionMetrics = { durationMs, cpuMs, memoryPeakBytes, readBytes, writtenBytes };
  const { how, code, signal } = end;
  const lost = state.isPythonLost ? ({ isPythonLost: true } as const) : {};
  state.queue.push({ kind: "exited", how, code: code ?? undefined, signal: signal ?? undefined, ...lost, metrics });
  state.queue.end();
  state.onOver();
}
