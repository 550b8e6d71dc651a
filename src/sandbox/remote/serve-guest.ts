import type { Duplex } from "node:stream";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Result } from "../../base/result.ts";
import { payloadBytesMax } from "../guest/frames.ts";
import { linksOver } from "../guest/stdio.ts";
import { executionLimits, fitsGuest, type Guest, type GuestWanted, type SandboxFault } from "../provider.ts";
import { type Channel, openChannel } from "./channel.ts";
import { foldersOf } from "./host-folders.ts";
import { sendEvents } from "./send-events.ts";
import {
  type GuestOrder,
  guestOrder,
  type HostMessage,
  networkBytesMax,
  type ServerMessage,
  serverMessage,
  wireVersion,
} from "./wire.ts";

/** What a host has for the guests of all its callers. */
export type HostRoom = {
  /** The shared folder, as this machine has it. */
  readonly files: string;
  readonly clock: Clock;
  open(wanted: GuestWanted): Promise<Result<Guest, SandboxFault>>;
  /** False where there is no room, or where one with this name lives. */
  reserve(id: string): boolean;
  release(id: string): void;
  /** Known from now on, so that it can be ended from outside its stream. */
  keep(guest: Guest): void;
  load(): { readonly guests: number; readonly guestsMax: number };
  /** A mistake of ours while nobody waits. */
  inBackground(work: Promise<unknown>): void;
};

type Parts = Record<"code" | "event" | "stdin", Buffer[]>;

type State = {
  readonly room: HostRoom;
  readonly socket: Duplex;
  readonly network: Duplex;
  channel: Channel<HostMessage> | undefined;
  order: GuestOrder | undefined;
  guest: Guest | undefined;
  /** By execution: what stops it. */
  readonly running: Map<string, AbortController>;
  readonly parts: Map<string, Parts>;
  partBytes: number;
};

const partsMax = 8;
const { codeBytesMax, eventBytesMax, stdinBytesMax, folderCharactersMax } = executionLimits;
const partBytesMax = 2 * (codeBytesMax + eventBytesMax + stdinBytesMax);
const saidCharactersMax = 2000;
/** For the last word to arrive. */
export const lastWordMs = 2000;

const anyMessage = z.union([guestOrder, serverMessage]);

/** One guest, for as long as its stream is there: a caller that is gone takes it along. */
export function serveGuest(socket: Duplex, room: HostRoom): void {
  const { control, network } = linksOver(socket, { waitingBytesMax: networkBytesMax });
  const state: State = {
    ...{ room, socket, network, channel: undefined, order: undefined, guest: undefined },
    ...{ running: new Map(), parts: new Map(), partBytes: 0 },
  };
  state.channel = openChannel<z.infer<typeof anyMessage>, HostMessage>({
    ...{ link: control, clock: room.clock, schema: anyMessage },
    onMessage: (message, payload) => (message.type === "open" ? begin(state, message) : take(state, message, payload)),
    onEnd() {
      socket.destroy();
      if (state.guest !== undefined) room.inBackground(state.guest.close("caller_gone"));
    },
  });
}

function begin(state: State, order: GuestOrder): boolean {
  const { room } = state;
  if (state.order !== undefined || !fitsGuest(order.env)) return false;
  state.order = order;
  if (order.version !== wireVersion) return refuse(state, { why: "version", said: `${wireVersion}` });
  if (!room.reserve(order.id)) return refuse(state, { why: "full", said: "" });
  room.inBackground(openOrRefuse(state, order));
  return true;
}

async function openOrRefuse(state: State, order: GuestOrder): Promise<void> {
  let fault: SandboxFault | undefined;
  try {
    fault = await open(state, order);
  } finally {
    if (state.guest === undefined) state.room.release(order.id);
  }
  // Only now: one that there is none of is not counted in what is told with it.
  if (fault !== undefined) refuse(state, fault);
}

async function open(state: State, order: GuestOrder): Promise<SandboxFault | undefined> {
  const { room, network, socket } = state;
  const folders = foldersOf(order, room.files);
  if (!folders.ok) return folders.failure;
  const { id, limits, env, hasNetwork } = order;
  const way = (link: Duplex) => {
    link.on("error", () => {});
    link.pipe(network).pipe(link);
    // One end without the other is none.
    link.once("close", () => network.destroy());
    network.once("close", () => link.destroy());
  };
  const opened = await room.open({ id, limits, env, ...folders.value, ...(hasNetwork && { network: way }) });
  if (!opened.ok) return opened.failure;
  const guest = opened.value;
  state.guest = guest;
  room.keep(guest);
  const gone = guest.ended.then(({ why }) => {
    room.release(id);
    finish(state, { type: "ended", why: why.slice(0, saidCharactersMax) });
  });
  room.inBackground(gone);
  state.channel?.send({ type: "opened", ...room.load() });
  // The caller went while it was started.
  if (socket.destroyed) await guest.close("caller_gone");
  return undefined;
}

