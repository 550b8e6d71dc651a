import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test as testAlways } from "node:test";
import { DetailedHealth, SandboxSession } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, type Reply, until } from "./sandbox-http.ts";

// Sessions over HTTP, in both dialects, and where the public service whose dialect this is does otherwise.

let door: Door;

function test(says: string, shows: () => Promise<void>): void {
  void testAlways(says, { skip: cannotRunCode }, shows);
}

before(async () => {
  if (cannotRunCode === false) door = await openDoor();
});

after(() => door?.[Symbol.asyncDispose]());

const chinese = { headers: { "accept-language": "zh" } };
const pathOf = (user: string) => `/executions/sessions/sess-${user}`;
const as = (user: string) => ({ headers: { "x-account-id": user } });
const session = ({ body }: Reply) => SandboxSession.parse(body);
const health = async ({ get }: Door) => DetailedHealth.parse((await get("/health/detailed")).body);
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("a session in the platform's dialect is created, found under all its names, and deleted [S1]", async () => {
  const policy = { max_file_size: 1, max_file_size_unit: "MB", max_file_count: 2, allowed_file_types: [".CSV"] };
  const config = { session_id: "sb-session-seed", file_upload_config: policy };
  const body = { user_id: "seed", agent_id: "agent-1", business_domain_id: "bd-7", config };
  const created = await door.post("/sessions", body);
  const { session_id, status, created_at, ttl, info } = session(created);
  assert.deepEqual([created.status, session_id, status, ttl], [201, "sb-session-seed", "running", 7200]);
  assert.ok(Number.isInteger(created_at) && Math.abs(Number(created_at) - Date.now() / 1000) < 600);
  assert.deepEqual([info.agent_id, info.business_domain_id], ["agent-1", "bd-7"]);
  assert.deepEqual(info.file_upload_config, { ...policy, allowed_file_types: ["csv"] });
  for (const id of ["sb-session-seed", "sess-seed"])
    assert.deepEqual((await door.get(`/sessions/${id}`)).body, created.body);
  assert.deepEqual((await door.get("/sessions/sess-agent-default", as("seed"))).body, created.body);
  assert.equal((await door.remove("/sessions/sess-seed")).status, 204);
  assert.equal((await door.get("/sessions/sb-session-seed")).status, 404);
});

test("a session of the public dialect answers as the public service does, with the chat platform's fields beside [S1]", async () => {
  const wanted = { id: "my-box", template_id: "python-basic", cpu: "0.5", memory: "512Mi", disk: "1Gi", timeout: 120 };
  const created = await door.post("/sessions", wanted, as("pub"));
  const made = session(created);
  assert.equal(created.status, 201);
  assert.deepEqual(
    [made.id, made.session_id, made.status, made.template_id, made.timeout, made.ttl, made.info.user_id],
    ["my-box", "my-box", "running", "python-basic", 120, 7200, "pub"],
  );
  const limit = { cpu: "0.5", memory: "512Mi", disk: "1Gi", max_processes: 128 };
  assert.deepEqual(made.resource_limit, limit);
  const terminated = session(await door.post("/sessions/my-box/terminate", {}, as("pub")));
  assert.deepEqual([terminated.status, typeof terminated.completed_at], ["terminated", "string"]);
  const again = await door.post("/sessions/my-box/terminate", {}, as("pub"));
  assert.deepEqual([again.status, again.body.status], [200, "terminated"]);
});

test("a session that is alive is a conflict that carries it, or the answer when that is wished [S1]", async () => {
  const first = await door.post("/sessions", { user_id: "twice" });
  const second = await door.post("/sessions", { user_id: "twice" });
  assert.deepEqual([first.status, second.status, second.body.code], [201, 409, "session_exists"]);
  assert.deepEqual(second.body.session, first.body);
  const third = await door.post("/sessions?if_exists=return", { user_id: "twice" });
  assert.deepEqual([third.status, third.body], [200, first.body]);
});

