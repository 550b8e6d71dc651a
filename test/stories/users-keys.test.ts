import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { openLogs } from "../../src/observe/observe.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Scope } from "../../src/protocol/route.ts";
import { userLimits } from "../../src/protocol/user-routes.ts";
import { callOver, peopledYard } from "../world/callers.ts";
import { must, startYard } from "../world/yard.ts";

test("a key that has ended is refused, and the list of keys shows it as ended [C6]", async () => {
  let now = 0;
  await using yard = await peopledYard({}, { clock: { ...systemClock, now: () => now } });
  await yard.addUser({ id: "ann" });
  const body = { name: "k", days: 1 };
  const { key } = await must(yard.client.call("addKey", { params: { user: "ann" }, body }));
  const seen = async () => {
    const { code } = await yard.call("GET /api/v1/models", { authorization: `Bearer ${key}` });
    const { items } = await must(yard.client.call("listKeys", { params: { user: "ann" } }));
    return [code || "in", ...items.map(({ hasEnded, endsAt }) => ({ hasEnded, endsAt }))];
  };
  const endsAt = 86_400_000;
  assert.deepEqual(await seen(), ["in", { hasEnded: false, endsAt }]);
  now = endsAt;
  assert.deepEqual(await seen(), ["sign_in_required", { hasEnded: true, endsAt }]);
});

test("a key that nobody knows is said to be unknown, and where people sign in has the path of the proxy [C6][P4]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["127.0.0.1"] });
  await yard.keyOf("ada");
  const proxy = { "x-forwarded-for": "203.0.113.7", "x-forwarded-prefix": "/yard" };
  const told = async (headers: Record<string, string>) => detailIn((await yard.call("GET /api/v1/me", headers)).text);
  const [nobody, unknown] = [await told(proxy), await told({ ...proxy, authorization: "Bearer ay_wrong" })];
  assert.equal(nobody, "You are not signed in. Send an API key (Authorization: Bearer …) or sign in at /yard/sign-in.");
  const what = "This API key is not known: it is mistyped, too old or revoked.";
  assert.equal(unknown, `${what} Send another one or sign in at /yard/sign-in.`);
});

test("a resource of an MCP server becomes a file with a key for both alone [C6][G1]", async () => {
  await using yard = await peopledYard();
  const made = await must(yard.client.call("createConversation", { body: {} }));
  const attach = async (...scopes: Scope[]) => {
    const sent = { "x-api-key": await yard.keyOf("ann", scopes), body: { server: "none", uri: "a:b" } };
    return (await yard.call(`POST /api/v1/conversations/${made.id}/mcp-resources`, sent)).code;
  };
  const [missing, missed] = ["scope_missing", "conversation_not_found"];
  assert.deepEqual(
    [await attach("files"), await attach("chat"), await attach("chat", "files")],
    [missing, missing, missed],
  );
});

test("only admins have the machine of the server searched for model servers [C6][Q1]", async (t) => {
  let asked = 0;
  const local = createServer((_, outgoing) => {
    asked += 1;
    outgoing.writeHead(404).end();
  });
  local.listen(0, "127.0.0.1");
  await once(local, "listening");
  t.after(() => local.close());
  const address = local.address();
  assert.ok(typeof address === "object" && address !== null);
  await using yard = await peopledYard({}, { localPorts: { ollama: address.port } });
  const list = async (key: string) => (await yard.call("GET /api/v1/models?detect=true", { "x-api-key": key })).status;
  const admin = await yard.keyOf("root", ["admin"]);
  assert.deepEqual([await list(await yard.keyOf("ann")), asked], [200, 0]);
  assert.deepEqual([await list(admin), asked > 0], [200, true]);
});

test("who speaks for one user and names another hears for whom they speak, not whether the other exists [C6][Q1]", async () => {
  await using yard = await peopledYard();
  const authorization = `Bearer ${await yard.keyOf("ada")}`;
  await yard.keyOf("bob");
  const told = async (user: string) => {
    const { status, text } = await yard.call("GET /api/v1/conversations", { authorization, "x-account-id": user });
    return [status, detailIn(text)];
  };
  for (const user of ["bob", "nobody"])
    assert.deepEqual(await told(user), [
      404,
      `This key or sign-in speaks for ada, not for ${user}. Name ada or nobody.`,
    ]);
});

