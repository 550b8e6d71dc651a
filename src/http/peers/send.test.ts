import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../base/clock.ts";
import { BrokenOff } from "../../workspace/workspace.ts";
import { type Outgoing, openSending } from "./send.ts";

test("a body that cannot be read is told to whoever hands it on, and ends nothing else [N1][Q2]", async (t) => {
  const to = await serving(t, (incoming) => void incoming.resume());
  const sending = openSending(systemClock);
  const post = (error: Error) => sending.send({ ...outgoing, to, method: "POST", body: failing(error) });
  await assert.rejects(post(new Error("the disk")), /the disk/);
  // Who sends it is gone: that is the network's.
  assert.deepEqual(await post(new BrokenOff("gone")), { unreached: { wasSent: true } });
});

test("after an answer that came before all of a body was sent, or that refuses one, the next request has a connection of its own [N1][Q2]", async (t) => {
  const connections = new Set<unknown>();
  let whole = Promise.withResolvers<void>();
  const to = await serving(t, (incoming, outgoing) => {
    connections.add(incoming.socket);
    outgoing.writeHead(incoming.url === "/refused" ? 413 : 200).end("no");
    incoming.resume().once("end", () => whole.resolve());
    incoming.socket.once("close", () => whole.resolve());
  });
  const sending = openSending(systemClock);
  const bytes = Buffer.alloc(64 * 1024 * 1024);
  const tried = [
    { body: bytes },
    { body: Readable.from([bytes.subarray(1), bytes.subarray(1)]) },
    { body: Readable.from([Buffer.from("small")]), path: "/refused" },
    { body: Buffer.from("small") },
    { path: "/refused" },
    {},
  ];
  const seen: number[] = [];
  for (const more of tried) {
    whole = Promise.withResolvers();
    const sent = await sending.send({ ...outgoing, to, method: "POST", ...more });
    assert.equal("answer" in sent && (await sent.answer.text()), "no");
    await whole.promise;
    await setImmediate();
    seen.push(connections.size);
  }
  assert.deepEqual(seen, [1, 2, 3, 4, 4, 4]);
});

async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half of it");
  throw error;
}

const never = new AbortController().signal;
const outgoing: Omit<Outgoing, "to"> = {
  ...{ method: "GET", path: "/", headers: {}, body: undefined },
  ...{ gone: never, closing: never, breakOff: () => false },
};

async function serving(t: TestContext, listener: RequestListener): Promise<Outgoing["to"]> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server: "there", address: `127.0.0.1:${port}` };
}
