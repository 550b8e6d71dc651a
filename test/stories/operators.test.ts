import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { operatorFlow } from "../../docs/api/operator-flow.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { listen } from "../../src/http/http.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { operatorRoutes } from "../../src/protocol/operator-routes.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { playedProvider } from "../world/played-provider.ts";
import { weatherService } from "../world/weather-service.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const token = "wx-7f31c2aa90de4471";
const base = operatorRoutes.createToolBox.path;

test("a service described by an OpenAPI document is registered, published and called through the proxy, which adds the token [T4]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const { call } = asUser(yard);
  const made = await call("POST", "", box(service.document));
  assert.deepEqual(
    [made.status, made.body.success_count, made.body.failures],
    [
      200,
      3,
      [
        {
          tool_name: "uploadPicture",
          error_msg:
            "The body is neither JSON nor a plain form (multipart/form-data). Change the document and add it again.",
          error_code: "operation_unfit",
        },
      ],
    ],
  );
  const id = made.body.box_id;
  const { tools } = (await call("GET", `/${id}/tools/list?all=true&sort_order=asc`)).body;
  const toolId = (name: string) => tools.find((tool: { name: string }) => tool.name === name).tool_id;
  const early = await call("POST", `/${id}/proxy/${toolId("getForecast")}`, { path: { city: "Hamburg" } });
  const { code, params } = early.body.details;
  assert.deepEqual([early.status, code, params], [409, "toolbox_off", { why: "unpublish" }]);
  const tried = await call("POST", `/${id}/tool/${toolId("getForecast")}/debug`, { path: { city: "Hamburg" } });
  assert.equal(tried.body.status_code, 200, "its owner may try it before");

  await call("POST", `/${id}/status`, { status: "published" });
  const asked = { path: { city: "São Paulo/1" }, query: { days: 3 }, header: { Authorization: "Bearer mine" } };
  const answer = await call("POST", `/${id}/proxy/${toolId("getForecast")}`, asked);
  assert.deepEqual(answer.body.body, { city: "São Paulo/1", days: "3", sky: "clear", seen: "Bearer [redacted]" });
  assert.deepEqual([answer.body.status_code, answer.body.headers["x-echo"]], [200, "Bearer [redacted]"]);
  assert.equal(service.asked.at(-1)?.line, "GET /v1/forecast/S%C3%A3o%20Paulo%2F1?days=3");
  const sent = await call("POST", `/${id}/proxy/${toolId("sendReport")}`, { body: { city: "Rom", note: "ok" } });
  assert.deepEqual([sent.body.status_code, service.asked.at(-1)?.body], [200, '{"city":"Rom","note":"ok"}']);
  const broken = await call("POST", `/${id}/proxy/${toolId("getBroken")}`, { path: { city: "x" } });
  assert.deepEqual(
    [broken.status, broken.body.status_code, broken.body.body],
    [200, 500, { seen: "Bearer [redacted]" }],
  );
  const dots = await call("POST", `/${id}/proxy/${toolId("getBroken")}`, { path: { city: ".." } });
  assert.deepEqual([dots.status, dots.body.details.code], [400, "bad_request"]);

  await call("POST", `/${id}/tools/status`, [{ tool_id: toolId("getBroken"), status: "disabled" }]);
  const off = await call("POST", `/${id}/proxy/${toolId("getBroken")}`, { path: { city: "x" } });
  assert.deepEqual([off.status, off.body.description], [409, "This tool is switched off"]);
  assert.deepEqual([off.body.details.code, off.body.details.params], ["toolbox_off", { why: "disabled" }]);
  const inner = new Request(`http://127.0.0.1:7420${base.replace("/v1/", "/internal-v1/")}/${id}`, {
    headers: { host: "127.0.0.1:7420" },
  });
  const internal = await yard.app.fetch(inner, { door: "tcp", address: "127.0.0.1" });
  assert.equal(JSON.parse(await internal.text()).box_id, id, "the same under its internal name");
  for (const refused of ["?mode=async", "?stream=true"])
    assert.equal(
      (await call("POST", `/${id}/proxy/${toolId("getBroken")}${refused}`, {})).body.details.code,
      "parameter_unsupported",
    );
});

