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
import { readHead } from "./head.ts";
import { type MoreHosts, type NetworkOptions, openNetwork } from "./network.ts";
import { parseRequest } from "./request.ts";
import { acceptStreams } from "./streams.ts";

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

const head = (...lines: readonly string[]) => lines.join("\r\n");

test("a request goes on without what was meant for the proxy or for one connection only, and with all else as it was [X5]", () => {
  const asked = head(
    ...["POST http://mirror.test:8080/a/b?c=d#e HTTP/1.1", "Host: other.test", "Proxy-Authorization: x"],
    ...["Proxy-Connection: keep-alive", "Connection: keep-alive, X-Hop, content-length, Transfer-Encoding"],
    ...["Keep-Alive: timeout=5", "TE: trailers", "Trailer: X-Sum", "Upgrade: h2c", "x-hop: 1"],
    ...["Content-Length: 5", "Transfer-Encoding: chunked", "Accept: */*", "X-Name: Zo\xeb"],
  );
  assert.deepEqual(parseRequest(asked), {
    ...{ host: "mirror.test", port: 8080 },
    head: head(
      ...["POST /a/b?c=d HTTP/1.1", "Host: mirror.test:8080", "Content-Length: 5", "Transfer-Encoding: chunked"],
      ...["Accept: */*", "X-Name: Zo\xeb", "Connection: close", "", ""],
    ),
  });
});

test("a tunnel is asked for by a host in any spelling and a port, and all that goes through it is the program's own [X5]", () => {
  const placeOf = (target: string) => parseRequest(`CONNECT ${target} HTTP/1.1`);
  assert.deepEqual(
    ["A.Test.:443", "[::1]:1", "0x7f.1:65535"].map((target) => placeOf(target)),
    [
      { host: "a.test", port: 443, head: undefined },
      { host: "::1", port: 1, head: undefined },
      { host: "127.0.0.1", port: 65_535, head: undefined },
    ],
  );
  for (const target of ["a.test", "a.test:0", "a.test:65536", ".:443", "a.test:443/"])
    assert.equal(placeOf(target), undefined);
});

/** What came of these pieces, and what is left of the reading afterwards. */
async function read(pieces: readonly string[], { bytesMax = 10, isEnded = false, ms = 0 } = {}) {
  const clock = manualClock();
  const [program, client] = duplexPair();
  const reading = readHead(client, { bytesMax, msMax: 1000, clock });
  for (const piece of pieces) {
    program.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
    clock.move(ms);
  }
  if (isEnded) program.end();
  const head = await reading;
  const left = [clock.timers(), client.isPaused(), client.listenerCount("data")];
  return { said: typeof head === "string" ? head : `${head.head}|${head.rest}`, left };
}

const nothingLeft = [0, true, 0];

test("the head of a request is read up to its empty line, wherever it is cut, and the rest is left alone [X5]", async () => {
  for (const pieces of [["GET\r\n\r\nrest"], ["GET\r", "\n\r\nrest"], ["GET\r\n", "\r\nrest"], ["GET\r\n\r", "\nrest"]])
    assert.deepEqual(await read(pieces), { said: "GET|rest", left: nothingLeft });
  assert.deepEqual(await read([..."GET\r\n\r\n"]), { said: "GET|", left: nothingLeft });
});

test("a head may have as many bytes as the limit, and not one more, with an end or without [X5][X4]", async () => {
  const said = async (...pieces: readonly string[]) => (await read(pieces)).said;
  assert.deepEqual(
    [
      await said(`${"x".repeat(10)}\r\n\r\n`),
      await said("x".repeat(10), "\r\n\r\n"),
      await said(`${"x".repeat(11)}\r\n\r\n`),
      await said("x".repeat(11)),
    ],
    ["xxxxxxxxxx|", "xxxxxxxxxx|", "too_long", "too_long"],
  );
});

test("a program that hangs up before its request, or drips it for too long, is let go [X5][X4]", async () => {
  assert.deepEqual(await read(["GET"], { isEnded: true }), { said: "gone", left: nothingLeft });
  assert.deepEqual(await read(["a", "b", "c", "d"], { ms: 250 }), { said: "too_slow", left: nothingLeft });
  const [, client] = duplexPair();
  const reading = readHead(client, { bytesMax: 10, msMax: 1000, clock: manualClock() });
  client.destroy();
  assert.equal(await reading, "gone");
});

