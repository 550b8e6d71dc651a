import type { Duplex } from "node:stream";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Execution, Guest, GuestLimits, GuestUsage, SandboxFault } from "../provider.ts";
import { acceptedEnvironment } from "./environment.ts";
import { assertWithinLimits } from "./execution-limits.ts";
import { createFrameDecoder, encodeFrame, type Frame } from "./frames.ts";
import { type GuestMessage, guestMessage, type HostMessage, protocolVersion } from "./messages.ts";
import { createRunning, type Running } from "./running.ts";

/** A guest over its control socket: all of the port but what only the launch knows. */
export interface GuestConnection extends Omit<Guest, "usage" | "sharedFiles" | "unnamedBytes"> {
  /** Resolves when the supervisor answers, with how many messages of its children it did not believe. */
  ping(): Promise<number>;
  /** What the supervisor sees of it, for those who see nothing from outside. */
  askUsage(): Promise<GuestUsage>;
  /** Frames that meant nothing: for an execution that is over or never was. */
  dropped(): number;
}

export type GuestSettings = {
  readonly id: string;
  /** The folder where executions start, as programs inside see it; figures go to `outputs/` below it. */
  readonly workspace: string;
  /** By folder inside, which one it must be, as `GuestWorkspace` has it. */
  readonly marks?: Readonly<Record<string, string>> | undefined;
  /** On another machine the same folder has the same inode, and another device. */
  readonly areMarksInodes?: boolean | undefined;
  /** The command that runs JavaScript, when there is one inside. */
  readonly javascript: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: Pick<GuestLimits, "outputBytesMax" | "fileBytesMax">;
  /** Where nothing outside limits all of a guest together, each process inside is limited on its own. */
  readonly processLimits?: ProcessLimits | undefined;
  /** How many processes of the guest were ended so far because memory ran out. */
  readonly oomKills: () => number;
  readonly helloTimeoutMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
};

export type ProcessLimits = { readonly memoryBytes: number | null; readonly processesMax: number | null };

/** All executions of a guest at full speed stay below it; more is an attack on us. */
const framesPerSecondMax = 20_000;
const frameTimeoutMs = 10_000;
const shutdownMs = 1000;

type State = {
  readonly settings: GuestSettings;
  readonly socket: Duplex;
  readonly running: Map<string, Running>;
  /** The end of the last Python execution of each agent: its state is used by one at a time. */
  readonly lastCell: Map<string, Promise<void>>;
  readonly resets: Map<string, (() => void)[]>;
  readonly turnEnds: ((killed: number) => void)[];
  readonly usages: ((usage: GuestUsage) => void)[];
  readonly pings: Map<number, (dropped: number) => void>;
  /** What to do with every question that is still open when the guest is gone. */
  readonly asked: Set<() => void>;
  readonly end: (ended: { readonly why: string }) => void;
  isOpen: boolean;
  why: string;
  dropped: number;
  pingCount: number;
};

/** Greets the supervisor at the other end; resolves when it has answered as it should. */
export async function connectGuest(
  socket: Duplex,
  settings: GuestSettings,
): Promise<Result<GuestConnection, SandboxFault>> {
  const { promise: ended, resolve: end } = Promise.withResolvers<{ readonly why: string }>();
  const state: State = {
    settings,
    socket,
    running: new Map(),
    lastCell: new Map(),
    resets: new Map(),
    turnEnds: [],
    usages: [],
    pings: new Map(),
    asked: new Set(),
    end,
    isOpen: true,
    why: "",
    dropped: 0,
    pingCount: 0,
  };
  const greeted = await greet(state);
  if (greeted === "ready") return ok(connectionOf(state, ended));
  leave(state, greeted);
  const isNamed = greeted === "start_timeout" || greeted === "wrong_workspace";
  return failed({ why: isNamed ? greeted : "start_failed", said: greeted });
}

const nothingUsed: GuestUsage = { memoryBytes: 0, processes: 0, cpuMs: 0 };