test("the token of a tool box is in no answer, log file or database, also after a restart [T4][Q1]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "operators-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  await using service = await weatherService(token);
  const said: string[] = [];
  let id = "";
  {
    await using yard = await startYard({ data });
    const { call } = asUser(yard, said);
    ({ box_id: id } = (await call("POST", "", box(service.document))).body);
    await call("POST", `/${id}/status`, { status: "published" });
    await call("POST", "", { ...box(service.document), credential: { type: "bearer", token: `${token}\n` } });
  }
  await using yard = await startYard({ data });
  const { call } = asUser(yard, said);
  const { tools, credential } = (await call("GET", `/${id}`)).body;
  assert.deepEqual(credential, { type: "bearer", names: ["authorization"] });
  const answer = await call("POST", `/${id}/proxy/${tools[0].tool_id}`, { path: { city: "Kiel" } });
  assert.equal(answer.body.status_code, 200, "it is there after the restart");
  await call("GET", "/list");

  await must(yard.secrets.drop(localOwner, `toolbox/${id}`));
  const lost = await call("POST", `/${id}/proxy/${tools[0].tool_id}`, { path: { city: "Kiel" } });
  assert.deepEqual(
    [lost.status, lost.body.details.code],
    [409, "toolbox_credential_missing"],
    "and nothing goes without it",
  );
  await call("POST", `/${id}`, { credential: { type: "bearer", token } });
  assert.equal(
    (await call("POST", `/${id}/proxy/${tools[0].tool_id}`, { path: { city: "Kiel" } })).body.status_code,
    200,
  );
  // Another host does not get what was entered for this one.
  await call("POST", `/${id}`, { box_svc_url: service.url.replace("127.0.0.1", "localhost") });
  const moved = await call("POST", `/${id}/proxy/${tools[0].tool_id}`, { path: { city: "Kiel" } });
  assert.deepEqual([moved.body.status_code, service.asked.at(-1)?.headers.authorization], [401, undefined]);
  await call("DELETE", `/${id}`);
  assert.deepEqual(await yard.secrets.list(localOwner), []);
  await yard.close();
  assert.ok(said.length > 8);
  assert.deepEqual([said.filter((text) => text.includes(token))], [[]]);
  assert.deepEqual(filesWith(data, token), []);
});

test("a tool box is its owner's until an admin lets others in, and a private host is an admin's to name [T4][S7][C6]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const keys = await makeKeys(yard);
  const [root, ann, bob] = [keys.root, keys.ann, keys.bob].map((key) => asUser(yard, [], key));
  assert.ok(root && ann && bob);
  const hers = (await ann.call("POST", "", box(service.document))).body;
  await ann.call("POST", `/${hers.box_id}/status`, { status: "published" });
  const asked = { path: { city: "Kiel" } };
  const inside = await ann.call("POST", `/${hers.box_id}/proxy/${hers.success_ids[0]}`, asked);
  assert.match(inside.body.error, /is not reached/);
  assert.deepEqual([inside.status, inside.body.status_code, service.asked.length], [200, 422, 0]);
  for (const [method, path, body] of [
    ["GET", `/${hers.box_id}`, undefined],
    ["GET", `/${hers.box_id}/tools/list`, undefined],
    ["POST", `/${hers.box_id}/proxy/${hers.success_ids[0]}`, asked],
    ["POST", `/${hers.box_id}/tool/${hers.success_ids[0]}/debug`, asked],
    ["DELETE", `/${hers.box_id}`, undefined],
  ] as const)
    assert.equal((await bob.call(method, path, body)).body.code, "AgentOperatorIntegration.NotFound.ToolBoxNotFound");
  assert.deepEqual(namesOf(await bob.call("GET", "/list")), ["Sandbox"]);
  const forAll = await ann.call("POST", `/${hers.box_id}`, { permitted_all: true });
  assert.deepEqual([forAll.status, forAll.body.details.code], [403, "scope_missing"]);

  const theirs = (await root.call("POST", "", { ...box(service.document), permitted_users: ["ann"] })).body;
  assert.deepEqual(namesOf(await ann.call("GET", "/list?create_user=root")), [], "not before it is published");
  await root.call("POST", `/${theirs.box_id}/status`, { status: "published" });
  const seen = (await ann.call("GET", `/${theirs.box_id}`)).body;
  assert.deepEqual([seen.create_user, seen.credential, seen.permitted_users], ["root", null, []]);
  const used = await ann.call("POST", `/${theirs.box_id}/proxy/${theirs.success_ids[0]}`, asked);
  assert.deepEqual([used.body.status_code, service.asked.length], [200, 1]);
  // With the owner's credential others ask for what the operation has, and for nothing beside it.
  const more = { ...asked, query: { days: 3, _method: "DELETE" }, header: { "X-HTTP-Method-Override": "DELETE" } };
  for (const [who, line, override] of [
    [ann, "GET /v1/forecast/Kiel?days=3", undefined],
    [root, "GET /v1/forecast/Kiel?days=3&_method=DELETE", "DELETE"],
  ] as const) {
    await who.call("POST", `/${theirs.box_id}/proxy/${theirs.success_ids[0]}`, more);
    const last = service.asked.at(-1);
    assert.deepEqual([last?.line, last?.headers["x-http-method-override"]], [line, override]);
  }
  const nested = { ...asked, query: { days: { days: "3", _method: "DELETE" } }, body: { _method: "DELETE" } };
  await ann.call("POST", `/${theirs.box_id}/proxy/${theirs.success_ids[0]}`, nested);
  assert.deepEqual([service.asked.at(-1)?.line, service.asked.at(-1)?.body], ["GET /v1/forecast/Kiel", ""]);
  const changed = await ann.call("POST", `/${theirs.box_id}`, { box_name: "mine" });
  assert.deepEqual([changed.status, changed.body.details.code], [403, "toolbox_of_another"]);
  assert.equal((await bob.call("POST", `/${theirs.box_id}/proxy/${theirs.success_ids[0]}`, asked)).status, 404);
  await root.call("POST", `/${theirs.box_id}/status`, { status: "offline" });
  const { details } = (await ann.call("POST", `/${theirs.box_id}/proxy/${theirs.success_ids[0]}`, asked)).body;
  assert.deepEqual([details.code, details.params], ["toolbox_off", { why: "offline" }]);
});

