import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { duplexPair } from "node:stream";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { endlessClock, manualClock } from "../../../test/world/manual-clock.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import type { Clock } from "../../base/clock.ts";
import { localOwner, OwnerId } from "../../protocol/ids.ts";
import { type MoreHosts, type NetworkOptions, openNetwork } from "./network.ts";

// The way out of guests, with guests whose part the test plays and a host on this machine.

const closed = (stream: Duplex) => new Promise<void>((resolve) => void stream.once("close", resolve));

test("what a program sends out counts as what it fetches: beyond the limit of its user the connection is cut [X5][X4]", async (t) => {
  const way = await openWay(t, { limits: { ownerBytesMax: 10_000 } });
  const program = openGuest(way);
  // Also what comes in one piece with the request.
  program.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n${"x".repeat(1000)}`);
  await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  program.say(Buffer.alloc(9_000, "x"));
  await whenSo("all of it is there", () => way.heard().length === 10_000);
  assert.deepEqual(way.logged, []);
  program.say(Buffer.from("x"));
  await whenSo("it is cut", () => program.kinds().includes(kinds.reset));
  assert.equal(way.logged.length, 1);

  const second = openGuest(way);
  second.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("it is refused", () => second.heard().startsWith("HTTP/1.1 403 "));
  // When no sandbox of the user is left, the next one begins anew.
  for (const { link } of [program, second]) {
    const gone = closed(link);
    link.destroy();
    await gone;
  }
  const third = openGuest(way);
  third.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("it is let through", () => third.heard().startsWith("HTTP/1.1 200 "));
});

test("what the settings say counts from the next connection on [X5]", async (t) => {
  const way = await openWay(t);
  const [before, after] = [openGuest(way), openGuest(way)];
  before.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("it is open", () => before.heard().startsWith("HTTP/1.1 200 "));
  way.rules.hosts = [];
  after.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("it is refused", () => after.heard().startsWith("HTTP/1.1 403 "));
  assert.equal(way.network.wayOut(localOwner), undefined);
});

test("a program that is refused is told why in the status line, with the limit or the setting [X5][X4]", async (t) => {
  const clock = manualClock();
  const told = async (asked: string, limits: WayWanted["limits"] = {}, ms = 0) => {
    const lookup = async (host: string) => [host === "cloud.test" ? "169.254.169.254" : "10.0.0.1"];
    const way = await openWay(t, { clock, lookup, limits });
    way.rules.hosts = ["*.test:80"];
    const program = openGuest(way);
    program.ask(asked);
    await whenSo("it is heard", () => clock.timers() > 0);
    clock.move(ms);
    await whenSo("it is refused", () => program.kinds().includes(kinds.end));
    program.link.destroy();
    await whenSo("nothing is left of it", () => clock.timers() === 0);
    return program.heard().split("\r\n")[0];
  };
  const line = "GET http://mirror.test/ HTTP/1.1\r\n";
  assert.deepEqual(
    [
      await told(`${line}A: ${"b".repeat(2000)}`, { headBytesMax: 2000 }),
      await told(line, {}, 10_000),
      await told(`${line}\r\n`, { ownerBytesMax: 0 }),
      await told(`${line}\r\n`),
      await told("CONNECT cloud.test:80 HTTP/1.1\r\n\r\n"),
    ],
    [
      "HTTP/1.1 431 Request Header Fields Too Large: the request has more than 2000 bytes before its body",
      "HTTP/1.1 408 Request Timeout: the request was not complete after 10 s",
      "HTTP/1.1 403 Forbidden: the programs of this user have used up their 0 bytes",
      "HTTP/1.1 403 Forbidden: mirror.test has a private address; an operator can add it to sandbox.network_private_hosts in config/agentyard.yaml",
      "HTTP/1.1 403 Forbidden: cloud.test has an address that no program may reach",
    ],
  );
});

test("a program that goes on talking after a refusal is hung up on in time, and one that listens hears why [X5][X4]", async (t) => {
  const clock = manualClock();
  const way = await openWay(t, { clock });
  const program = openGuest(way);
  program.ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
  await whenSo("it hears why", () => program.heard().startsWith("HTTP/1.1 403 "));
  assert.ok(!program.kinds().includes(kinds.reset));
  // What it says is taken, and goes nowhere.
  for (const round of [1, 2]) {
    for (let piece = 0; piece < 3; piece += 1) program.say(Buffer.alloc(32 * 1024));
    await whenSo(
      "there is room for more",
      () => program.kinds().filter((kind) => kind === kinds.credit).length >= round,
    );
  }
  clock.move(10_000);
  await whenSo("it is hung up on", () => program.kinds().includes(kinds.reset));
  assert.equal(clock.timers(), 0);
});

// The way out of guests, with guests whose part the test plays and a host on this machine.
const kinds = { open: 0, data: 1, end: 2, reset: 3, credit: 4 };

function frame(kind: number, number = 0, payload: Buffer = Buffer.alloc(0), id = 1): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(number, 5);
  return Buffer.concat([head, payload]);
}

const data = (bytes: Buffer, id = 1) => frame(kinds.data, bytes.length, bytes, id);

type WayWanted = Pick<NetworkOptions, "limits" | "lookup"> & {
  readonly clock?: Clock;
  readonly answer?: (socket: Socket) => void;
};

/** A host that hears all and says what it is told to. */
async function openWay(t: TestContext, { limits, answer, lookup, clock = endlessClock }: WayWanted = {}) {
  const heard: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
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
function openGuest(
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

async function whenSo(what: string, isSo: () => boolean): Promise<void> {
  for (let look = 0; !isSo(); look += 1) {
    assert.ok(look < 1_000_000, what);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

// What becomes of a connection of a program: for whom it is open, for how long, and what is left of it.
const tunnel = (place: string) => `CONNECT ${place} HTTP/1.1\r\n\r\n`;
test("hosts that one guest may reach besides are open to it alone, private ones only by the settings, and it hears of refusals [X5]", async (t) => {
  const way = await openWay(t);
  way.rules.hosts = [];
  const told: string[] = [];
  const more = { hosts: [way.place], onRefusal: (text: string) => void told.push(text) };
  const [program, other] = [openGuest(way, { more }), openGuest(way, { more })];
  program.ask(tunnel(way.place));
  await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  assert.deepEqual([way.network.wayOut(OwnerId.parse("ann")), told], [undefined, []]);
  way.rules.privateHosts = [];
  other.ask(tunnel(way.place));
  await whenSo("it is refused", () => other.kinds().includes(kinds.end));
  const text =
    "mirror.test has a private address; an operator can add it to sandbox.network_private_hosts in config/agentyard.yaml";
  const head = `HTTP/1.1 403 Forbidden: ${text}\r\nContent-Type: text/plain; charset=utf-8\r\n`;
  assert.deepEqual(told, [text]);
  assert.equal(other.heard(), `${head}Content-Length: ${text.length + 1}\r\nConnection: close\r\n\r\n${text}\n`);
});
