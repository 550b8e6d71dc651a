import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { folderWith } from "../../test/world/folder.ts";
import type { Env } from "./door.ts";
import { bindWebApp } from "./web-app.ts";

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

const places = [
  ...["/c/1", "/c/1/files", "/inbox", "/tasks", "/tasks/7", "/files", "/settings", "/settings/users", "/setup"],
];

test("every address that a person may keep or pass on opens the app, and where it was not built the first page [B1]", async (t) => {
  const built = appOf(folderWith(t, { "index.html": "<!--base-->" }));
  for (const path of places) assert.equal(await (await built.request(path)).text(), '<base href="/yard/">', path);
  assert.equal(await (await built.request("/first")).text(), '<base href="/yard/">');
  for (const folder of [undefined, folderWith(t, { "assets/a.js": "js" })]) {
    const bare = appOf(folder);
    for (const path of places) {
      const { status, headers } = await bare.request(path);
      assert.deepEqual([status, headers.get("location")], [302, "/yard/"], path);
    }
    assert.equal(await (await bare.request("/first")).text(), "no page");
  }
  const none = await appOf(undefined).request(`/assets/${"x".repeat(300)}.js`);
  const { code, params } = Object(await none.json());
  assert.deepEqual([none.status, code, params.path.length], [404, "route_not_found", 200]);
});

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