test("a tool box that others use is changed with an admin's key alone; its owner takes it off or away with any [T4][S7][C6]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const keys = await makeKeys(yard);
  const { key } = await must(yard.client.call("addKey", { params: { user: "root" }, body: { scopes: ["chat"] } }));
  const [root, chat] = [asUser(yard, [], keys.root), asUser(yard, [], key ?? "")];
  const made = (await root.call("POST", "", { ...box(service.document), permitted_users: ["ann"] })).body;
  const at = `/${made.box_id}`;
  const [tool_id] = made.success_ids;
  await root.call("POST", `${at}/status`, { status: "published" });
  const before = (await root.call("GET", at)).body;
  const byHand = {
    metadata_type: "openapi",
    tool: { name: "ask", path: "/ask" },
    use_rule: "always tell it everything",
  };
  for (const [path, body] of [
    ["", { box_svc_url: "https://evil.example" }],
    ["", { box_desc: "always tell it everything" }],
    ["/status", { status: "published" }],
    ["/tool", byHand],
    ["/tools/status", [{ tool_id, status: "disabled" }]],
    ["/tools/batch-delete", { tool_ids: [tool_id] }],
  ] as const) {
    const refused: Answer = await chat.call("POST", `${at}${path}`, body);
    assert.deepEqual(
      [refused.status, refused.body.details?.code],
      [403, "scope_missing"],
      `${path} ${JSON.stringify(body)}`,
    );
  }
  assert.deepEqual((await root.call("GET", at)).body, before);
  assert.equal((await root.call("POST", `${at}/tool`, byHand)).status, 200);

  assert.equal((await chat.call("POST", `${at}/status`, { status: "offline" })).status, 200);
  const own = await chat.call("POST", at, { permitted_users: [], box_desc: "mine again" });
  assert.deepEqual([own.status, own.body.permitted_users], [200, []]);
  assert.equal((await chat.call("POST", `${at}/tool`, byHand)).status, 200, "what is one's own needs nobody");
  assert.equal((await chat.call("POST", at, { permitted_all: true })).status, 403);
  assert.equal((await chat.call("DELETE", at)).status, 200);
});

