import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { manualClock, notingClock } from "../../../test/world/manual-clock.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { proxyLimits } from "./proxy.ts";
import { kinds, openGuest, openWay, type WayWanted, whenSo } from "./way-out.testing.ts";

// What becomes of a connection of a program: for whom it is open, for how long, and what is left of it.

const tunnel = (place: string) => `CONNECT ${place} HTTP/1.1\r\n\r\n`;
const limits = { idleMsMax: 300, connectionMsMax: 1000 };

/** A program whose tunnel is open, and that has spoken after 200 ms: from then on silence counts, and is looked at. */
async function openTunnel(...[t, wanted]: Parameters<typeof openWay>) {
  const clock = manualClock();
  const way = await openWay(t, { clock, limits, ...wanted });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  assert.equal(clock.timers(), 2);
  const speak = async (ms: number, text: string) => {
    clock.move(ms);
    program.say(Buffer.from(text));
    await whenSo("it is heard", () => way.heard().endsWith(text));
  };
  await speak(200, "first");
  return { clock, way, program, speak };
}

test("a connection is cut when nothing was said for as long as it may be silent, to the moment [X5][X4]", async (t) => {
  const { clock, way, program } = await openTunnel(t);
  clock.move(100);
  clock.move(199);
  assert.deepEqual(way.logged, []);
  clock.move(1);
  assert.deepEqual(way.logged, [`a connection of a program was cut {"owner":"local","why":"idle"}`]);
  await whenSo("the program is told", () => program.kinds().includes(kinds.reset));
  await whenSo("the host is hung up on", () => way.isHungUpOn());
  assert.equal(clock.timers(), 0);
});

test("a connection is cut when its time is over, however much is said, and what the host says counts as said [X5][X4]", async (t) => {
  const { clock, way, program, speak } = await openTunnel(t, {
    answer: (socket) => socket.on("data", (bytes: Buffer) => bytes.includes("?") && socket.write("!")),
  });
  for (const round of [1, 2, 3]) {
    await speak(200, `${round}?`);
    await whenSo("it is answered", () => program.heard().split("!").length === round + 1);
  }
  clock.move(199);
  assert.deepEqual(way.logged, []);
  clock.move(1);
  assert.deepEqual(way.logged, [`a connection of a program was cut {"owner":"local","why":"time"}`]);
});

test("a connection that both sides ended is over: no timer, no word in the log, nothing open at the host [X5]", async (t) => {
  const { clock, way, program } = await openTunnel(t, {
    answer: (socket) => socket.on("data", (bytes: Buffer) => bytes.includes("bye") && socket.end("bye")),
  });
  clock.move(100);
  program.say(Buffer.from("bye"));
  await whenSo("the host is done", () => program.kinds().includes(kinds.end));
  program.end();
  await whenSo("the host is hung up on", () => way.isHungUpOn());
  await whenSo("no time is counted", () => clock.timers() === 0);
  assert.deepEqual([program.heard().split("\r\n\r\n")[1], way.logged], ["bye", []]);
  assert.ok(!program.kinds().includes(kinds.reset));
});

test("a host that tears a connection off ends it for the program, and for nobody else [X5][Q2]", async (t) => {
  const { clock, way, program } = await openTunnel(t, {
    answer: (socket) => socket.on("data", (bytes: Buffer) => bytes.includes("tear") && socket.resetAndDestroy()),
  });
  const other = openGuest(way);
  program.say(Buffer.from("tear"));
  await whenSo("it is told", () => program.kinds().includes(kinds.reset));
  await whenSo("no time is counted", () => clock.timers() === 0);
  other.ask(tunnel(way.place));
  await whenSo("another one is open", () => other.heard().startsWith("HTTP/1.1 200 "));
});

/** A program whose host is being looked up, for as long as the test likes. */
async function openLooking(...[t]: Parameters<typeof openWay>) {
  const found = Promise.withResolvers<readonly string[]>();
  let looks = 0;
  const lookup = () => {
    looks += 1;
    return found.promise;
  };
  const way = await openWay(t, { lookup });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("it is looked up", () => looks === 1);
  return { way, program, find: () => found.resolve(["127.0.0.1"]) };
}

test("what a program says while its host is looked up is not lost [X5]", async (t) => {
  const { way, program, find } = await openLooking(t);
  program.say(Buffer.from("early"));
  for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
  find();
  await whenSo("it is heard", () => way.heard() === "early");
});

test("a program that is gone before its host was found leaves no connection open there [X5][X4]", async (t) => {
  const { way, program, find } = await openLooking(t);
  program.link.destroy();
  find();
  await whenSo("the host was connected to", () => way.connections() === 1);
  await whenSo("it is hung up on", () => way.isHungUpOn());
  assert.deepEqual(way.logged, []);
});

