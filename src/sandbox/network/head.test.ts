import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { readHead } from "./head.ts";

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
