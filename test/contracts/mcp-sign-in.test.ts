import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { accountServer } from "../world/mcp-account-server.ts";
import { address, odd, startMcp, type TestMcp, textOf } from "../world/mcp-servers.ts";

const back = "http://127.0.0.1:7420/api/v1/mcp/callback";

test("a sign-in belongs to the address that it was made at: another one under the same name gets nothing of it [G1][S7][Q1]", async (t) => {
  const [account, other] = [await accountServer(t), await accountServer(t)];
  const place = await startMcp(t, [address("far", account.url)]);
  await signIn(place, account);
  await place.mcp.change([address("far", other.url)]);
  assert.equal((await place.ready("far")).state, "sign_in_needed");
  assert.deepEqual([...new Set(other.shown)], [""]);

  await place.mcp.change([address("far", account.url)]);
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known", "and it is still there at its own");
  await place.mcp.change([address("far", other.url)]);
  await signIn(place, other);
  const ours = new Set(account.tokens());
  assert.ok(other.shown.every((token) => !ours.has(token.replace("Bearer ", ""))));
  await place.mcp.change([address("far", account.url)]);
  assert.equal((await place.ready("far")).state, "sign_in_needed", "one sign-in is kept, that of the last address");
});

test("a sign-in of which no address is known counts for none [G1][Q1]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  const tokens = { access_token: "from-before", token_type: "Bearer" };
  await place.secrets.put(localOwner, "mcp/far", JSON.stringify({ tokens }));
  assert.equal((await place.ready("far")).state, "sign_in_needed");
  assert.deepEqual([...new Set(account.shown)], [""]);
});

test("tokens are renewed once, however many calls notice that they have ended [G1]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  await signIn(place, account);
  account.expire();
  account.asked.length = 0;
  const answers = await Promise.all(Array.from({ length: 5 }, () => place.call("mcp__far__whoami")));
  assert.deepEqual(answers.map(textOf), Array(5).fill("known"));
  assert.deepEqual(account.asked, ["/token"]);
});

test("tokens are renewed before they end, and when they cannot be a person is asked to sign in again [G1]", async (t) => {
  const account = await accountServer(t, { lastsSeconds: 1_000 });
  let passedMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passedMs };
  const place = await startMcp(t, [address("far", account.url)], { clock });
  await signIn(place, account);
  account.asked.length = 0;
  passedMs = 790_000;
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known");
  assert.deepEqual(account.asked, []);
  passedMs = 810_000;
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known");
  assert.deepEqual(account.asked, ["/token"]);

  account.revoke();
  const refused = await place.call("mcp__far__whoami");
  assert.ok("failure" in refused && refused.failure.code === "mcp_sign_in_needed", textOf(refused));
  assert.equal(place.mcp.servers(localOwner)[0]?.state, "sign_in_needed");
  await signIn(place, account);
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known");
});

test("a tool that needs more than the user agreed to makes them sign in again, for both [G1]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  await signIn(place, account);
  const refused = await place.call("mcp__far__write");
  assert.ok("failure" in refused && refused.failure.code === "mcp_sign_in_needed", textOf(refused));
  await signIn(place, account);
  assert.equal(textOf(await place.call("mcp__far__write")), "known");
});

test("who we are is shown to the sign-in service that the settings name, and to none that the server names instead [G1][Q1]", async (t) => {
  const app = { id: "by-hand", back };
  const evil = await accountServer(t, { app });
  let named = evil.issuer;
  const account = await accountServer(t, { app, signInAt: () => named });
  const client = { id: app.id, secret: "hidden-7781" };
  const { url, issuer } = account;
  for (const wanted of [{ client }, { client: undefined }]) {
    const reached = { by: "address", url, headers: {}, scope: undefined, issuer: `${issuer}/`, ...wanted } as const;
    const place = await startMcp(t, [address("far", url, { reached })]);
    evil.asked.length = 0;
    named = evil.issuer;
    const refused = await place.mcp.beginSignIn(localOwner, "far", back);
    assert.ok(!refused.ok, JSON.stringify(refused));
    assert.equal(refused.failure.code, "mcp_sign_in_failed");
    assert.match(JSON.stringify(refused.failure), new RegExp(`bound to .*${issuer}.* but .*${evil.issuer}`));
    assert.deepEqual(
      evil.asked,
      ["/.well-known/oauth-authorization-server"],
      "it was asked who it is, and told nothing",
    );
    named = issuer;
    await signIn(place, account);
    assert.equal(textOf(await place.call("mcp__far__whoami")), "known");
  }
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString("base64");
  assert.deepEqual([account.apps, evil.apps], [[`Basic ${basic}`, ""], []]);
});

test("a sign-in is ended by whoever began it, once, and only where one is asked for [G1][Q1]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url), odd("well")]);
  const begun = await place.mcp.beginSignIn(localOwner, "far", back);
  assert.ok(begun.ok);
  const { searchParams } = await account.agree(begun.value.url);
  const answer = {
    state: searchParams.get("state") ?? "",
    code: searchParams.get("code") ?? "",
    iss: "https://evil.example",
  };
  const stolen = await place.mcp.finishSignIn(OwnerId.parse("thief"), answer);
  assert.equal(!stolen.ok && stolen.failure.code, "mcp_sign_in_failed");
  const mixed = await place.mcp.finishSignIn(localOwner, answer);
  assert.equal(!mixed.ok && mixed.failure.code, "mcp_sign_in_failed");
  const again = await place.mcp.finishSignIn(localOwner, { ...answer, iss: undefined });
  assert.equal(!again.ok && again.failure.code, "mcp_sign_in_failed");

  for (const [id, code] of [
    ["odd", "mcp_no_sign_in"],
    ["old", "mcp_server_not_found"],
  ] as const) {
    const refused = await place.mcp.beginSignIn(localOwner, id, back);
    assert.equal(!refused.ok && refused.failure.code, code);
  }
});

test("who begins many sign-ins gives up their own oldest ones, and nobody else's [G1][Q1]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob")];
  const begin = async (owner: OwnerId) => {
    const begun = await place.mcp.beginSignIn(owner, "far", back);
    assert.ok(begun.ok);
    return new URL(begun.value.url).searchParams.get("state") ?? "";
  };
  const said = async (owner: OwnerId, state: string) => {
    const ended = await place.mcp.finishSignIn(owner, { state, error: "the person said no" });
    return !ended.ok && ended.failure.code === "mcp_sign_in_failed" && ended.failure.params.said;
  };
  const first = await begin(ann);
  const states: string[] = [];
  for (let n = 0; n < 11; n += 1) states.push(await begin(bob));
  const [oldest = "", second = ""] = states;
  const [known, unknown] = ["the person said no", "this link was used, or is not yours"];
  assert.deepEqual([await said(ann, first), await said(bob, second), await said(bob, oldest)], [known, known, unknown]);
});

async function signIn({ mcp }: TestMcp, account: Awaited<ReturnType<typeof accountServer>>): Promise<void> {
  const begun = await mcp.beginSignIn(localOwner, "far", back);
  assert.ok(begun.ok, JSON.stringify(begun));
  const { searchParams } = await account.agree(begun.value.url);
  const [state = "", code = "", iss = ""] = ["state", "code", "iss"].map((name) => searchParams.get(name) ?? "");
  const finished = await mcp.finishSignIn(localOwner, { state, code, iss });
  assert.equal(finished.ok && finished.value.state, "ready", JSON.stringify(finished));
}
