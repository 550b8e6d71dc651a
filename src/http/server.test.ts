import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type App, type Door, type Env, goneSignal } from "./door.ts";
import { isLoopbackHost, type ListenOptions, listen } from "./server.ts";
import { bindWebApp } from "./web-app.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** A server on a clock that the test moves, and a way to write to it byte by byte. */
async function opened(t: TestContext, fetch: Fetch, options: Partial<ListenOptions> = {}) {
  const clock = manualClock();
  const app: Pick<App, "fetch"> = { fetch };
  const server = await listen(app, { host: "127.0.0.1", port: 0 }, { clock, ...options });
  assert.ok(server.ok);
  const { port } = new URL(server.value.address);
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.value.close();
  });
  const send = (head: string, body = "") => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" });
    sockets.push(socket);
    socket.write(`${head} HTTP/1.1\r\nhost: here\r\n`);
    socket.write(body);
    return socket;
  };
  return { clock, send, close: server.value.close };
}

test("a server that ends lets requests finish for two seconds and no longer, and connections that rest close at once [L6][C6]", async (t) => {
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const { clock, send, close } = await opened(t, async (request) => {
    const index = request.url.endsWith("/stuck") ? 1 : 0;
    asked[index]?.resolve();
    return (await answers[index]?.promise) ?? new Response(null);
  });
  const [soon, stuck] = [send("GET /soon", "\r\n"), send("GET /stuck", "\r\n")];
  await Promise.all(asked.map(({ promise }) => promise));
  let isClosed = false;
  const closed = close().then(() => {
    isClosed = true;
  });
  clock.move(1_999);
  answers[0]?.resolve(new Response("in time"));
  // It was not asked to close this connection after its answer: that it rests is enough.
  assert.match(await text(soon), /in time$/);
  assert.equal(isClosed, false);
  const end = text(stuck).catch(() => "");
  clock.move(1);
  assert.equal(await end, "");
  await closed;
  assert.equal(clock.timers(), 0);
});

test("only addresses of this machine are those that nobody else can call [C6]", () => {
  const own = ["localhost", "::1", "127.0.0.1", "127.8.9.10"];
  const others = ["0.0.0.0", "::", "10.0.0.1", "127.example.com", "128.0.0.1", "fe80::1", "localhost.example.com"];
  assert.deepEqual([...own, ...others].filter(isLoopbackHost), own);
});

test("a request ends with the key behind it, and leaves nothing at the key's signal when it is over [C6][Q1]", async () => {
  const key = new AbortController();
  const waiting = () => getEventListeners(key.signal, "abort").length;
  const [first, second] = [await begin(key.signal), await begin(key.signal)];
  assert.equal(waiting(), 2);
  first.end();
  assert.equal(waiting(), 1);
  key.abort();
  assert.deepEqual([first.gone.aborted, second.gone.aborted, waiting()], [false, true, 0]);
  assert.equal((await begin(key.signal)).gone.aborted, true, "it was taken away before");
  const caller = new AbortController();
  const left = await begin(new AbortController().signal, caller.signal);
  caller.abort();
  assert.equal(left.gone.aborted, true);
});

async function begin(taken: AbortSignal, signal?: AbortSignal) {
  const app = new Hono<Env>();
  let gone: AbortSignal | undefined;
  app.get("/", (c) => {
    c.set("caller", { signedIn: undefined, scopes: [], taken });
    gone = goneSignal(c);
    return c.body(null);
  });
  const ends: (() => void)[] = [];
  const door: Door = { onEnd: (listener) => void ends.push(listener) };
  await app.fetch(new Request("http://127.0.0.1/", signal && { signal }), door);
  return { gone: gone ?? assert.fail("it was served"), end: () => ends[0]?.() };
}

/** The app as it is served below a path of a proxy. */
function appOf(folder: string | undefined) {
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("arrival", {
      ...{ address: undefined, isVeiled: false, isFromHere: true, host: "h", scheme: undefined, prefix: "/yard" },
    });
    await next();
  });
  const { page } = bindWebApp(app, folder);
  app.get("/first", async (c) => (await page(c)) ?? c.text("no page"));
  return app;
}

test("files of the app come as what they are and as packed as a browser takes them; no other file of the folder comes [B1][Q1]", async (t) => {
  const types = {
    js: "text/javascript; charset=utf-8",
    css: "text/css; charset=utf-8",
    svg: "image/svg+xml",
    json: "application/json",
    woff2: "font/woff2",
    csv: "text/csv; charset=utf-8",
    txt: "text/plain; charset=utf-8",
    png: "image/png",
  };
  const files = Object.fromEntries(Object.keys(types).map((ending) => [`assets/a.${ending}`, ending]));
  const folder = folderWith(t, {
    ...files,
    ...{ "assets/a.js.br": "br", "assets/a.js.gz": "gzip", "assets/a.exe": "x", "assets/.a.js": "x", "a.js": "x" },
    ...{ "favicon.svg": "icon", "theme.js": "theme", "index.html": "<head><!--base--></head>" },
  });
  const app = appOf(folder);
  const ask = async (path: string, encoding = "") => app.request(path, { headers: { "accept-encoding": encoding } });
  for (const [ending, type] of Object.entries(types)) {
    const { status, headers } = await ask(`/assets/a.${ending}`);
    const kept = "private, max-age=31536000, immutable";
    assert.deepEqual(
      [status, headers.get("content-type"), headers.get("cache-control"), headers.get("vary")],
      [200, type, kept, "accept-encoding"],
      ending,
    );
  }
  const packed = ["gzip, br", "BR", "gzip", "br;q=0, gzip;q=0.5", "br; q=0.0", "identity"];
  const encodings = await Promise.all(
    packed.map(async (named) => {
      const answer = await ask("/assets/a.js", named);
      return [answer.headers.get("content-encoding"), await answer.text()];
    }),
  );
  const [br, gzip] = [Array(2).fill("br"), Array(2).fill("gzip")];
  const plain = [null, "js"];
  assert.deepEqual(encodings, [br, br, gzip, gzip, plain, plain]);
  const unpacked = await ask("/assets/a.css", "gzip, br");
  const { status, headers } = unpacked;
  assert.deepEqual([status, headers.get("content-encoding"), await unpacked.text()], [200, null, "css"]);
  for (const path of ["/favicon.svg", "/theme.js"])
    assert.equal((await ask(path)).headers.get("cache-control"), "no-cache", path);
  for (const path of ["/assets/a.exe", "/assets/.a.js", "/a.js", "/assets/b.js", "/assets/..%2Fa.js"])
    assert.equal((await ask(path)).status, 404, path);
  const page = await app.request("/settings/users");
  assert.equal(await page.text(), '<head><base href="/yard/"></head>');
  const told = ["content-type", "cache-control", "referrer-policy", "cross-origin-opener-policy"];
  assert.deepEqual(
    told.map((name) => page.headers.get(name)),
    ["text/html; charset=utf-8", "no-store", "same-origin", "same-origin"],
  );
  assert.deepEqual(page.headers.get("content-security-policy")?.split("; "), [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:"],
    ...["font-src 'self'", "connect-src 'self'", "worker-src 'self'", "frame-src 'self'", "manifest-src 'self'"],
    ...["media-src 'self' blob:", "base-uri 'self'", "form-action 'self'", "object-src 'none'"],
    ...["frame-ancestors 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"],
  ]);
});
