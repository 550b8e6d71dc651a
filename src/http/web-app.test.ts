import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { folderWith } from "../../test/world/folder.ts";
import type { Env } from "./door.ts";
import { bindWebApp } from "./web-app.ts";

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
  bindWebApp(app, folder);
  const ask = async (path: string, encoding = "") => {
    const { status, headers, ...rest } = await app.request(path, { headers: { "accept-encoding": encoding } });
    return { status, headers, ...rest };
  };
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
  const encodings = await Promise.all(packed.map(async (named) => (await ask("/assets/a.js", named)).headers));
  assert.deepEqual(
    encodings.map((headers) => headers.get("content-encoding")),
    ["br", "br", "gzip", "gzip", null, null],
  );
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