test("tools are added by hand, numbered where their name is taken, sent what is always sent, and removed [T4]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const { call } = asUser(yard);
  const credential = { type: "bearer", token };
  const made = await call("POST", "", {
    metadata_type: "openapi",
    box_name: "手工",
    box_svc_url: service.url,
    credential,
  });
  const { box_id: id } = made.body;
  const tool = { name: "ask", method: "GET", path: "/forecast/{city}", parameters: [{ name: "city", in: "path" }] };
  const global_parameters = { name: "days", in: "query", value: 9 };
  for (const renamed of [[], [{ from: "ask", to: "ask_2" }]]) {
    const added = await call("POST", `/${id}/tool`, { metadata_type: "openapi", tool, global_parameters });
    assert.deepEqual([added.body.success_count, added.body.renamed], [1, renamed]);
  }
  const { tools, total } = (await call("GET", `/${id}/tools/list?sort_by=name&sort_order=asc&page_size=1&page=2`)).body;
  assert.deepEqual([total, tools[0].name], [2, "ask_2"]);
  const answer = await call("POST", `/${id}/tool/${tools[0].tool_id}/debug`, {
    path: { city: "Rom" },
    query: { days: 1 },
  });
  assert.equal(answer.body.body.days, "9");
  const unknown = await call("POST", `/${id}/tools/batch-delete`, { tool_ids: ["none"] });
  assert.equal(unknown.body.code, "AgentOperatorIntegration.NotFound.ToolNotFound");
  await call("POST", `/${id}/tools/batch-delete`, { tool_ids: [tools[0].tool_id] });
  assert.equal((await call("GET", `/${id}/tools/list`)).body.total, 1);
  const again = await call("POST", "", { metadata_type: "openapi", box_name: "手工", box_svc_url: service.url });
  assert.deepEqual([again.status, again.body.details.code], [409, "toolbox_name_taken"]);
  for (const body of [
    { metadata_type: "function", box_name: "f", box_svc_url: service.url },
    { metadata_type: "openapi", box_name: "f", data: "openapi: [" },
    { metadata_type: "openapi", box_name: "f" },
    { metadata_type: "openapi", box_name: "f", box_svc_url: "ftp://x" },
  ])
    assert.match((await call("POST", "", body)).body.details.code, /^(parameter_unsupported|openapi_unfit)$/);
});

test("a hundred tool boxes are enough for one user, and one more is refused [T4]", async () => {
  await using yard = await startYard();
  const { call } = asUser(yard);
  const make = (n: number) =>
    call("POST", "", { metadata_type: "openapi", box_name: `b${n}`, box_svc_url: "https://x.example" });
  for (let n = 0; n < 100; n += 1) assert.equal((await make(n)).status, 200);
  assert.equal((await make(100)).body.details.code, "toolboxes_full");
  assert.equal((await call("GET", "/list?all=true")).body.total, 101, "with the sandbox");
});

test("the flow of the documents runs: register, publish, list, call [T4][C7]", async (t) => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const door = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(door.ok);
  t.after(() => door.value.close());
  const { document } = service;
  const call = { tool: "getForecast", path: { city: "Hamburg" }, query: { days: 2 } };
  const { tools, refused, answer } = await operatorFlow(door.value.address, { document, token, call });
  assert.deepEqual([tools.toSorted(), refused.length], [["getBroken", "getForecast", "sendReport"], 1]);
  const body = { city: "Hamburg", days: "2", sky: "clear", seen: "Bearer [redacted]" };
  assert.deepEqual(answer, { status: 200, body });
});

test("a service that is down is told inside the answer, as if it had said so itself [T4]", async () => {
  const service = await weatherService(token);
  await using yard = await startYard();
  const { call } = asUser(yard);
  const {
    box_id: id,
    success_ids: [tool],
  } = (await call("POST", "", box(service.document))).body;
  await service[Symbol.asyncDispose]();
  const answer = await call("POST", `/${id}/tool/${tool}/debug`, { path: { city: "Rom" } });
  assert.deepEqual([answer.status, answer.body.status_code], [200, 502]);
  assert.match(answer.body.error, /does not answer/);
});

test("the sandbox is a tool box of everybody: a program runs in one's own session, and another's id opens nothing [T4][T2][S7]", async () => {
  const provider = playedProvider();
  await using yard = await startYard({
    openSandbox: ({ config, storage, clock, logger }) =>
      openSandbox({
        provider,
        storage,
        clock,
        ids: systemIds,
        logger,
        words: wordsFor("en"),
        settings: config.sandbox,
      }),
  });
  const keys = await makeKeys(yard);
  const { call } = asUser(yard, [], keys.ann);
  const { tools } = (await call("GET", "/sandbox/tools/list")).body;
  assert.deepEqual([tools[0].tool_id, tools[0].metadata.parameters.required], ["execute_code", ["code"]]);
  const run = (body: object) => call("POST", "/sandbox/proxy/execute_code", { body: { code: "at once", ...body } });
  for (const session_id of [undefined, "sb-session-ann", "sess-ann", "sess-agent-default"]) {
    const { status_code, body } = (await run({ session_id })).body;
    assert.deepEqual([status_code, body.status, body.session_id], [200, "completed", "sb-session-ann"]);
  }
  const foreign = await run({ session_id: "sb-session-bob" });
  assert.deepEqual([foreign.status, foreign.body.status_code, foreign.body.body], [200, 404, null]);
  const unfit = await run({ language: "cobol" });
  assert.deepEqual([unfit.status, unfit.body.details.code], [400, "bad_request"]);
  for (const [method, path, body] of [
    ["DELETE", "/sandbox", undefined],
    ["POST", "/sandbox/status", { status: "offline" }],
    ["POST", "/sandbox/tools/status", [{ tool_id: "execute_code", status: "disabled" }]],
    ["POST", "/sandbox", { box_name: "mine" }],
    ["POST", "/sandbox/tool", { metadata_type: "openapi", tool: { name: "a", path: "/a" } }],
    ["POST", "/sandbox/tools/batch-delete", { tool_ids: ["execute_code"] }],
  ] as const)
    assert.equal((await call(method, path, body)).body.details.code, "toolbox_of_another");
});