test("nobody has to sign in until there is a user; from then on everybody does, at once and on this machine too [C6][S7]", async () => {
  await using yard = await startYard();
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const { address, close } = server.value;
  try {
    const ask = async (headers: Record<string, string> = {}, path = "/api/v1/conversations") => {
      const response = await fetch(`${address}${path}`, { headers });
      await response.body?.cancel();
      return { status: response.status, asked: response.headers.get("www-authenticate") };
    };
    assert.equal((await ask()).status, 200);
    const added = await must(yard.client.call("addUser", { body: { id: "ann" } }));
    assert.deepEqual([added.isAdmin, added.hasPassword], [true, false]);
    assert.deepEqual(await ask(), { status: 401, asked: 'Bearer realm="AgentYard"' });
    assert.equal((await ask({}, "/api/v1/nothing")).status, 401, "nor is told what there is");
    for (const path of ["/api/v1/health", "/api/v1/openapi.json", "/sign-in"])
      assert.equal((await ask({}, path)).status, 200, path);
    const { key } = await must(yard.client.call("addKey", { params: { user: "ann" }, body: {} }));
    assert.ok(key !== null);
    assert.equal((await ask({ authorization: `Bearer ${key}` })).status, 200);
    assert.equal((await ask({ authorization: `bearer ${key}` })).status, 200);
    assert.equal((await ask({ "x-api-key": key })).status, 200);
    const wrong = await ask({ authorization: "Bearer ay_wrong" });
    assert.deepEqual(wrong, { status: 401, asked: 'Bearer realm="AgentYard", error="invalid_token"' });
    assert.equal((await ask({ authorization: `Basic ${btoa(`ann:${key}`)}` })).status, 401);
    await must(yard.client.call("removeUser", { params: { user: "ann" } }));
    assert.equal((await ask()).status, 200, "as before");
  } finally {
    await close();
  }
});

test("users and keys outlive the process [C6]", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-users-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  let key: string | null = null;
  {
    await using yard = await startYard({ data });
    await must(yard.client.call("addUser", { body: { id: "ann", name: "安", password: "a good password" } }));
    ({ key } = await must(yard.client.call("addKey", { params: { user: "ann" }, body: { name: "k", days: 1 } })));
  }
  await using yard = await startYard({ data });
  assert.equal((await callOver(yard.app, "GET /api/v1/me")).status, 401);
  const me = await callOver(yard.app, "GET /api/v1/me", { authorization: `Bearer ${key}` });
  const { user, ...rest } = JSON.parse(me.text);
  assert.deepEqual(
    [user.id, user.name, user.hasPassword, rest],
    ["ann", "安", true, { scopes: ["chat", "files"], by: "key" }],
  );
  const { items } = await must(yard.client.call("listKeys", { params: { user: "ann" } }));
  assert.ok(items[0]?.usedAt, "and when it was used");
  const files = await readdir(data, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(file.parentPath, file.name), "latin1");
    for (const secret of [key ?? "", "a good password"]) assert.ok(!bytes.includes(secret), file.name);
  }
});

