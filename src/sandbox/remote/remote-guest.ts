import type { Duplex } from "node:stream";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { acceptedEnvironment } from "../guest/environment.ts";
import { assertWithinLimits } from "../guest/execution-limits.ts";
import { payloadBytesMax } from "../guest/frames.ts";
import { linksOver } from "../guest/stdio.ts";
import type { Execution, Guest, GuestUsage, SandboxFault } from "../provider.ts";
import { type Channel, openChannel } from "./channel.ts";
import { createRemoteRun, type RemoteRun } from "./remote-run.ts";
import {
  type GuestOrder,
  type HostMessage,
  hostMessage,
  networkBytesMax,
  pingEveryMs,
  type ServerMessage,
} from "./wire.ts";

export type RemoteGuestOptions = {
  readonly order: GuestOrder;
  readonly network: ((link: Duplex) => void) | undefined;
  readonly clock: Clock;
  readonly openTimeoutMs: number;
  /** Hears how full the host is. */
  readonly onLoad: (load: { readonly guests: number; readonly guestsMax: number }) => void;
  /** The stream broke off: resolves when no process of the guest is left, as far as anybody can tell. */
  readonly whenGone: () => Promise<void>;
};

export type RemoteFault = SandboxFault | { readonly why: "version" | "broken_off"; readonly said: string };

type State = {
  readonly options: RemoteGuestOptions;
  readonly channel: Channel<GuestOrder | ServerMessage>;
  readonly running: Map<string, RemoteRun>;
  readonly questions: Map<number, (answer: HostMessage | undefined, payload: Buffer) => void>;
  readonly end: (ended: { readonly why: string }) => void;
  asked: number;
  /** Why we close it. */
  why: string | undefined;
  /** What the host says at its end. */
  toldWhy: string | undefined;
  isUsable: boolean;
};

const nothing = Buffer.alloc(0);
const nothingUsed: GuestUsage = { memoryBytes: 0, processes: 0, cpuMs: 0 };
/** A host that is told to close a guest, and does not say that it is gone. */
const closeMsMax = 15_000;

/** Asks for a guest over a stream that is open; it is there when this resolves. */
export function openRemoteGuest(stream: Duplex, options: RemoteGuestOptions): Promise<Result<Guest, RemoteFault>> {
  const { order, clock } = options;
  const { promise: opened, resolve } = Promise.withResolvers<Result<Guest, RemoteFault>>();
  const { promise: ended, resolve: end } = Promise.withResolvers<{ readonly why: string }>();
  const links = linksOver(stream, { waitingBytesMax: networkBytesMax });
  let isOpened = false;
  const channel = openChannel<HostMessage, GuestOrder | ServerMessage>({
    ...{ link: links.control, clock, schema: hostMessage },
    onMessage(message, payload) {
      if (isOpened) return take(state, message, payload);
      if (message.type === "pong") return true;
      if (message.type === "refused") {
        options.onLoad(message);
        resolve(failed({ why: message.why, said: message.said }));
        return false;
      }
      if (message.type !== "opened") return false;
      isOpened = true;
      options.onLoad(message);
      options.network?.(links.network);
      resolve(ok(guestOf(state, ended)));
      return true;
    },
    onEnd() {
      stopTimer();
      stopPings();
      resolve(failed({ why: "broken_off", said: "" }));
      leave(state);
    },
  });
  const state: State = {
    ...{ options, channel, end, running: new Map(), questions: new Map() },
    ...{ asked: 0, why: undefined, toldWhy: undefined, isUsable: true },
  };
  const stopTimer = clock.after(options.openTimeoutMs, () => {
    if (isOpened) return;
    resolve(failed({ why: "start_timeout", said: "" }));
    channel.end();
  });
  let stopPings = () => {};
  const ping = () => {
    channel.send({ type: "ping" });
    stopPings = clock.after(pingEveryMs, ping);
  };
  stopPings = clock.after(pingEveryMs, ping);
  channel.send(order);
  return opened;
}