test("a stranger reaches nothing: no session, no execution, no inner route, no other site [X2][S7]", async () => {
  const { execution_id: id } = (await door.post("/executions/sessions/sess-owner/execute", { code: "1" })).body;
  const eve = as("eve");
  const refused = await Promise.all([
    door.get("/sessions/sess-owner", eve),
    door.remove("/sessions/sess-owner", eve),
    door.post("/executions/sessions/sess-owner/execute", { code: "1" }, eve),
    door.get(`/executions/${id}/result`, eve),
    door.get(`/executions/${id}/stream`, eve),
    door.post(`/executions/${id}/cancel`, {}, eve),
    door.post(`/internal/executions/${id}/result`, { status: "success" }),
    door.post("/internal/containers/ready", {}),
  ]);
  assert.deepEqual(
    refused.map(({ status }) => status),
    [404, 404, 404, 404, 404, 404, 404, 404],
  );
  const elsewhere = await door.get("/sessions", { headers: { origin: "https://example.com" } });
  const { headers } = await door.get("/sessions");
  assert.deepEqual([elsewhere.status, headers.get("access-control-allow-origin")], [403, null]);
  assert.equal((await door.get(`/executions/${id}/result`)).status, 200);
});

test("a session says what isolation it has, and without isolation nothing is run [X2][X3]", async () => {
  const { degraded } = (await health(door)).dependencies.sandbox;
  const told = session(await door.post("/sessions", { user_id: "honest" })).info.isolation;
  assert.deepEqual(told, { level: degraded.length === 0 ? "full" : "degraded", degraded });
  await using bare = await openDoor({ runsCode: false });
  const refused = await bare.post("/executions/sessions/sess-a/execute", { code: "print(1)" });
  assert.deepEqual([refused.status, refused.body.code], [503, "sandbox_unavailable"]);
  assert.equal((await health(bare)).status, "unhealthy");
});

test("whatever is wrong is told in one shape with a stable code and a text [X2]", async () => {
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]));
  const run = "/executions/sessions/sess-a/execute";
  const wrong: readonly (readonly [Promise<Reply>, string])[] = [
    [door.post("/sessions", { id: "x", template_id: "nope" }), "404 template_not_found"],
    [door.get("/templates/nope"), "404 template_not_found"],
    [door.post("/sessions", { memory: "1GB" }), "400 bad_request"],
    [door.post(run, { code: "" }), "400 bad_request"],
    [door.post(run, { code: "1", timeout: 86_401 }), "400 bad_request"],
    [door.post(run, { code: "1", language: "cobol" }), "400 bad_request"],
    [door.post(run, { code: "1", conversation_id: "../a" }), "400 bad_request"],
    [door.post(run, { code: "1", conversation_id: "c14", working_directory: "../b" }), "400 path_traversal_blocked"],
    [door.post(run, { code: "#".repeat(5_000_000) }), "413 code_too_long"],
    [door.post(run, { code: "1", env_vars: names(201) }), "400 bad_request"],
    [door.post(run, { code: "1", event: names(20_001) }), "400 bad_request"],
    [door.post("/sessions", { user_id: "names", env_vars: names(201) }), "400 bad_request"],
    [door.get("/executions/nope/status"), "404 execution_not_found"],
    [
      door.post("/sessions/sess-nobody/dependencies/install", { dependencies: [{ name: "six" }] }),
      "404 session_not_found",
    ],
    [door.post("/templates", {}), "405 method_not_allowed"],
  ];
  for (const [answered, expected] of wrong) {
    const { status, body } = await answered;
    assert.deepEqual([`${status} ${body.code}`, typeof body.detail], [expected, "string"]);
  }
});