function connectionOf(state: State, ended: Guest["ended"]): GuestConnection {
  return {
    id: state.settings.id,
    ended,
    run: (execution) => run(state, execution).events(),
    interrupt: (execution) => state.running.get(execution)?.interrupt(),
    kill: (execution) => state.running.get(execution)?.kill(),
    reset: (agent) => reset(state, agent),
    warm: (agent, modules) => send(state, { type: "warm", agent, modules }),
    endTurn: ({ all = false } = {}) =>
      ask(state, 0, (answer) => state.turnEnds.push(answer), { type: "end_turn", all }),
    ping() {
      state.pingCount += 1;
      const n = state.pingCount;
      return ask(state, 0, (answer) => state.pings.set(n, answer), { type: "ping", n });
    },
    askUsage: () => ask(state, nothingUsed, (answer) => state.usages.push(answer), { type: "usage" }),
    dropped: () => state.dropped,
    isOpen: () => state.isOpen,
    close: (why) => close(state, why, ended),
  };
}

/** Listens from now on; what comes before the greeting or instead of it ends the connection. */
function greet(state: State): Promise<"ready" | "start_timeout" | "wrong_greeting" | "wrong_workspace" | "ended"> {
  const { settings, socket } = state;
  const { marks = {} } = settings;
  const nonce = settings.ids.hex(32);
  return new Promise((resolve) => {
    const stopTimer = settings.clock.after(settings.helloTimeoutMs, () => resolve("start_timeout"));
    let isGreeted = false;
    const take = (message: GuestMessage, payload: Buffer) => {
      if (isGreeted) return takeMessage(state, message, payload);
      isGreeted = message.type === "hello" && message.version === protocolVersion && message.nonce === nonce;
      stopTimer();
      const seen = message.type === "hello" ? (message.marks ?? []) : [];
      const shown = (mark: string | null | undefined) =>
        settings.areMarksInodes ? mark?.slice(mark.indexOf(":")) : mark;
      const isMounted = Object.values(marks).every((mark, index) => shown(seen[index]) === shown(mark));
      resolve(!isGreeted ? "wrong_greeting" : isMounted ? "ready" : "wrong_workspace");
      return isGreeted ? undefined : "protocol_error";
    };
    listen(state, take);
    const gone = () => {
      stopTimer();
      leave(state, state.why || "ended");
      resolve("ended");
    };
    // Half a socket is none.
    socket.once("end", gone);
    socket.once("close", gone);
    const { workspace, javascript = null, env, limits } = settings;
    const { outputBytesMax, fileBytesMax } = limits;
    const { memoryBytes = null, processesMax = null } = settings.processLimits ?? {};
    const hello = { workspace, javascript, env, outputBytesMax, fileBytesMax, memoryBytes, processesMax };
    send(state, { type: "hello", nonce, folders: Object.keys(marks), ...hello });
  });
}

type Take = (message: GuestMessage, payload: Buffer) => "protocol_error" | undefined;

function listen(state: State, take: Take): void {
  const { socket, settings } = state;
  const { clock } = settings;
  const decoder = createFrameDecoder();
  const isFlood = createFloodWatch(clock);
  let stopFrameTimer = () => {};
  // An end that is torn off says so here; `close` comes after it.
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    if (!state.isOpen) return;
    const isNew = decoder.pendingBytes() === 0;
    const frames = decoder.push(chunk);
    if (!frames.ok) return leave(state, "protocol_error");
    if (isFlood(frames.value.length)) return leave(state, "flood");
    for (const frame of frames.value) {
      if (state.isOpen && takeFrame(frame, take) === "protocol_error") return leave(state, "protocol_error");
    }
    // From its first byte on: one that comes byte by byte has no more time than others.
    if (!isNew && frames.value.length === 0) return;
    stopFrameTimer();
    if (decoder.pendingBytes() > 0) stopFrameTimer = clock.after(frameTimeoutMs, () => leave(state, "protocol_error"));
  });
}

function takeFrame({ header, payload }: Frame, take: Take): "protocol_error" | undefined {
  const message = guestMessage.safeParse(header);
  return message.success ? take(message.data, payload) : "protocol_error";
}

function createFloodWatch(clock: Clock): (frames: number) => boolean {
  let windowStart = clock.monotonic();
  let count = 0;
  return (frames) => {
    const now = clock.monotonic();
    if (now - windowStart >= 1000) [windowStart, count] = [now, 0];
    count += frames;
    return count > framesPerSecondMax;
  };
}

