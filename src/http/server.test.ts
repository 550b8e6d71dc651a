import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { Problem } from "../protocol/resources.ts";
import { freePortAfter, type ListenOptions, listen } from "./server.ts";

/** A server that tells for which path it took a request. */
async function telling(t: TestContext, options: Partial<ListenOptions>): Promise<string> {
  const fetch = (request: Request) => {
    const { pathname, search } = new URL(request.url);
    return new Response(pathname + search);
  };
  const server = await listen({ fetch }, { host: "127.0.0.1", port: 0 }, { clock: systemClock, ...options });
  assert.ok(server.ok);
  t.after(() => server.value.close());
  return server.value.address;
}

test("below a path of a proxy each address is what it is without it, and one that only begins alike is another [C6]", async (t) => {
  const address = await telling(t, { basePath: "/yard" });
  const paths = {
    "/yard": "/",
    "/yard?a=b": "/?a=b",
    "/yard/": "/",
    "/yard/c/1?a=b": "/c/1?a=b",
    "/yardstick": "/yardstick",
    "/c/1": "/c/1",
  };
  const taken = Object.keys(paths).map(async (path) => [path, await (await fetch(address + path)).text()]);
  assert.deepEqual(Object.fromEntries(await Promise.all(taken)), paths);
});

test("headers without end are refused as that, in the same shape as all else [Q1][P4]", async (t) => {
  const address = await telling(t, {});
  const ask = (characters: number) => fetch(address, { headers: { "x-long": "x".repeat(characters) } });
  assert.equal((await ask(30_000)).status, 200);
  const refused = await ask(33_000);
  const problem = Problem.parse(await refused.json());
  assert.deepEqual(
    [refused.status, problem.status, problem.code, problem.params],
    [431, 431, "request_unreadable", { why: "headers" }],
  );
});

test("whoever finds their port taken is told of the next one that is free, and of none where there is none [P4]", async (t) => {
  const host = "127.0.0.1";
  const taken = createServer().listen({ host, port: 0 });
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const next = createServer();
  // Somebody else may have it, which is an error here: it is taken all the same.
  const isTaken = new Promise<void>((resolve) => next.once("listening", resolve).once("error", () => resolve()));
  next.listen({ host, port: port + 1 });
  await isTaken;
  t.after(() => {
    taken.close();
    next.close();
  });
  const free = await freePortAfter({ host, port });
  assert.ok(free > port + 1 && free <= port + 100, `${free} after ${port}`);
  const probe = createServer().listen({ host, port: free });
  await once(probe, "listening");
  probe.close();
  assert.equal(await freePortAfter({ host, port: 65_535 }), 0);
});