test("ids that do not fit are refused with what does [X2][P5]", async () => {
  const odd = await door.post(`${pathOf("ids")}/execute`, { code: "1", conversation_id: "a/b" });
  assert.deepEqual([odd.status, odd.body.params], [400, { what: "conversation_id", rule: "conversation_id" }]);
  assert.match(String(odd.body.detail), /does not fit: conversation_id\. It has 1 to 64 letters/);
  const user = await door.post("/sessions", { user_id: "a b" }, chinese);
  assert.match(String(user.body.detail), /body\.user_id。它由 1 至 48 个字母/);
});

test("who asks for another's session, or for a second one, is told what a user has [S1][S7][P5]", async () => {
  const other = await door.post("/sessions", { user_id: "alice", config: { session_id: "sb-session-bob" } });
  assert.deepEqual(
    [other.status, other.body.code, other.body.title],
    [400, "session_of_another", "The id sb-session-bob names the sandbox session of another user than alice."],
  );
  await door.post("/sessions", { user_id: "carol", id: "mine" });
  const again = await door.post("/sessions", { user_id: "carol", id: "mine" });
  assert.equal(again.body.title, "There is a sandbox session mine already.");
  const second = await door.post("/sessions", { user_id: "carol", id: "more" });
  assert.deepEqual([second.status, second.body.params], [409, { id: "mine", asked: "more" }]);
  assert.match(String(second.body.detail), /^A user has one sandbox session, and yours is mine.*x-account-id\.$/);
});

test("a list of sessions is a page of the caller's own, whatever limit is asked for [S1][X2]", async () => {
  await door.post("/sessions", { user_id: "lister", template_id: "multi-language" });
  const list = async (query: string) => (await door.get(`/sessions${query}`, as("lister"))).body;
  const { items, ...page } = await list("?limit=100000");
  assert.deepEqual(page, { total: 1, limit: 200, offset: 0, has_more: false });
  assert.deepEqual(items, [(await door.get("/sessions/sess-lister")).body]);
  assert.deepEqual(await list("?limit=0&offset=1"), { items: [], total: 1, limit: 1, offset: 1, has_more: false });
  assert.equal((await list("?status=running&template_id=multi-language")).total, 1);
  assert.equal((await list("?status=terminated")).total, 0);
  assert.equal((await list("?template_id=python-basic")).total, 0);
  assert.equal((await door.get("/sessions?limit=many")).status, 400);
});

test("the end of a session ends programs, never files [X2][S1]", async () => {
  const kept = { conversation_id: "kept" };
  await door.run("x = 1; open('outputs/kept.txt', 'w').write('mine')", kept, "sess-keeper");
  for (const end of [() => door.post("/sessions/sess-keeper/terminate"), () => door.remove("/sessions/sess-keeper")]) {
    assert.ok((await end()).status < 300);
    const read = await door.run("print(open('outputs/kept.txt').read(), 'x' in globals())", kept, "sess-keeper");
    assert.equal(read.stdout, "mine False\n");
  }
});

test("a session is gone when it says so: its programs, its guests, its records [X2][S1]", async () => {
  const path = "/executions/sessions/sess-gone/execute";
  const { body } = await door.post(path, { code: "import time; time.sleep(600)", timeout: 900 });
  await until(async () => (await door.get(`/executions/${body.execution_id}/status`)).body.status === "running");
  const { guests } = (await health(door)).dependencies.sandbox;
  assert.equal((await door.remove("/sessions/sess-gone")).status, 204);
  const now = (await health(door)).dependencies.sandbox;
  assert.deepEqual([now.guests, now.running], [guests - 1, 0]);
  assert.equal((await door.get(`/executions/${body.execution_id}/status`)).status, 404);
  assert.equal((await door.get("/sessions/sess-gone")).status, 404);
});

test("variables that no program can have are refused, and the server goes on [X2][Q2]", async () => {
  const wrong = ["\u0001".repeat(20_000), "b\u0000c", "\ud800", "x".repeat(40_000)];
  for (const A of wrong) {
    const made = await door.post("/sessions", { user_id: "odd", env_vars: { A } });
    const ran = await door.post("/executions/sessions/sb-session-odd/execute", { code: "1", env_vars: { A } });
    assert.deepEqual([made.status, ran.status], [400, 400]);
  }
  const ran = await door.run("import os; print(len(os.environ['A']))", { env_vars: { A: "\n\t" } }, "sb-session-odd");
  assert.equal(ran.stdout, "2\n");
});

