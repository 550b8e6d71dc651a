import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { accountServer } from "../world/mcp-account-server.ts";
import { address, odd, startMcp, type TestMcp, textOf } from "../world/mcp-servers.ts";

const back = "http://127.0.0.1:7420/api/v1/mcp/callback";

test("a user signs in to a server by a link, and stays signed in after a restart [G1][S7]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  assert.equal((await place.ready("far")).state, "sign_in_needed");
  await signIn(place, account);
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known");

  const other = OwnerId.parse("other");
  assert.equal((await place.ready("far", other)).state, "sign_in_needed");

  const { dataDir, secrets } = place;
  await place.mcp.close();
  const later = await startMcp(t, [address("far", account.url)], { dataDir, secrets });
  assert.equal(textOf(await later.call("mcp__far__whoami")), "known");
  const out = await later.mcp.signOut(localOwner, "far");
  assert.equal(out.ok && out.value.state, "sign_in_needed");
  const refused = await later.call("mcp__far__whoami");
  assert.ok("failure" in refused && refused.failure.code === "mcp_sign_in_needed", textOf(refused));
});

test("whoever gets the name of a user who was removed gets nothing of their sign-in [G1][S7]", async (t) => {
  const account = await accountServer(t);
  const place = await startMcp(t, [address("far", account.url)]);
  await signIn(place, account);
  assert.equal(textOf(await place.call("mcp__far__whoami")), "known");
  await place.secrets.drop(localOwner, "mcp/far"); // As the rows of a user are dropped with them.
  await place.mcp.forget(localOwner);
  assert.equal((await place.ready("far")).state, "sign_in_needed");
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

async function signIn({ mcp }: TestMcp, account: Awaited<ReturnType<typeof accountServer>>): Promise<void> {
  const begun = await mcp.beginSignIn(localOwner, "far", back);
  assert.ok(begun.ok, JSON.stringify(begun));
  const { searchParams } = await account.agree(begun.value.url);
  const [state = "", code = "", iss = ""] = ["state", "code", "iss"].map((name) => searchParams.get(name) ?? "");
  const finished = await mcp.finishSignIn(localOwner, { state, code, iss });
  assert.equal(finished.ok && finished.value.state, "ready", JSON.stringify(finished));
}