function takeMessage(state: State, message: GuestMessage, payload: Buffer): "protocol_error" | undefined {
  switch (message.type) {
    case "hello":
      return "protocol_error";
    case "pong":
      state.pings.get(message.n)?.(message.dropped);
      state.pings.delete(message.n);
      return undefined;
    case "usage": {
      const { memoryBytes, processes, cpuMs } = message;
      state.usages.shift()?.({ memoryBytes, processes, cpuMs });
      return undefined;
    }
    case "turn_ended":
      state.turnEnds.shift()?.(message.killed);
      return undefined;
    case "kernel_lost":
      for (const answer of state.resets.get(message.agent) ?? []) answer();
      state.resets.delete(message.agent);
      return message.id === null ? undefined : takeForExecution(state, message.id, message, payload);
    default:
      return takeForExecution(state, message.id, message, payload);
  }
}

function takeForExecution(
  state: State,
  id: string,
  message: Parameters<Running["take"]>[0],
  payload: Buffer,
): "protocol_error" | undefined {
  const running = state.running.get(id);
  if (running !== undefined) return running.take(message, payload);
  state.dropped += 1;
  return undefined;
}

function run(state: State, wanted: Execution): Running {
  // All before it is known here: nothing that is found wrong later could be told to anybody.
  assertWithinLimits(wanted);
  assert(!state.running.has(wanted.id), "an execution has an id of its own");
  const env = acceptedEnvironment(wanted.env);
  const running = createRunning(
    { ...wanted, env },
    {
      clock: state.settings.clock,
      outputBytesMax: state.settings.limits.outputBytesMax,
      send: (message, payload) => send(state, message, payload),
      oomKills: state.settings.oomKills,
      drop: () => (state.dropped += 1),
      close: (why) => leave(state, why),
    },
  );
  state.running.set(wanted.id, running);
  void running.over.then(() => state.running.delete(wanted.id));
  if (!state.isOpen) running.lose();
  else if (wanted.language !== "python") running.begin();
  else beginInTurn(state, wanted.agent, running);
  return running;
}

function beginInTurn({ lastCell }: State, agent: string, running: Running): void {
  const before = lastCell.get(agent);
  // At once when nobody is before it: the order of calls is the order on the wire.
  if (before === undefined) running.begin();
  else void before.then(() => running.begin());
  const turn = (before ?? Promise.resolve()).then(() => running.over);
  lastCell.set(agent, turn);
  void turn.then(() => {
    if (lastCell.get(agent) === turn) lastCell.delete(agent);
  });
}

function reset(state: State, agent: string): Promise<void> {
  const remember = (answer: () => void) => {
    state.resets.set(agent, [...(state.resets.get(agent) ?? []), answer]);
  };
  return ask<void>(state, undefined, remember, { type: "reset", agent });
}

/** Where the guest is gone, the answer is the one given when there is nothing. */
function ask<A>(
  state: State,
  none: A,
  remember: (answer: (value: A) => void) => void,
  message: HostMessage,
): Promise<A> {
  if (!state.isOpen) return Promise.resolve(none);
  return new Promise((resolve) => {
    const giveUp = () => resolve(none);
    state.asked.add(giveUp);
    remember((value) => {
      state.asked.delete(giveUp);
      resolve(value);
    });
    send(state, message);
  });
}

function send(state: State, message: HostMessage, payload?: Uint8Array): void {
  if (state.isOpen && state.socket.writable) state.socket.write(encodeFrame(message, payload));
}

async function close(state: State, why: string, ended: Guest["ended"]): Promise<void> {
  if (state.isOpen) {
    // The first reason stands: that it ended is what follows from it, and may be told before its socket has closed.
    state.why ||= why;
    send(state, { type: "shutdown" });
    const stopTimer = state.settings.clock.after(shutdownMs, () => leave(state, state.why));
    void ended.then(stopTimer);
  }
  await ended;
}

/** From here on nothing is heard; the supervisor ends when its socket does. */
function leave(state: State, why: string): void {
  if (!state.isOpen) return;
  state.isOpen = false;
  state.socket.destroy();
  for (const running of state.running.values()) running.lose();
  for (const giveUp of state.asked) giveUp();
  state.end({ why });
}
