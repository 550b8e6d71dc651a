import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { openDatabase } from "../../../test/world/database.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { openSignInService, openUsers } from "../../users/users.ts";
import type { Caller, Env } from "../door.ts";
import { defaultServerSettings } from "../settings.ts";
import { bindDocs } from "./docs.ts";

const known: Caller = { signedIn: undefined, scopes: ["chat"] };
const nobody: Caller = { signedIn: undefined, scopes: [] };
const ada = OwnerId.parse("ada");
const service = {
  ...{ issuer: "http://127.0.0.1:9", clientId: "c", clientSecret: undefined, name: "S", addsUsers: false, scopes: [] },
};

type Given = {
  readonly caller?: Caller;
  readonly prefix?: string;
  readonly hasApp?: boolean;
  readonly hasUsers?: boolean;
  readonly hasService?: boolean;
};

/** What is told of a server to whoever asks so. */
async function docs(
  t: TestContext,
  { caller = known, prefix = "", hasApp = false, hasUsers = false, hasService = false }: Given = {},
) {
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("language", "en");
    c.set("caller", caller);
    c.set("arrival", {
      ...{ address: undefined, isVeiled: false, isFromHere: true, host: "h", scheme: undefined, prefix },
    });
    await next();
  });
  const { signInLastsMs } = defaultServerSettings;
  const own = { clock: systemClock, ids: systemIds };
  const users = openUsers({ ...own, storage: openDatabase(t), signInLastsMs: () => signInLastsMs });
  if (hasUsers) assert.ok((await users.add({ id: ada })).ok);
  const signInService = hasService ? openSignInService(service, own) : undefined;
  bindDocs(
    app,
    { version: "1.2.3", users, signInService },
    { page: async (c) => (hasApp ? c.text("the app") : undefined) },
  );
  return async (path: string, accept = "text/html") => app.request(path, { headers: { accept } });
}

test("whoever is known gets the app at the first address, and a person who is not is led to sign in, below the path of a proxy [C6][B1]", async (t) => {
  assert.equal(await (await (await docs(t, { hasApp: true }))("/")).text(), "the app");
  for (const prefix of ["", "/yard"]) {
    const led = await (await docs(t, { caller: nobody, hasApp: true, prefix }))("/");
    assert.deepEqual([led.status, led.headers.get("location")], [303, `${prefix}/sign-in`]);
  }
  const told = await (await docs(t, { caller: nobody, hasApp: true }))("/", "*/*");
  assert.equal(told.status, 200, "a program is not led anywhere");
  const page = await told.text();
  assert.match(page, /<small>1\.2\.3<\/small>/);
  assert.doesNotMatch(page, /build-web|the app/);
  assert.match(
    await (await (await docs(t))("/")).text(),
    /build-web\.mjs/,
    "what is missing is said to whoever may have it",
  );
});

test("the first page offers to sign in where there is a user or a service for that, unless somebody is [C6]", async (t) => {
  const offers = async (given: Given) => {
    const page = await (await (await docs(t, given))("/", "*/*")).text();
    return [page.includes('href="/sign-in"'), page.includes('id="sign-out"')];
  };
  const byCookie: Caller = { signedIn: ada, scopes: ["chat"], by: "cookie" };
  const byKey: Caller = { ...byCookie, by: "key" };
  assert.deepEqual(await offers({ caller: nobody }), [false, false]);
  assert.deepEqual(await offers({ caller: nobody, hasUsers: true }), [true, false]);
  assert.deepEqual(await offers({ caller: nobody, hasService: true }), [true, false]);
  assert.deepEqual(await offers({ caller: byCookie, hasUsers: true, hasService: true }), [false, true]);
  assert.deepEqual(await offers({ caller: byKey, hasUsers: true }), [true, false]);
});

test("below the path of a proxy every link, and the document itself, begins with that path [C7][P2]", async (t) => {
  for (const prefix of ["", "/yard"]) {
    const ask = await docs(t, { prefix });
    for (const path of ["/openapi.json", "/api/v1/openapi.json"]) {
      const { servers } = Object(await (await ask(path)).json());
      assert.deepEqual(servers, [{ url: prefix || "/" }], path);
    }
    const page = await (await ask("/docs")).text();
    const links = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link]) => link);
    assert.deepEqual(links, [`${prefix}/docs/page.css`, `${prefix}/openapi.json`, `${prefix}/docs/page.js`]);
    assert.ok(page.includes(`<body data-prefix="${prefix}"`));
    assert.doesNotMatch(page, /\u{f8ff}/u);
  }
});

test("a page is in the language of its address where that is one of ours, else in the reader's, and runs nothing but our script [C7][Q1]", async (t) => {
  const ask = await docs(t);
  for (const path of ["/docs", "/"]) {
    const languages = await Promise.all(
      ["", "?lang=zh", "?lang=en", "?lang=fr"].map(async (query) => {
        const { headers } = await ask(path + query);
        return headers.get("content-language");
      }),
    );
    assert.deepEqual(languages, ["en", "zh", "en", "en"], path);
    const { headers } = await ask(path);
    const told = ["content-type", "vary", "x-content-type-options", "referrer-policy"].map((name) => headers.get(name));
    assert.deepEqual(told, ["text/html; charset=utf-8", "accept-language", "nosniff", "no-referrer"]);
    assert.deepEqual(headers.get("content-security-policy")?.split("; "), [
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:"],
      ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ]);
  }
  for (const path of ["/docs/page.js", "/docs/page.css"]) {
    const { status, headers } = await ask(path);
    assert.deepEqual([status, headers.get("x-content-type-options")], [200, "nosniff"], path);
  }
});
