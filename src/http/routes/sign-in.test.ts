import assert from "node:assert/strict";
import { test } from "node:test";
import { type Called, peopledYard } from "../../../test/world/callers.ts";
import { failure } from "../../protocol/failure.ts";

const password = "a good password";
const body = { user: "ann", password };
const wrong = { user: "ann", password: "another password" };
const here = { origin: "http://127.0.0.1:7420", "sec-fetch-site": "same-origin" };
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

test("a try to sign in counts for its place and its name, one that works is given back, and who is on the machine is not counted [C6]", async () => {
  await using yard = await peopledYard({ signInsPerMinuteMax: 1 });
  await yard.addUser({ id: "ann", password });
  const tried = async (sent: object, address: string) => {
    const { status, code } = await yard.call(signIn, { ...here, address, body: sent });
    return code || status;
  };
  for (let times = 0; times < 25; times += 1) assert.equal(await tried(body, "192.0.2.1"), 200);
  for (let place = 1; place <= 20; place += 1) assert.equal(await tried(wrong, `192.0.2.${place}`), "sign_in_failed");
  assert.equal(await tried(body, "192.0.2.1"), "rate_limited", "so often from one place");
  assert.equal(await tried(body, "192.0.2.21"), "rate_limited", "so often for one name, from wherever");
  assert.equal(await tried({ user: "bob", password }, "192.0.2.22"), "sign_in_failed");
  const local = await yard.client.call("signIn", { body });
  assert.equal(local.ok, true);
});
