import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { failure } from "../../src/protocol/failure.ts";
import { type Called, peopledYard } from "../world/callers.ts";
import { must } from "../world/yard.ts";

const password = "a good password";
const here = { origin: "http://127.0.0.1:7420", "sec-fetch-site": "same-origin" };

type Change = { readonly [header in "cookie" | "authorization" | "address"]?: string } & { readonly body: object };

test("a form to sign in that is refused has what was typed and where to go, and one without end is not read [C6][P4]", async () => {
  await using yard = await peopledYard({ signInLastsMs: 86_400_000 });
  await yard.addUser({ id: "ann", password });
  await yard.addUser({ id: "bob" });
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    yard.call("POST /sign-in", { ...here, ...headers, body: new URLSearchParams(fields) });
  const wrong = await form({ user: "ann", password: "x", next: "/docs", lang: "zh" });
  assert.match(wrong.text, /name="next" value="\/docs"><input type="hidden" name="lang" value="zh">/);
  assert.match(wrong.text, /name="user"[^>]* value="ann"/);
  assert.match(wrong.text, /lang=en&#38;next=%2Fdocs"/, "the other language leads there as well");
  const right = await form({ user: "ann", password, next: "/docs" });
  assert.match(right.headers.get("set-cookie") ?? "", /^agentyard=[^;]+; Path=\/; Max-Age=86400; /);
  const rest = 16 * 1024 - "user=ann&password=".length;
  const statusOf = async (characters: number) => (await form({ user: "ann", password: "x".repeat(characters) })).status;
  assert.deepEqual([await statusOf(rest), await statusOf(rest + 1)], [401, 413]);
  const { path } = await must(yard.client.call("makeSignInLink", { params: { user: "bob" } }));
  const page = await yard.call(`GET ${path}&next=/docs`);
  assert.match(page.text, /This link signs you in as bob, once/, "who has no name goes by their id");
  const link = new URLSearchParams(path.split("?")[1]).get("link") ?? "";
  assert.match(
    page.text,
    new RegExp(`lang=zh&#38;next=%2Fdocs&#38;link=${link}"`),
    "in the other language it is the same link",
  );
});

test("below the path of a proxy people come to that path, and the form is sent there [C6]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["10.0.0.1"], trustedHosts: ["yard.example"] });
  await yard.addUser({ id: "ann" });
  const proxy = {
    address: "10.0.0.1",
    host: "yard.example",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/yard",
  };
  const page = await yard.call("GET /sign-in", proxy);
  assert.match(
    page.text,
    /<form method="post" action="\/yard\/sign-in"><input type="hidden" name="next" value="\/yard\/">/,
  );
  const { path } = await must(yard.client.call("makeSignInLink", { params: { user: "ann" } }));
  const link = new URLSearchParams(path.split("?")[1]).get("link") ?? "";
  const origin = "https://yard.example";
  const entered = await yard.call("POST /sign-in", { ...proxy, origin, body: new URLSearchParams({ link }) });
  assert.deepEqual([entered.status, entered.headers.get("location")], [303, "/yard/"]);
});

test("whoever guesses at a password to change it is stopped like one who signs in with it, and whoever knows it is not [C6]", async () => {
  // However slow the machine is, all of it is within one minute.
  const clock = { ...systemClock, monotonic: () => 0 };
  await using yard = await peopledYard({ signInsPerMinuteMax: 2 }, { clock });
  await yard.addUser({ id: "ann", password });
  await yard.addUser({ id: "bob" });
  await yard.addUser({ id: "cat", password });
  await yard.addUser({ id: "root", isAdmin: true, password });
  const cookieOf = async (user: string) => {
    const { path } = await must(yard.client.call("makeSignInLink", { params: { user } }));
    const link = new URLSearchParams(path.split("?")[1]).get("link") ?? "";
    const entered = await yard.call("POST /sign-in", { ...here, body: new URLSearchParams({ link }) });
    return entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  };
  // One after the other: each is counted until it has worked.
  const [cookie, ofBob] = [await cookieOf("ann"), await cookieOf("bob")];
  const [ofCat, ofRoot] = [await cookieOf("cat"), await cookieOf("root")];
  const change = async (user: string, sent: Change) => {
    const { status, code } = await yard.call(`PUT /api/v1/users/${user}/password`, { ...here, ...sent });
    return `${status} ${code}`.trim();
  };
  const [short, other] = [{ password: "short" }, { password: "another password" }];
  for (let times = 0; times < 3; times += 1)
    assert.equal(await change("ann", { cookie, body: { ...short, current: password } }), "422 password_unfit");
  const wrong = { cookie, body: { ...other, current: "no" } };
  assert.deepEqual([await change("ann", wrong), await change("ann", wrong)], Array(2).fill("401 sign_in_failed"));
  const right = { cookie, body: { ...other, current: password } };
  assert.equal(await change("ann", right), "429 rate_limited", "by place");
  assert.equal(await change("ann", { ...right, address: "127.0.0.9" }), "204");
  // Who has none proves nothing by it, and an admin's key is no browser that somebody left open.
  assert.equal(await change("bob", { cookie: ofBob, body: other, address: "127.0.0.8" }), "204");
  const key = await yard.keyOf("root", ["admin"]);
  assert.equal(await change("bob", { cookie: ofRoot, body: { password } }), "204", "nor has an admin that of others");
  assert.equal(await change("root", { authorization: `Bearer ${key}`, body: other }), "204");
  for (let n = 1; n <= 40; n += 1) {
    const guess = { cookie: ofCat, body: { ...other, current: "no" }, address: `127.0.1.${n}` };
    assert.equal(await change("cat", guess), "401 sign_in_failed");
  }
  const known = { cookie: ofCat, body: { ...other, current: password }, address: "127.0.2.1" };
  assert.equal(await change("cat", known), "429 rate_limited", "by name, from wherever");
});

