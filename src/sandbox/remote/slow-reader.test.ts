import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { payloadBytesMax } from "../guest/frames.ts";
import { linksOver } from "../guest/stdio.ts";
import type { ExecutionEvent } from "../provider.ts";
import { openChannel } from "./channel.ts";
import { sendEvents } from "./send-events.ts";
import { signedOver } from "./signed-stream.ts";
import { type HostMessage, type ServerMessage, serverMessage } from "./wire.ts";

const keys = { server: "of the server", host: "of the host" };
const eventsMax = 100;

/** A program that says as much as it is listened to, on a host whose server reads nothing yet. */
function saying() {
  const [near, far] = duplexPair();
  const server = signedOver(far, keys, "server");
  const channel = openChannel<ServerMessage, HostMessage>({
    ...{ link: linksOver(signedOver(near, keys, "host")).control, clock: manualClock(), schema: serverMessage },
    ...{ onMessage: () => true, onEnd: () => {} },
  });
  const program = { said: 0, isLeft: false };
  async function* events(): AsyncGenerator<ExecutionEvent> {
    try {
      while (program.said < eventsMax) {
        program.said += 1;
        yield { kind: "output", stream: "stdout", bytes: Buffer.alloc(payloadBytesMax) };
      }
    } finally {
      program.isLeft = true;
    }
  }
  return { server, program, sending: sendEvents(channel, { id: "e", events: events(), isOpen: () => true }) };
}

/** For whoever would go on without being waited for. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 3 * eventsMax; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("what a server does not read is not fetched from its program: it waits on the host, and goes on when it is listened to [X1][X4]", async () => {
  const { server, program, sending } = saying();
  await manyTurns();
  assert.ok(program.said < 10, `${program.said} pieces are in memory`);
  let bytes = 0;
  server.on("data", (chunk: Buffer) => (bytes += chunk.length));
  await sending;
  assert.deepEqual(program, { said: eventsMax, isLeft: true });
  assert.ok(bytes > eventsMax * payloadBytesMax - 10 * payloadBytesMax);
});

test("a program whose server went while it was not listened to is not waited for [X1]", async () => {
  const { server, program, sending } = saying();
  await manyTurns();
  server.destroy();
  await sending;
  assert.equal(program.isLeft, true);
});
