import assert from "node:assert/strict";
import { test } from "node:test";
import { cannotStore } from "../world/postgres-server.ts";
import { openBrowser, signInServer } from "../world/sign-in-service.ts";
import { startTwo } from "../world/two-yards.ts";
import { must } from "../world/yard.ts";

// Two processes on one database, and who comes in: a load balancer sends each request of a browser to any of them.

const needed = { skip: cannotStore };

test("who begins to sign in through a service at one process comes back at the other, and people of one name stay two [N1][C6]", {
  ...needed,
}, async (t) => {
  const service = await signInServer({ s1: { preferred_username: "ann" }, s2: { preferred_username: "ann" } });
  t.after(() => service.close());
  const { issuer, secret: clientSecret } = service;
  const about = { clientId: "agentyard", name: "Example", addsUsers: true, scopes: ["profile"] };
  await using two = await startTwo({ server: { oidc: { issuer, clientSecret, ...about } } });
  const { one, other } = two;
  const callback = `${one.address}/sign-in/oidc/callback`;
  service.serve(callback);
  const begun = async (person: string) => {
    service.person = person;
    const browser = openBrowser();
    const { url } = await browser.go(`${one.address}/sign-in/oidc?next=/api/v1/me`, { stop: callback });
    return { browser, url };
  };
  const [first, second] = [await begun("s1"), await begun("s2")];
  const arrived = await Promise.all([
    first.browser.go(first.url.replace(one.address, other.address)),
    second.browser.go(second.url),
  ]);
  assert.deepEqual(
    arrived.map(({ status }) => status),
    [200, 200],
  );
  const ids = arrived.map(({ text }) => JSON.parse(text).user.id);
  assert.deepEqual(ids.toSorted(), ["ann", "ann-2"]);
  assert.equal((await must(one.client.call("listUsers"))).items.length, 2);
});

test("who signs out at one process is signed out at both, also where that is handed on without their cookie [N1][C6]", {
  ...needed,
}, async () => {
  await using two = await startTwo();
  const password = "a good password";
  await must(two.one.client.call("addUser", { body: { id: "ann", password } }));
  for (const { address } of [two.one, two.other]) {
    const here = { origin: address, "content-type": "application/json" };
    const body = JSON.stringify({ user: "ann", password });
    const signed = await fetch(`${address}/api/v1/sign-in`, { method: "POST", headers: here, body });
    const cookie = (signed.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const me = async () =>
      Promise.all(
        [two.one, two.other].map(
          async (place) => (await fetch(`${place.address}/api/v1/me`, { headers: { cookie } })).status,
        ),
      );
    assert.deepEqual(await me(), [200, 200]);
    const out = await fetch(`${address}/api/v1/sign-out`, { method: "POST", headers: { ...here, cookie } });
    assert.deepEqual([out.status, await me()], [204, [401, 401]]);
  }
});

test("a stream at one process ends when its key is taken away at the other, and so does one that was handed on [N1][C6]", {
  ...needed,
}, async () => {
  await using two = await startTwo();
  const { one, other } = two;
  await must(one.client.call("addUser", { body: { id: "ann" } }));
  const { key, id } = await must(one.client.call("addKey", { params: { user: "ann" }, body: { scopes: ["chat"] } }));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await one.send("POST", "/api/v1/conversations", { headers, body: "{}" });
  assert.equal(made.status, 201, made.text);
  const followed = [one, other].map(({ address }) =>
    fetch(`${address}/api/v1/conversations/${made.json.id}/stream`, { headers }),
  );
  const readers = (await Promise.all(followed)).map((response) => {
    assert.equal(response.status, 200);
    return response.body?.getReader();
  });
  for (const reader of readers) await reader?.read();
  await must(other.client.call("removeKey", { params: { user: "ann", key: id } }));
  const ended = readers.map(async (reader) => {
    for (;;) if ((await reader?.read())?.done !== false) return;
  });
  await Promise.allSettled(ended);
  assert.equal((await fetch(`${other.address}/api/v1/me`, { headers })).status, 401);
});