test("whoever signs in with the right password is not counted, from wherever, and this machine's own user never is [C6]", async () => {
  const clock = { ...systemClock, monotonic: () => 0 };
  await using yard = await peopledYard({ signInsPerMinuteMax: 1 }, { clock });
  await yard.addUser({ id: "ann", password });
  for (let n = 1; n <= 21; n += 1) {
    const body = { user: "ann", password };
    assert.equal((await yard.call("POST /api/v1/sign-in", { address: `127.0.1.${n}`, body })).status, 200);
    const wrong = await yard.client.call("signIn", { body: { user: "bob", password: "no" } });
    assert.equal(wrong.ok ? "" : wrong.failure.code, "sign_in_failed");
  }
});

const body = { user: "ann", password };
const signIn = "POST /api/v1/sign-in";

const cookieOf = ({ headers }: Called) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";

test("who signs out ends every sign-in that their browser showed, and is not told to be out where that cannot be stored [C6][Q2]", async () => {
  let [drops, full] = [0, 0];
  await using yard = await peopledYard(
    {},
    {
      wrapStorage: (real) => ({
        ...real,
        async dropSignIn(hash) {
          drops += 1;
          return drops === full ? failure("storage_full", {}) : real.dropSignIn(hash);
        },
      }),
    },
  );
  await yard.addUser({ id: "ann", password });
  const signedIn = async () => cookieOf(await yard.call(signIn, { ...here, body }));
  const statusOf = async (cookie: string) => (await yard.call("GET /api/v1/me", { cookie })).status;
  /** Signs out, where the storage is full for this one of the changes; and who is known after that. */
  const out = async (fullFor = 0) => {
    const [first, second] = [await signedIn(), await signedIn()];
    [drops, full] = [0, fullFor];
    const left = await yard.call("POST /api/v1/sign-out", { ...here, cookie: `${first}; other=x; ${second}` });
    return [left.code || left.status, cookieOf(left), await statusOf(first), await statusOf(second)];
  };
  assert.deepEqual(await out(), [204, "agentyard=", 401, 401]);
  assert.deepEqual(await out(1), ["storage_full", "", 200, 200]);
  assert.deepEqual(await out(2), ["storage_full", "", 401, 200]);
  assert.deepEqual(await out(3), ["storage_full", "", 401, 401], "what another server let in may still be");
});

test("after signing in people come to a page of ours and nowhere else, whatever the address says [C6][Q1]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["10.0.0.1"], trustedHosts: ["yard.example"] });
  await yard.addUser({ id: "ann", password });
  const proxy = { address: "10.0.0.1", host: "yard.example", "x-forwarded-prefix": "/yard" };
  const led = async (next: string) => {
    const form = new URLSearchParams({ user: "ann", password, next });
    const entered = await yard.call("POST /sign-in", { ...proxy, origin: "http://yard.example", body: form });
    assert.equal(entered.status, 303);
    return entered.headers.get("location");
  };
  for (const own of ["/yard/c/1?a=b", "/", "/x#y"]) assert.equal(await led(own), own);
  const others = ["//evil.example", "/\\evil.example", "https://evil.example", "c/1", "", "/a\\b", "/a b", "/\t/evil"];
  for (const other of others) assert.equal(await led(other), "/yard/", other);
});
