import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { duplexPair } from "node:stream";
import type { TestContext } from "node:test";
import { endlessClock } from "../../../test/world/manual-clock.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import type { Clock } from "../../base/clock.ts";
import { localOwner, type OwnerId } from "../../protocol/ids.ts";
import { type MoreHosts, type NetworkOptions, openNetwork } from "./network.ts";

// The way out of guests, with guests whose part the test plays and a host on this machine.

export const kinds = { open: 0, data: 1, end: 2, reset: 3, credit: 4 };

function frame(kind: number, number = 0, payload: Buffer = Buffer.alloc(0), id = 1): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(number, 5);
  return Buffer.concat([head, payload]);
}

const data = (bytes: Buffer, id = 1) => frame(kinds.data, bytes.length, bytes, id);

export type WayWanted = Pick<NetworkOptions, "limits" | "lookup"> & {
  readonly clock?: Clock;
  readonly answer?: (socket: Socket) => void;
  /** The host may speak on when it was told the end. */
  readonly isHalfOpen?: boolean;
};

/** A host that hears all and says what it is told to. */
export async function openWay(
  t: TestContext,
  { limits, answer, lookup, isHalfOpen = false, clock = endlessClock }: WayWanted = {},
) {
  const heard: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: isHalfOpen }, (socket) => {
    sockets.push(socket.on("error", () => {}));
    socket.on("data", (bytes: Buffer) => heard.push(bytes));
    answer?.(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  const place = `mirror.test:${typeof address === "object" && address !== null ? address.port : 0}`;
  const rules = { hosts: [place, "unknown.test:443"], privateHosts: [place] };
  const logged: string[] = [];
  const network = openNetwork({
    ...{ rules, clock, limits, logger: quietLogger(logged) },
    lookup: lookup ?? (async (host) => (host === "mirror.test" ? ["127.0.0.1"] : [])),
  });
  const isHungUpOn = () => sockets.every(({ destroyed }) => destroyed);
  const connections = () => sockets.length;
  return {
    place,
    network,
    logged,
    rules,
    connections,
    isHungUpOn,
    heard: () => Buffer.concat(heard).toString("latin1"),
  };
}

/** A guest with one connection; what it was sent, without the frames around it. */
export function openGuest(
  { network }: Awaited<ReturnType<typeof openWay>>,
  { owner = localOwner, more }: { readonly owner?: OwnerId; readonly more?: MoreHosts } = {},
) {
  const [guest, link] = duplexPair();
  const way = network.wayOut(owner, more) ?? assert.fail("somebody is allowed");
  way(link);
  const pieces: Buffer[] = [];
  guest.on("data", (bytes: Buffer) => pieces.push(bytes));
  const frames = () => framesOf(Buffer.concat(pieces));
  return {
    ...{ guest, link },
    ask: (text: string, id = 1) =>
      void guest.write(Buffer.concat([frame(kinds.open, 0, undefined, id), data(Buffer.from(text, "latin1"), id)])),
    say: (bytes: Buffer) => void guest.write(data(bytes)),
    end: () => void guest.write(frame(kinds.end)),
    heard: () =>
      frames()
        .map(({ payload }) => payload.toString("latin1"))
        .join(""),
    kinds: () => frames().map(({ kind }) => kind),
  };
}

function framesOf(bytes: Buffer): { readonly kind: number; readonly payload: Buffer }[] {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readUInt8(at);
    const length = kind === kinds.data ? bytes.readUInt32BE(at + 5) : 0;
    frames.push({ kind, payload: bytes.subarray(at + 9, at + 9 + length) });
    at += 9 + length;
  }
  return frames;
}

export async function whenSo(what: string, isSo: () => boolean): Promise<void> {
  for (let look = 0; !isSo(); look += 1) {
    assert.ok(look < 1_000_000, what);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