function frameOf(kind: number, id: number, number = 0, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(number, 5);
  return Buffer.concat([head, payload]);
}

const pieceOf = (id: number, bytes: number) => frameOf(kinds.data, id, bytes, Buffer.alloc(bytes, "x"));

function openLink({ streamsMax = 4 } = {}) {
  const [guest, link] = duplexPair();
  const streams: Duplex[] = [];
  acceptStreams(link, { streamsMax, onStream: (stream) => streams.push(stream) });
  const heard: Buffer[] = [];
  guest.on("data", (bytes: Buffer) => heard.push(bytes));
  const closed = new Promise<boolean>((resolve) => link.once("close", () => resolve(true)));
  return { guest, link, streams, closed, heard: () => Buffer.concat(heard) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("bytes go both ways, in pieces as they come, and each side can be done before the other [X5]", async () => {
  const { guest, streams, heard } = openLink();
  const all = Buffer.concat([frameOf(kinds.open, 7), pieceOf(7, 5), frameOf(kinds.end, 7)]);
  for (const byte of all) guest.write(Buffer.from([byte]));
  await settled();
  const [stream] = streams;
  assert.ok(stream);
  const came: string[] = [];
  for await (const piece of stream.iterator({ destroyOnReturn: false })) came.push(String(piece));
  stream.end("answer");
  await settled();
  assert.deepEqual(
    [came.join(""), heard()],
    ["xxxxx", Buffer.concat([frameOf(kinds.data, 7, 6, Buffer.from("answer")), frameOf(kinds.end, 7)])],
  );
});

test("what nobody reads is sent up to the window and no further, until there is room again [X5][X4]", async () => {
  const { guest, streams, heard } = openLink();
  guest.write(frameOf(kinds.open, 1));
  await settled();
  streams[0]?.write(Buffer.alloc(500_000));
  await settled();
  const sent = heard().length;
  guest.write(frameOf(kinds.credit, 1, 1000));
  await settled();
  assert.deepEqual([sent, heard().length], [128 * 1024 + 4 * 9, 128 * 1024 + 1000 + 5 * 9]);
});

test("one stream too many is refused, and the others go on [X5][X4]", async () => {
  const { guest, link, streams, heard } = openLink({ streamsMax: 1 });
  guest.write(Buffer.concat([frameOf(kinds.open, 1), frameOf(kinds.open, 2), pieceOf(2, 3), frameOf(kinds.end, 2)]));
  await settled();
  assert.deepEqual([streams.length, heard(), link.destroyed], [1, frameOf(kinds.reset, 2), false]);
});

const wrong: readonly (readonly [what: string, ...frames: readonly Buffer[]])[] = [
  ["more than the window allows", ...new Array<Buffer>(16).fill(pieceOf(1, 32 * 1024))],
  ["a piece of nothing", pieceOf(1, 0)],
  ["a piece that is too long", frameOf(kinds.data, 1, 4_000_000_000)],
  ["a word that nobody knows", frameOf(9, 1)],
  ["a stream that is there already", frameOf(kinds.open, 1)],
  ["bytes after the end", frameOf(kinds.end, 1), pieceOf(1, 1)],
  ["two ends", frameOf(kinds.end, 1), frameOf(kinds.end, 1)],
  ["more room than there is", frameOf(kinds.credit, 1, 1)],
];

for (const [what, ...frames] of wrong) {
  test(`a guest that says ${what} has no network any more [X5][X3]`, async () => {
    const { guest, closed, streams } = openLink();
    guest.write(Buffer.concat([frameOf(kinds.open, 1), ...frames]));
    assert.equal(await closed, true);
    assert.deepEqual(
      streams.map(({ destroyed }) => destroyed),
      [true],
    );
  });
}

test("a guest that goes without a word, or that only asks and never listens, has no stream any more [X5][X4]", async () => {
  const ended = openLink();
  ended.guest.write(frameOf(kinds.open, 1));
  await settled();
  ended.guest.end();
  await settled();
  assert.equal(ended.streams[0]?.destroyed, true);

  const [guest, link] = duplexPair();
  acceptStreams(link, { streamsMax: 1, onStream: () => {} });
  const asks = Buffer.concat(Array<Buffer>(3000).fill(frameOf(kinds.open, 2)));
  guest.write(frameOf(kinds.open, 1));
  for (let batch = 0; batch < 20 && !link.destroyed; batch += 1) {
    guest.write(asks);
    await settled();
  }
  assert.equal(link.destroyed, true);
});