test("a guest that asks for more connections at once than it may gets no more [X5][X4]", async (t) => {
  const way = await openWay(t, { limits: { connectionsMax: 1 } });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("the first one is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  program.ask(tunnel(way.place), 2);
  await whenSo("the second one is refused", () => program.kinds().includes(kinds.reset));
  assert.equal(way.connections(), 1);
});

test("a look-up that breaks down hangs up, and is told to the operator [X5][Q2]", async (t) => {
  const way = await openWay(t, { lookup: () => Promise.reject(new Error("no room")) });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("it is hung up on", () => program.kinds().includes(kinds.reset));
  await whenSo("it is told", () => way.logged.length === 1);
  assert.match(way.logged.join(), /^a connection of a program broke down /);
});

test("a host is looked up for as long as it may take to connect [X5][X4]", async (t) => {
  const { clock, waits } = notingClock();
  const way = await openWay(t, { clock, lookup: () => new Promise(() => {}), limits: { connectMsMax: 7 } });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("it is refused", () => program.heard().startsWith("HTTP/1.1 502 "));
  assert.deepEqual(waits, [7]);
});

test("what a host sends counts as what a program sends: beyond the limit the connection is cut [X5][X4]", async (t) => {
  const limits = { connectionBytesMax: 1004 };
  const answer: WayWanted["answer"] = (socket) =>
    socket.on("data", (bytes: Buffer) => socket.write(Buffer.alloc(Number(bytes), "x")));
  const way = await openWay(t, { limits, answer });
  const program = openGuest(way);
  program.ask(tunnel(way.place));
  await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  program.say(Buffer.from("1000"));
  await whenSo("all of it is there", () => program.heard().endsWith("x".repeat(1000)));
  assert.deepEqual(way.logged, []);
  program.say(Buffer.from("1"));
  await whenSo("it is cut", () => program.kinds().includes(kinds.reset));
  assert.deepEqual(way.logged, [`a connection of a program was cut {"owner":"local","why":"bytes"}`]);
});

test("a program that said all it has to say hears the answer to the end [X5]", async (t) => {
  const answer: WayWanted["answer"] = (socket) => socket.once("end", () => socket.end("answer"));
  const way = await openWay(t, { answer, isHalfOpen: true });
  const program = openGuest(way);
  program.ask(`${tunnel(way.place)}question`);
  await whenSo("the question is there", () => way.heard() === "question");
  program.end();
  await whenSo("the end is heard", () => program.kinds().includes(kinds.end));
  assert.deepEqual([program.heard().split("\r\n\r\n")[1], way.logged], ["answer", []]);
});

test("a host that is allowed and where nobody answers is told as that [X5]", async (t) => {
  const way = await openWay(t);
  way.rules.hosts = way.rules.privateHosts = ["mirror.test:1"];
  const program = openGuest(way);
  program.ask(tunnel("mirror.test:1"));
  await whenSo("it is refused", () => program.kinds().includes(kinds.end));
  assert.match(program.heard(), /^HTTP\/1\.1 502 Bad Gateway: [^\r]*mirror\.test:1/);
});

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

test("what one user's programs move does not count for another user [X5][X4]", async (t) => {
  const way = await openWay(t, { limits: { ownerBytesMax: 10 } });
  const [ann, ben] = ["ann", "ben"].map((name) => openGuest(way, { owner: OwnerId.parse(name) }));
  assert.ok(ann && ben);
  ann.ask(`${tunnel(way.place)}0123456789`);
  await whenSo("all of it is there", () => way.heard().length === 10);
  ben.ask(`${tunnel(way.place)}0123456789`);
  await whenSo("all of it is there", () => way.heard().length === 20);
  assert.deepEqual(way.logged, []);
  // Another one of the same user comes too late, as long as the first one lives.
  const unused = openGuest(way, { owner: OwnerId.parse("ann") });
  const isGone = once(unused.link, "close");
  unused.link.destroy();
  await isGone;
  const late = openGuest(way, { owner: OwnerId.parse("ann") });
  late.ask(tunnel(way.place));
  await whenSo("it is refused", () => late.heard().startsWith("HTTP/1.1 403 "));
});

test("the way out of a guest has the limits that are written down for it [X5][X4]", () => {
  assert.deepEqual(proxyLimits, {
    ...{ connectionsMax: 32, headBytesMax: 16_384, headMsMax: 10_000, connectMsMax: 10_000, idleMsMax: 120_000 },
    ...{ connectionMsMax: 30 * 60_000, connectionBytesMax: 2 * 2 ** 30, ownerBytesMax: 8 * 2 ** 30 },
  });
});
