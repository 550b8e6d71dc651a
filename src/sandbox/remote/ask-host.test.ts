import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { askHost, type HostDoor, openStream } from "./ask-host.ts";
import { createVerifier, type Verdict } from "./signed.ts";
import { bodyBytesMax } from "./wire.ts";

const secret = "of servers and hosts";

type Listener = {
  readonly listener: RequestListener;
  readonly at?: string;
  readonly onUpgrade?: (socket: Socket) => void;
};

/** Somebody at an address, and what a server needs to ask there. */
async function listening(t: TestContext, { listener, at = "127.0.0.1", onUpgrade }: Listener) {
  const server = createServer(listener);
  if (onUpgrade !== undefined) server.on("upgrade", (_, socket: Socket) => onUpgrade(socket));
  await new Promise<void>((resolve) => server.listen(0, at, resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port, family, address } = server.address() as AddressInfo;
  const clock = manualClock();
  const url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  const door: HostDoor = { address: url, secret, authorities: undefined, clock, ids: systemIds };
  return { door, clock };
}

/** Signs what it answers. */
function proving(
  answer: (request: IncomingMessage) => { readonly status: number; readonly text: string },
): RequestListener {
  const verify = createVerifier(secret, manualClock());
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = String(Buffer.concat(await request.toArray()));
    const { method = "", url: path = "", headers } = request;
    const verdict: Verdict = verify(headers.authorization, { method, path, body });
    assert.ok(typeof verdict === "object");
    const { status, text } = answer(request);
    response.writeHead(status, { "X-AgentYard-Proof": verdict.prove(text) }).end(text);
  };
  return (request, response) => void respond(request, response);
}

const both = async (door: HostDoor) => [
  await askHost(door, "/sandbox-host/look", {}, { timeoutMs: 30_000 }),
  await openStream(door, { timeoutMs: 30_000 }),
];
const fault = (why: string, said: string) => ({ ok: false, failure: { why, said } });

test("a proxy that speaks for a host which is away is told by its status, and is no host that has another secret [X3][P2]", async (t) => {
  let text = "<h1>Bad Gateway</h1>";
  const { door } = await listening(t, { listener: (_, response) => void response.writeHead(502).end(text) });
  assert.deepEqual(await both(door), [fault("away", "HTTP 502"), fault("away", "HTTP 502")]);
  text = '{"code":"wrong_secret"}';
  assert.deepEqual(await both(door), [fault("away", "HTTP 502"), fault("away", "HTTP 502")]);
});

test("who answers without a proof, or in place of a stream, is no host; who proves what is no answer is away [X3][Q1]", async (t) => {
  const stranger = await listening(t, { listener: (_, response) => void response.end("{}") });
  assert.deepEqual(await both(stranger.door), [fault("not_a_host", ""), fault("not_a_host", "")]);
  const other = await listening(t, { listener: proving(() => ({ status: 404, text: '{"code":"x"}' })) });
  assert.deepEqual(await both(other.door), [{ ok: true, value: { code: "x" } }, fault("not_a_host", "404")]);
  const text = await listening(t, { listener: proving(() => ({ status: 200, text: '"x"' })) });
  assert.deepEqual(await both(text.door), [fault("away", "HTTP 200"), fault("away", "HTTP 200")]);
});

test("what a host answers is read up to its limit, and no further [X3][X4]", async (t) => {
  const long = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
  let text = long(bodyBytesMax);
  const { door } = await listening(t, { listener: proving(() => ({ status: 200, text })) });
  const ask = () => askHost(door, "/sandbox-host/look", {}, { timeoutMs: 30_000 });
  assert.equal((await ask()).ok, true);
  text = long(bodyBytesMax + 1);
  assert.deepEqual(await ask(), fault("not_a_host", ""));
});

test("who changes the protocol and proves nothing is let go of at once [X3][Q1]", async (t) => {
  const closed = Promise.withResolvers<void>();
  const { door } = await listening(t, {
    listener: () => {},
    onUpgrade(socket) {
      socket.on("error", () => {}).once("end", () => closed.resolve());
      socket
        .resume()
        .write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: agentyard-guest\r\nConnection: Upgrade\r\n\r\n");
    },
  });
  assert.deepEqual(await openStream(door, { timeoutMs: 30_000 }), fault("secret", ""));
  await closed.promise;
});

const hasSixth = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

test("a host is reached by an address of the sixth version, too [X3]", {
  skip: !hasSixth && "this machine has no such address",
}, async (t) => {
  const { door } = await listening(t, { listener: proving(() => ({ status: 200, text: '{"a":1}' })), at: "::1" });
  assert.match(door.address, /^http:\/\/\[::1\]:\d+$/);
  assert.deepEqual(await askHost(door, "/x", {}, { timeoutMs: 30_000 }), { ok: true, value: { a: 1 } });
});
