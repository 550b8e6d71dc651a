import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type App, listen } from "../../src/http/http.ts";
import { peopledYard } from "../world/callers.ts";
import { manualClock } from "../world/manual-clock.ts";

test("a stranger who sends a body drop by drop is told after half a minute, and the connection ends [C6][Q1]", async () => {
  const clock = manualClock();
  await using yard = await peopledYard();
  await yard.keyOf("ann");
  await using door = await openDoor(yard.app, clock);
  for (const path of ["/api/v1/sign-in", "/sign-in"]) {
    const socket = await door.begin(`POST ${path}`);
    clock.move(29_999);
    socket.write(" ");
    assert.equal(socket.destroyed, false);
    const rest = text(socket);
    clock.move(1);
    const [head = "", body = ""] = (await rest).split("\r\n\r\n");
    assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\ncontent-type: application\/problem\+json/);
    assert.deepEqual([JSON.parse(body).code, JSON.parse(body).params], ["request_unreadable", { why: "slow" }]);
  }
});

test("whoever is known may take longer over a slow line [C6]", async () => {
  const clock = manualClock();
  await using yard = await peopledYard();
  const key = await yard.keyOf("ann");
  await using door = await openDoor(yard.app, clock);
  const headers = `authorization: Bearer ${key}\r\nconnection: close\r\n`;
  const socket = await door.begin("POST /api/v1/conversations", headers);
  await door.given;
  clock.move(600_000);
  socket.write(`${" ".repeat(98)}}`);
  assert.match(await text(socket), /^HTTP\/1\.1 201 /);
});

test("whoever is refused before the body is read does not hold the connection [C6][Q1]", async () => {
  await using yard = await peopledYard();
  await yard.keyOf("ann");
  await using door = await openDoor(yard.app, systemClock);
  for (const [wanted, length, status] of [
    ["POST /api/v1/conversations", 30_000_000, 401],
    ["POST /api/v1/sign-in", 30_000_000, 413],
  ] as const) {
    const socket = await door.begin(wanted, "", length);
    // It ends from the other side: nothing more is sent from here.
    assert.match(await text(socket), new RegExp(`^HTTP/1.1 ${status} `));
  }
});

test("an answer that nobody takes ends with its connection, and one that takes long to make does not [C6][Q1]", async () => {
  const [large, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = {
    async fetch(request: Request, door: Parameters<App["fetch"]>[1] = {}) {
      if (request.url.endsWith("/late")) {
        await late.promise;
        return new Response("late");
      }
      if ("onEnd" in door) door.onEnd?.(large.resolve);
      return new Response("x".repeat(64 * 1024 * 1024));
    },
  };
  const server = await listen(app, { host: "127.0.0.1", port: 0 }, { clock: systemClock, silenceMsMax: 500 });
  assert.ok(server.ok);
  const { port } = new URL(server.value.address);
  const asked = (path: string) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n`);
    return socket;
  };
  const patient = text(asked("/late"));
  const unread = asked("/large");
  await large.promise;
  late.resolve();
  assert.match(await patient, /\r\n\r\nlate$/);
  unread.destroy();
  await server.value.close();
});

async function openDoor(app: App, clock: Parameters<typeof listen>[2]["clock"]) {
  const given = Promise.withResolvers<void>();
  const watched: App = Object.create(app, {
    fetch: {
      value: (request: Request, door: { giveTime?: () => void }) =>
        app.fetch(request, {
          ...door,
          giveTime: () => {
            door.giveTime?.();
            given.resolve();
          },
        }),
    },
  });
  const server = await listen(watched, { host: "127.0.0.1", port: 0 }, { clock });
  assert.ok(server.ok);
  const { port, host } = new URL(server.value.address);
  return {
    given: given.promise,
    /** The head of a request and the first byte of its body, once the server has begun with it. */
    async begin(wanted: string, more = "", length = 100): Promise<Socket> {
      const socket = connect({ port: Number(port), host: "127.0.0.1" });
      const told = `content-type: application/json\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\n`;
      socket.write(`${wanted} HTTP/1.1\r\nhost: ${host}\r\n${told}${more}\r\n`);
      const [first] = await once(socket, "data");
      assert.match(String(first), /^HTTP\/1\.1 100 Continue/);
      // What came with it is put back for whoever reads on.
      const rest = Buffer.from(first).subarray("HTTP/1.1 100 Continue\r\n\r\n".length);
      if (rest.length > 0) socket.unshift(rest);
      socket.write("{");
      return socket;
    },
    [Symbol.asyncDispose]: server.value.close,
  };
}