function guestOf(state: State, ended: Guest["ended"]): Guest {
  const { channel, options } = state;
  const counted = (message: HostMessage | undefined) => (message?.type === "done" ? message.count : 0);
  return {
    id: options.order.id,
    ended,
    isOpen: () => state.isUsable,
    run: (execution) => run(state, execution),
    interrupt: (id) => state.running.get(id)?.interrupt(),
    kill: (id) => state.running.get(id)?.kill(),
    warm: (agent, modules) => channel.send({ type: "warm", agent, modules: [...modules] }),
    async reset(agent) {
      await ask(state, (question) => ({ type: "reset", question, agent }));
    },
    async endTurn({ all = false } = {}) {
      return counted(await ask(state, (question) => ({ type: "end_turn", question, all })));
    },
    async unnamedBytes() {
      return counted(await ask(state, (question) => ({ type: "unnamed_bytes", question })));
    },
    async usage() {
      const told = await ask(state, (question) => ({ type: "usage", question }));
      if (told?.type !== "used") return nothingUsed;
      const { memoryBytes, processes, cpuMs } = told;
      return { memoryBytes, processes, cpuMs };
    },
    sharedFiles: () => askMapped(state),
    async close(why) {
      state.why ??= why;
      channel.send({ type: "close", why });
      const stopTimer = options.clock.after(closeMsMax, () => channel.end());
      await ended;
      stopTimer();
    },
  };
}

function take(state: State, message: HostMessage, payload: Buffer): boolean {
  switch (message.type) {
    case "pong":
      return true;
    case "opened":
    case "refused":
      return false;
    case "ended":
      state.toldWhy = message.why;
      return false;
    case "done":
    case "used":
    case "shared": {
      const answer = state.questions.get(message.question);
      answer?.(message, payload);
      return answer !== undefined;
    }
    default: {
      if (message.type === "exited" && !message.isOpen) state.isUsable = false;
      // One that was given up may still have something to say.
      return state.running.get(message.id)?.take(message, payload) ?? true;
    }
  }
}

/** From here on nothing is heard. What the host did not confirm is waited for, so that nobody writes to the same files. */
function leave(state: State): void {
  const { options, toldWhy } = state;
  state.isUsable = false;
  for (const running of [...state.running.values()]) running.lose();
  for (const answer of [...state.questions.values()]) answer(undefined, nothing);
  if (toldWhy !== undefined) return state.end({ why: toldWhy });
  void options.whenGone().then(() => state.end({ why: state.why ?? "ended" }));
}

function run(state: State, wanted: Execution): ReturnType<RemoteRun["events"]> {
  assertWithinLimits(wanted);
  assert(!state.running.has(wanted.id), "an execution has an id of its own");
  const { channel, running, options } = state;
  const env = acceptedEnvironment(wanted.env);
  const one = createRemoteRun(wanted, {
    outputBytesMax: options.order.limits.outputBytesMax,
    send: (message) => channel.send(message),
    onOver: () => void running.delete(wanted.id),
  });
  if (!channel.isOpen()) one.lose();
  if (one.isOver()) return one.events();
  running.set(wanted.id, one);
  const { id, language, agent, folder, timeoutMs, event, stdin } = wanted;
  const part = (name: "code" | "event" | "stdin", bytes: Uint8Array) => {
    for (let start = 0; start < bytes.length; start += payloadBytesMax)
      channel.send({ type: "part", id, name }, bytes.subarray(start, start + payloadBytesMax));
  };
  if (event !== undefined) part("event", Buffer.from(event));
  if (stdin !== undefined) part("stdin", stdin);
  const code = Buffer.from(wanted.code);
  const rest = Math.max(0, code.length - payloadBytesMax);
  part("code", code.subarray(0, rest));
  const has = [...(event === undefined ? [] : ["event" as const]), ...(stdin === undefined ? [] : ["stdin" as const])];
  channel.send(
    { type: "run", id, language, agent, ...(folder !== undefined && { folder }), env, timeoutMs, has },
    code.subarray(rest),
  );
  return one.events();
}

/** Undefined where the guest is gone. */
function ask(
  state: State,
  message: (question: number) => ServerMessage,
  onPiece: (answer: HostMessage, payload: Buffer) => boolean = () => true,
): Promise<HostMessage | undefined> {
  if (!state.channel.isOpen()) return Promise.resolve(undefined);
  state.asked += 1;
  const question = state.asked;
  return new Promise((resolve) => {
    state.questions.set(question, (answer, payload) => {
      if (answer !== undefined && !onPiece(answer, payload)) return;
      state.questions.delete(question);
      resolve(answer);
    });
    state.channel.send(message(question));
  });
}

const inodeBytes = 8;

/** Inodes mean something here only where they are the same on both machines. */
async function askMapped(state: State): Promise<ReadonlySet<number> | undefined> {
  const inodes = new Set<number>();
  const told = await ask(
    state,
    (question) => ({ type: "shared_files", question }),
    (answer, payload) => {
      for (let at = 0; at + inodeBytes <= payload.length; at += inodeBytes)
        inodes.add(Number(payload.readBigUInt64LE(at)));
      return answer.type !== "shared" || !answer.hasMore;
    },
  );
  const isKnown = told?.type === "shared" && told.isKnown && state.options.order.likeness !== "none";
  return isKnown ? inodes : undefined;
}
