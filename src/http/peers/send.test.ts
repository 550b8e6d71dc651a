import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
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
