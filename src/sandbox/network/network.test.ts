import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { localOwner } from "../../protocol/ids.ts";
import { kinds, openGuest, openWay, type WayWanted, whenSo } from "./way-out.testing.ts";

// The way out of guests, with guests whose part the test plays and a host on this machine.

const closed = (stream: Duplex) => new Promise<void>((resolve) => void stream.once("close", resolve));

test("what a program sends along with its request reaches the host, and so does what it sends later [X5]", async (t) => {
  const way = await openWay(t);
  const program = openGuest(way);
  program.ask(`POST http://${way.place}/ HTTP/1.1\r\nContent-Length: 8\r\nX-Name: Zo\xeb\r\n\r\nfirst`);
  await whenSo("the first bytes are there", () => way.heard().endsWith("first"));
  program.say(Buffer.from("too"));
  await whenSo("the rest is there", () => way.heard().endsWith("firsttoo"));
  const head = ["POST / HTTP/1.1", `Host: ${way.place}`, "Content-Length: 8", "X-Name: Zo\xeb", "Connection: close"];
  assert.equal(way.heard(), `${head.join("\r\n")}\r\n\r\nfirsttoo`);
});

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

test("a connection that carries more than it may is cut, and the next one begins anew [X5][X4]", async (t) => {
  const way = await openWay(t, { limits: { connectionBytesMax: 1000 } });
  const program = openGuest(way);
  program.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
  program.say(Buffer.alloc(1000));
  await whenSo("all of it is there", () => way.heard().length === 1000);
  assert.deepEqual(way.logged, []);
  program.say(Buffer.alloc(1));
  await whenSo("it is cut", () => program.kinds().includes(kinds.reset));
  assert.match(way.logged.join(), /^a connection of a program was cut .*"why":"bytes"/);
  program.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("the next one is open", () => program.heard().split("HTTP/1.1 200 ").length === 3);
});

test("what a user's programs carry together may be more than one connection may, up to the limit of the user [X5][X4]", async (t) => {
  const way = await openWay(t, { limits: { connectionBytesMax: 1000, ownerBytesMax: 2500 } });
  const send = async (bytes: number, whenSent: () => boolean) => {
    const program = openGuest(way);
    program.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
    await whenSo("the tunnel is open", () => program.heard().startsWith("HTTP/1.1 200 "));
    program.say(Buffer.alloc(bytes));
    await whenSo(`${bytes} bytes are sent`, () => whenSent() || program.kinds().includes(kinds.reset));
    return program.kinds().includes(kinds.reset) ? "cut" : "carried";
  };
  assert.equal(await send(1000, () => way.heard().length === 1000), "carried");
  assert.equal(await send(1000, () => way.heard().length === 2000), "carried");
  assert.equal(await send(501, () => false), "cut");
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

test("a host that nobody knows is told as that, and a host that hangs up ends the connection inside [X5]", async (t) => {
  const way = await openWay(t, { answer: (socket) => socket.end("bye") });
  const lost = openGuest(way);
  lost.ask("CONNECT unknown.test:443 HTTP/1.1\r\n\r\n");
  await whenSo("it is refused", () => lost.kinds().includes(kinds.end));
  assert.match(lost.heard(), /^HTTP\/1\.1 502 Bad Gateway: [^\r]*unknown\.test/);
  const left = openGuest(way);
  left.ask(`CONNECT ${way.place} HTTP/1.1\r\n\r\n`);
  await whenSo("the end is heard", () => left.kinds().includes(kinds.end));
  assert.ok(left.heard().endsWith("bye"));
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