test("a key is for what it was made for, and cannot make itself another one [C6]", async () => {
  await using yard = await peopledYard();
  const admin = await yard.keyOf("root", ["admin"]);
  const chat = await yard.keyOf("ann", ["chat"]);
  await yard.start("c", OwnerId.parse("ann"));
  const asked = async (key: string, wanted: string, body?: unknown) => {
    const { status, code } = await yard.call(wanted, { authorization: `Bearer ${key}`, body });
    return `${status} ${code}`.trim();
  };
  assert.equal(await asked(chat, "GET /api/v1/models"), "200", "any key will do");
  assert.equal(await asked(chat, "POST /api/v1/users", { id: "eve" }), "403 scope_missing");
  assert.equal(await asked(chat, "POST /api/v1/users/ann/keys", {}), "403 scope_missing", "nor one of its own user");
  assert.equal(await asked(chat, "PUT /api/v1/users/ann/password", { password: "x".repeat(9) }), "403 scope_missing");
  assert.equal(await asked(chat, "GET /api/v1/users/root/keys"), "404 user_unknown");
  assert.equal(await asked(chat, "GET /api/v1/users/nobody/keys"), "404 user_unknown", "the same as for nobody");
  assert.equal(await asked(admin, "GET /api/v1/conversations"), "403 scope_missing");
  assert.equal(await asked(admin, "GET /api/v1/users"), "200");
  assert.equal(await asked(admin, "POST /api/v1/users/ann/keys", { scopes: ["chat"] }), "201");
  assert.equal(await asked(admin, "POST /api/v1/users/ann/keys", { scopes: ["admin"] }), "403 scope_missing");
  assert.equal(await asked(admin, "POST /api/v1/users/ann/keys", { scopes: [] }), "400 bad_request");
  assert.equal(await asked(admin, "DELETE /api/v1/users/ann/keys/nothing"), "404 key_not_found");
  assert.equal(await asked(admin, "DELETE /api/v1/users/ann"), "204");
  assert.equal(await asked(chat, "GET /api/v1/conversations"), "401 sign_in_required", "at once");
});

test("a user has so many keys and no more, until one is removed [C6]", async () => {
  await using yard = await peopledYard();
  await yard.addUser({ id: "ann" });
  const params = { user: "ann" };
  const add = async () => {
    const made = await yard.client.call("addKey", { params, body: {} });
    return made.ok ? "made" : [made.failure.status, made.failure.code, made.failure.params];
  };
  const { keysMax } = userLimits;
  for (let n = 1; n <= keysMax; n += 1) assert.equal(await add(), "made");
  assert.deepEqual(await add(), [409, "keys_full", { max: keysMax }]);
  const { items } = await must(yard.client.call("listKeys", { params }));
  await must(yard.client.call("removeKey", { params: { ...params, key: items[0]?.id ?? "" } }));
  assert.equal(await add(), "made");
});

test("no key stands in a log file, whatever is written there [C6][Q1]", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "agentyard-logs-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await using yard = await peopledYard();
  const key = await yard.keyOf("ann");
  const place = { dir, level: "debug", clock: systemClock, startId: "r", pid: 1 } as const;
  const logger = openLogs({ ...place, secrets: [], onOff: assert.fail });
  logger.info(`somebody pasted ${key} into a name`, { header: `Bearer ${key}`, x: { apiKey: key } });
  await logger.close();
  const text = await readFile(logger.path ?? "", "utf8");
  assert.ok(text.includes("[redacted]") && !text.includes(key.slice(3)), text);
});

function detailIn(text: string): string {
  return Problem.parse(JSON.parse(text)).detail;
}

test("no sign that stands for others finds a conversation, and nobody deletes by the beginning of an id [C6][Q1]", async () => {
  await using yard = await peopledYard();
  const [ann, bob] = [{ "x-api-key": await yard.keyOf("ann") }, { "x-api-key": await yard.keyOf("bob") }];
  const { id } = JSON.parse((await yard.call("POST /api/v1/conversations", { ...ann, body: {} })).text);
  const statusOf = async (wanted: string, who = ann) => (await yard.call(wanted, who)).status;
  const found = (part: string, who = ann) => statusOf(`GET /api/v1/conversations/${part}?prefix=true`, who);
  for (const sign of ["%25", "_", "_".repeat(36), "*", `${id.slice(0, 7)}%25`, `${id.slice(0, 7)}_`, "%00"])
    assert.equal(await found(sign), 404, sign);
  for (const part of [id, id.slice(0, 8), id.slice(0, 1)])
    assert.deepEqual([await found(part), await found(part, bob)], [200, 404], part);
  assert.equal(await statusOf(`DELETE /api/v1/conversations/${id.slice(0, 8)}?prefix=true`), 404);
  assert.equal(await found(id), 200);
});
