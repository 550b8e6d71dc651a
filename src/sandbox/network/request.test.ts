import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { readHead } from "./head.ts";
import { parseRequest } from "./request.ts";

const head = (...lines: readonly string[]) => lines.join("\r\n");

test("a request goes on without what was meant for the proxy or for one connection only, and with all else as it was [X5]", () => {
  const asked = head(
    ...["POST http://mirror.test:8080/a/b?c=d#e HTTP/1.1", "Host: other.test", "Proxy-Authorization: x"],
    ...["Proxy-Connection: keep-alive", "Connection: keep-alive, X-Hop, content-length, Transfer-Encoding"],
    ...["Keep-Alive: timeout=5", "TE: trailers", "Trailer: X-Sum", "Upgrade: h2c", "x-hop: 1"],
    ...["Content-Length: 5", "Transfer-Encoding: chunked", "Accept: */*", "X-Name: Zo\xeb"],
  );
  assert.deepEqual(parseRequest(asked), {
    ...{ host: "mirror.test", port: 8080 },
    head: head(
      ...["POST /a/b?c=d HTTP/1.1", "Host: mirror.test:8080", "Content-Length: 5", "Transfer-Encoding: chunked"],
      ...["Accept: */*", "X-Name: Zo\xeb", "Connection: close", "", ""],
    ),
  });
});

test("a tunnel is asked for by a host in any spelling and a port, and all that goes through it is the program's own [X5]", () => {
  const placeOf = (target: string) => parseRequest(`CONNECT ${target} HTTP/1.1`);
  assert.deepEqual(
    ["A.Test.:443", "[::1]:1", "0x7f.1:65535"].map((target) => placeOf(target)),
    [
      { host: "a.test", port: 443, head: undefined },
      { host: "::1", port: 1, head: undefined },
      { host: "127.0.0.1", port: 65_535, head: undefined },
    ],
  );
  for (const target of ["a.test", "a.test:0", "a.test:65536", ".:443", "a.test:443/"])
    assert.equal(placeOf(target), undefined);
});

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