function refuse(state: State, { why, said }: { why: SandboxFault["why"] | "version"; said: string }): true {
  finish(state, { type: "refused", why, said: said.slice(0, saidCharactersMax), ...state.room.load() });
  return true;
}

/** The last word; what comes after it is heard, so that the connection is not torn off before it has arrived. */
function finish({ channel, socket, room }: State, message: HostMessage): void {
  channel?.send(message);
  socket.end();
  const stopTimer = room.clock.after(lastWordMs, () => socket.destroy());
  socket.once("close", stopTimer);
}

function take(state: State, message: ServerMessage, payload: Buffer): boolean {
  const { guest, channel, room } = state;
  if (message.type === "ping") {
    channel?.send({ type: "pong" });
    return true;
  }
  if (message.type === "close") {
    if (guest !== undefined) room.inBackground(guest.close(message.why));
    return true;
  }
  // Nothing is asked of a guest before it is there.
  if (guest === undefined || channel === undefined) return false;
  switch (message.type) {
    case "part":
      return keepPart(state, message, payload);
    case "run":
      return run(state, guest, message, payload);
    case "interrupt":
      guest.interrupt(message.id);
      return true;
    case "kill":
      guest.kill(message.id);
      return true;
    case "cancel":
      state.running.get(message.id)?.abort();
      return true;
    case "warm":
      guest.warm(message.agent, message.modules);
      return true;
    default:
      room.inBackground(answer(channel, guest, message));
      return true;
  }
}

function keepPart(state: State, { id, name }: Extract<ServerMessage, { type: "part" }>, payload: Buffer): boolean {
  const parts = state.parts.get(id) ?? { code: [], event: [], stdin: [] };
  state.parts.set(id, parts);
  // A copy: the piece would hold on to all that came with it.
  parts[name].push(Buffer.from(payload));
  state.partBytes += payload.length;
  return state.parts.size <= partsMax && state.partBytes <= partBytesMax;
}

function run(
  state: State,
  guest: Guest,
  { id, language, agent, folder, env = {}, timeoutMs, has }: Extract<ServerMessage, { type: "run" }>,
  payload: Buffer,
): boolean {
  const { channel, room, running } = state;
  const parts = state.parts.get(id);
  state.parts.delete(id);
  for (const piece of Object.values(parts ?? {}).flat()) state.partBytes -= piece.length;
  const code = Buffer.concat([...(parts?.code ?? []), payload]);
  const event = Buffer.concat(parts?.event ?? []);
  const stdin = Buffer.concat(parts?.stdin ?? []);
  const isWithin = code.length <= codeBytesMax && event.length <= eventBytesMax && stdin.length <= stdinBytesMax;
  const isFit = isWithin && (folder?.length ?? 0) <= folderCharactersMax && fitsGuest(env);
  if (!isFit || channel === undefined || running.has(id)) return false;
  const stop = new AbortController();
  running.set(id, stop);
  const events = guest.run({
    ...{ id, language, agent, folder, env, timeoutMs, code: code.toString("utf8"), signal: stop.signal },
    ...(has.includes("event") && { event: event.toString("utf8") }),
    ...(has.includes("stdin") && { stdin }),
  });
  room.inBackground(sendEvents(channel, { id, events, isOpen: guest.isOpen }).finally(() => running.delete(id)));
  return true;
}

type Question = Extract<ServerMessage, { question: number }>;

async function answer(channel: Channel<HostMessage>, guest: Guest, message: Question): Promise<void> {
  const { question } = message;
  switch (message.type) {
    case "reset":
      await guest.reset(message.agent);
      return channel.send({ type: "done", question, count: 0 });
    case "end_turn":
      return channel.send({ type: "done", question, count: await guest.endTurn({ all: message.all }) });
    case "unnamed_bytes":
      return channel.send({ type: "done", question, count: await guest.unnamedBytes() });
    case "usage":
      return channel.send({ type: "used", question, ...(await guest.usage()) });
    case "shared_files": {
      const inodes = await guest.sharedFiles();
      const bytes = Buffer.from(BigUint64Array.from(inodes ?? [], BigInt).buffer);
      for (let start = 0; start === 0 || start < bytes.length; start += payloadBytesMax) {
        const hasMore = start + payloadBytesMax < bytes.length;
        const header = { type: "shared", question, isKnown: inodes !== undefined, hasMore } as const;
        channel.send(header, bytes.subarray(start, start + payloadBytesMax));
      }
    }
  }
}