test("variables reach programs, and no answer tells their values [X2]", async () => {
  const wanted = { user_id: "keys", template_id: "python-basic", env_vars: { TOKEN: "s3cret-value" } };
  const answers = [
    await door.post("/sessions", wanted),
    await door.post("/sessions", wanted),
    await door.post("/sessions?if_exists=return", wanted),
    await door.get("/sessions/sess-keys"),
    await door.get("/sessions", as("keys")),
  ];
  const ran = await door.run(
    "import os; print(len(os.environ['TOKEN']), os.environ['OTHER'])",
    { env_vars: { OTHER: "o" } },
    "sess-keys",
  );
  assert.equal(ran.stdout, "12 o\n");
  answers.push(await door.post("/sessions/sess-keys/terminate"));
  assert.deepEqual(
    answers.filter(({ body }) => JSON.stringify(body).includes("s3cret")),
    [],
  );
  assert.deepEqual(answers[3]?.body.env_vars, { TOKEN: "***" });
});

test("health looks at database, files and sandbox, and says which of them is ill [X2]", async () => {
  const well = await health(door);
  assert.deepEqual([well.dependencies.database, well.dependencies.storage], [healthy, healthy]);
  assert.notEqual(well.dependencies.sandbox.status, "unhealthy");
  assert.ok(well.uptime > 0);

  const staging = join(door.yard.data, "staging");
  renameSync(staging, `${staging}-away`);
  writeFileSync(staging, "no folder");
  const ill = await health(door);
  rmSync(staging);
  renameSync(`${staging}-away`, staging);
  assert.deepEqual([ill.status, ill.dependencies.storage.status], ["unhealthy", "unhealthy"]);
  assert.deepEqual(ill.dependencies.database, healthy);
  assert.equal((await health(door)).dependencies.storage.status, "healthy");

  const database = join(door.yard.data, "sessions.db");
  renameSync(database, `${database}-away`);
  const broken = await health(door);
  renameSync(`${database}-away`, database);
  assert.equal(broken.dependencies.database.status, "unhealthy");

  const synced = await door.post("/health/sync");
  assert.deepEqual([synced.status, synced.body.status], [200, "completed"]);
});

const healthy = { status: "healthy", error: null };

test("every time is UTC and says so [X2]", async () => {
  await door.post("/sessions", { id: "sess-times" });
  await door.run("1", {}, "sess-times");
  const { body } = await door.post("/sessions/sess-times/terminate");
  const execution = (await door.get("/executions/sessions/sess-times/executions")).body.items;
  const times = [...JSON.stringify([body, execution]).matchAll(/"(\w+_at)":("[^"]+")/g)];
  assert.deepEqual(
    times.filter(([, , time = ""]) => !iso.test(time.slice(1, -1))),
    [],
  );
  assert.deepEqual([...new Set(times.map(([, name]) => name))].sort(), [
    ...["completed_at", "created_at", "last_activity_at", "started_at", "updated_at"],
  ]);
});

test("templates are listed as the public service does, and cannot be changed [X2]", async () => {
  const { status, body } = await door.get("/templates");
  assert.equal(status, 200);
  assert.deepEqual(
    Object.values(body).map((template) => idOf(template)),
    ["python-basic", "multi-language"],
  );
  assert.deepEqual((await door.get("/templates/python-basic")).body, Object.values(body)[0]);
  const removed = await door.remove("/templates/python-basic");
  assert.deepEqual([removed.status, removed.headers.get("allow")], [405, "GET, HEAD"]);
});

function idOf(template: unknown): unknown {
  return typeof template === "object" && template !== null && "id" in template ? template.id : undefined;
}