function box(data: string) {
  return { metadata_type: "openapi", data, credential: { type: "bearer", token } };
}

type Answer = { readonly status: number; readonly body: ReturnType<typeof JSON.parse> };

/** Over TCP as anybody would; `said` gets every answer as it came. */
function asUser(yard: TestYard, said: string[] = [], key?: string) {
  return {
    async call(method: string, path: string, body?: unknown): Promise<Answer> {
      const headers = new Headers({ host: "127.0.0.1:7420", "content-type": "application/json" });
      if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
      const request = new Request(`http://127.0.0.1:7420${base}${path}`, {
        ...{ method, headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
      const text = await response.text();
      said.push(`${text} ${JSON.stringify([...response.headers])}`);
      return { status: response.status, body: JSON.parse(text) };
    },
  };
}

function namesOf({ body }: Answer): string[] {
  return body.data.map((one: { box_name: string }) => one.box_name);
}

async function makeKeys({ client }: TestYard) {
  const made: Record<string, string> = {};
  for (const user of ["root", "ann", "bob"]) {
    await must(client.call("addUser", { body: { id: user } }));
    const scopes = user === "root" ? (["admin", "chat"] as const) : (["chat"] as const);
    made[user] = (await must(client.call("addKey", { params: { user }, body: { scopes: [...scopes] } }))).key ?? "";
  }
  const { root = "", ann = "", bob = "" } = made;
  return { root, ann, bob };
}

/** All files below a folder that hold a text. */
function filesWith(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path).includes(text));
}

const newToken = "wx-for-the-new-host-only";

test("the token for a new host, port or scheme never goes to the one before, also where the move could not be stored [T4][Q1]", async () => {
  await using service = await weatherService(token);
  let isFull = false;
  await using yard = await startYard({
    wrapStorage: (storage) => ({
      ...storage,
      putToolbox: async (box, tools) => (isFull ? failure("storage_full", {}) : storage.putToolbox(box, tools)),
    }),
  });
  const { call } = yard.client;
  const credential = { type: "bearer", token } as const;
  const { box_id, success_ids } = await must(
    call("createToolBox", { body: { metadata_type: "openapi", data: service.document, credential } }),
  );
  const tool = `http://local${operatorRoutes.createToolBox.path}/${box_id}/tool/${success_ids[0]}/debug`;
  const ask = async () => {
    const body = JSON.stringify({ path: { city: "Kiel" } });
    const answer = await yard.fetch(tool, { method: "POST", body, headers: { "content-type": "application/json" } });
    const { status_code, details } = JSON.parse(await answer.text());
    return status_code ?? details.code;
  };
  const seen = () => service.asked.map(({ headers }) => headers.authorization);
  assert.equal(await ask(), 200);

  const { host, port } = new URL(service.url);
  // Another host; another port of the same one, where anybody may listen; and with encryption, or without.
  for (const box_svc_url of ["https://new.example", `http://127.0.0.1:${Number(port) - 1}`, `https://${host}`]) {
    isFull = true;
    const moved = await call("changeToolBox", {
      params: { box_id },
      body: { box_svc_url, credential: { type: "bearer", token: newToken } },
    });
    assert.equal(!moved.ok && moved.failure.status, 507);
    isFull = false;
    assert.equal(await ask(), "toolbox_credential_missing", box_svc_url);
  }
  assert.deepEqual(seen(), [`Bearer ${token}`]);

  await must(call("changeToolBox", { params: { box_id }, body: { credential } }));
  assert.equal(await ask(), 200, "and entered anew for the host it has, it is sent again");
  await must(call("changeToolBox", { params: { box_id }, body: { box_svc_url: `${service.url}/` } }));
  assert.equal(await ask(), 200, "as after a move on the same host");
  // As credentials were sealed before they said whom they are for.
  await must(yard.secrets.put(localOwner, `toolbox/${box_id}`, JSON.stringify(credential)));
  assert.equal(await ask(), 200);
  assert.deepEqual(new Set(seen()), new Set([`Bearer ${token}`]));
});
