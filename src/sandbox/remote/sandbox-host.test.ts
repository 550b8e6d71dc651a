import assert from "node:assert/strict";
import { once } from "node:events";
import { Server as SecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { openDoor } from "./sandbox-host.ts";

test("strangers at the door of a host have ten seconds for their headers, which are short, thirty for all they ask, and only so many connections, with TLS as without [X3][X4]", () => {
  for (const tls of [undefined, {}]) {
    const door = openDoor(tls, () => {});
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = door;
    assert.equal(door instanceof SecureServer, tls !== undefined);
    assert.deepEqual(
      {
        headersTimeout,
        requestTimeout,
        keepAliveTimeout,
        maxConnections,
        maxHeaderSize: Reflect.get(door, "maxHeaderSize"),
      },
      {
        ...{ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 1000 },
        ...{ maxConnections: 10_000, maxHeaderSize: 16_384 },
      },
    );
  }
});

test("who speaks no HTTP at the door of a host is told nothing [X3][Q1]", async (t) => {
  const door = openDoor(undefined, () => {});
  t.after(() => door.close());
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  const socket = connect((door.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  let told = "";
  socket.on("data", (bytes) => (told += bytes));
  socket.write("\x16\x03 no HTTP\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  assert.equal(told, "");
});
