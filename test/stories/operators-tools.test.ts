import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { operatorRoutes } from "../../src/protocol/operator-routes.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { weatherService } from "../world/weather-service.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const token = "wx-5e0b7cc4d19a4f02";

test("an agent calls a tool of a box; the token is in no prompt, event, log or answer, and what changes something asks [T4][Q1][H1]", async () => {
  await using service = await weatherService(token);
  await using model = await modelServer([
    calls(["find_tools", { query: "weather forecast of a city" }]),
    calls(["use_tool", { name: "Weather__getForecast", arguments: { city: "Hamburg", days: "2" } }]),
    calls(["Weather__getBroken", { city: ".." }], ["Weather__getBroken", { city: "Rom" }]),
    calls(["Weather__sendReport", { city: "Rom", note: "sunny", Authorization: "Bearer mine" }]),
    says("Clear."),
  ]);
  await using yard = await startYard({ model });
  const id = await register(yard, service.document);
  await until(
    "it is known, also to a server that did not register it",
    () => yard.operators.tools(localOwner).length > 0,
  );
  assert.deepEqual(
    yard.operators.tools(localOwner).map(({ name }) => name),
    ["Weather__getForecast", "Weather__getBroken", "Weather__sendReport"],
  );
  const asked = await yard.ask("How is the weather in Hamburg?");
  assert.equal(asked.status, "waiting");
  const decision = asked.events.findLast((event) => event.type === "decision.asked");
  assert.match(JSON.stringify(decision), /talks to the network|"kind":"network"/);
  assert.deepEqual(
    service.asked.map(({ line }) => line),
    ["GET /v1/forecast/Hamburg?days=2", "GET /v1/broken/Rom"],
    "nothing was changed before somebody said yes",
  );
  const { items } = await must(yard.client.call("listDecisions", {}));
  const params = { id: asked.conversation, decision: items[0]?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "approve" } }));
  const { answer, events } = await yard.whenAtRest(asked.conversation);
  assert.equal(answer, "Clear.");
  const results = events.flatMap((event) => (event.type === "call.finished" ? [event.text] : []));
  assert.match(results[1] ?? "", /HTTP 200 application\/json[\s\S]*"sky":"clear","seen":"Bearer \[redacted\]"/);
  assert.match(results[2] ?? "", /path\.city/);
  assert.match(results[3] ?? "", /HTTP 500/);
  assert.deepEqual(service.asked.at(-1)?.body, '{"city":"Rom","note":"sunny"}');
  assert.deepEqual(new Set(service.asked.map(({ headers }) => headers.authorization)), new Set([`Bearer ${token}`]));

  const prompts = model.asked.map(({ text }) => text).join("\n");
  assert.match(prompts, /Weather__getForecast/);
  const state = await must(yard.client.call("readEvents", { params: { id: asked.conversation } }));
  for (const said of [prompts, JSON.stringify(events), JSON.stringify(state)])
    assert.equal(said.includes(token), false);
  assert.deepEqual(filesWith(yard.data, token), []);

  await must(yard.client.call("setToolBoxStatus", { params: { box_id: id }, body: { status: "offline" } }));
  model.answerWith([calls(["Weather__getForecast", { city: "Kiel" }]), says("Gone.")]);
  const later = await yard.ask("And Kiel?");
  assert.match(JSON.stringify(later.events), /tool_not_found/, "told of before, and not there any more");
  assert.equal(service.asked.length, 3);
});

test("agents of another user have no tool of a box that is not permitted to them, and everybody's list stays the same object [T4][S7]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard({ isOneProcess: true });
  const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob")];
  const none = yard.operators.tools(bob);
  assert.deepEqual(none, []);
  const box_id = await register(yard, service.document, { permitted_users: ["ann"] });
  const hers = yard.operators.tools(ann);
  assert.equal(hers.length, 3);
  assert.equal(yard.operators.tools(bob), none, "what is not theirs changes nothing for them");
  const params = { box_id };
  const { tools } = await must(yard.client.call("listBoxTools", { params, query: { all: true } }));
  const off = tools
    .filter(({ name }) => name !== "getForecast")
    .map(({ tool_id }) => ({ tool_id, status: "disabled" as const }));
  await must(yard.client.call("setBoxToolStatus", { params, body: off }));
  assert.deepEqual([yard.operators.tools(ann).map(({ name }) => name)], [["Weather__getForecast"]]);
  assert.equal(yard.operators.tools(ann), yard.operators.tools(ann));
  const { signal } = new AbortController();
  const nothing = { path: {}, query: {}, header: {}, cookie: {}, body: undefined };
  const asked = await yard.operators.invoke(ann, { box: box_id, tool: "gone", envelope: nothing }, signal);
  assert.equal(!asked.ok && asked.failure.code, "toolbox_tool_not_found");
  await must(yard.client.call("deleteToolBox", { params }));
  assert.deepEqual(yard.operators.tools(ann), []);
  const found = yard.operators.find(ann, box_id);
  assert.equal(!found.ok && found.failure.code, "toolbox_not_found");
});

async function register(yard: TestYard, data: string, more: { permitted_users?: string[] } = {}): Promise<string> {
  const permitted_users = more.permitted_users?.map((user) => OwnerId.parse(user));
  const body = { metadata_type: "openapi", data, credential: { type: "bearer", token }, permitted_users } as const;
  const { box_id } = await must(yard.client.call("createToolBox", { body }));
  await must(yard.client.call("setToolBoxStatus", { params: { box_id }, body: { status: "published" } }));
  return box_id;
}

/** All files below a folder that hold a text. */
function filesWith(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path).includes(text));
}

// What is found among tool boxes and their tools, and how long one that is called is waited for.

test("tool boxes and their tools are found by what they are called, what they are and who made them [T4]", async () => {
  await using service = await weatherService(token);
  await using yard = await startYard();
  const { call } = yard.client;
  const amy = createClient({ fetch: yard.fetch, actsAs: "amy" });
  const made = [];
  for (const [box_name, box_category] of [
    ["Rain", "weather"],
    ["Sunshine", "weather"],
    ["Trains", "travel"],
  ] as const) {
    const body = { metadata_type: "openapi", box_name, box_category, data: service.document } as const;
    made.push((await must(call("createToolBox", { body }))).box_id);
  }
  await must(
    amy.call("createToolBox", { body: { metadata_type: "openapi", box_name: "Hers", data: service.document } }),
  );
  const [rain = ""] = made;
  await must(call("setToolBoxStatus", { params: { box_id: rain }, body: { status: "published" } }));
  const boxes = async (query: object) => {
    const { data, total } = await must(
      call("listToolBoxes", { query: { sort_by: "name", sort_order: "asc", ...query } }),
    );
    assert.equal(data.length, total);
    return data.map(({ box_name }) => box_name);
  };
  assert.deepEqual(await boxes({}), ["Rain", "Sandbox", "Sunshine", "Trains"]);
  assert.deepEqual(await boxes({ sort_order: "desc" }), ["Trains", "Sunshine", "Sandbox", "Rain"]);
  assert.deepEqual(await boxes({ name: "RAIN" }), ["Rain", "Trains"]);
  assert.deepEqual(await boxes({ status: "published" }), ["Rain", "Sandbox"]);
  assert.deepEqual(await boxes({ category: "weather" }), ["Rain", "Sunshine"]);
  assert.deepEqual(await boxes({ create_user: "system" }), ["Sandbox"]);
  assert.deepEqual(await boxes({ create_user: "amy" }), []);
  assert.deepEqual(await boxes({ name: "s", category: "travel", create_user: "local" }), ["Trains"]);

  const params = { box_id: rain };
  const tools = async (query: object) => {
    const listed = await must(
      call("listBoxTools", { params, query: { sort_by: "name", sort_order: "asc", ...query } }),
    );
    return listed.tools;
  };
  const names = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);
  const all = await tools({});
  assert.deepEqual(names(all), ["getBroken", "getForecast", "sendReport"]);
  const [broken, forecast] = all;
  await must(call("setBoxToolStatus", { params, body: [{ tool_id: broken?.tool_id ?? "", status: "disabled" }] }));
  assert.deepEqual(names(await tools({ status: "disabled" })), ["getBroken"]);
  assert.deepEqual(names(await tools({ name: "GET", status: "enabled" })), ["getForecast"]);
  const tool = { ...params, tool_id: forecast?.tool_id ?? "" };
  assert.deepEqual(await must(call("getBoxTool", { params: tool })), forecast);
  const missing = await yard.app.request(
    operatorRoutes.getBoxTool.path.replace("{box_id}", rain).replace("{tool_id}", "none"),
  );
  assert.deepEqual([missing.status, /ToolNotFound/.test(await missing.text())], [404, true]);
});

test("a tool is waited for as long as its caller says, and half a minute where nothing is said [T4]", async () => {
  await using service = await weatherService(token);
  const waits: number[] = [];
  const after: typeof systemClock.after = (ms, action) => {
    waits.push(ms);
    return systemClock.after(ms, action);
  };
  await using yard = await startYard({ clock: { ...systemClock, after } });
  const { call } = yard.client;
  const body = { metadata_type: "openapi", data: service.document, credential: { type: "bearer", token } } as const;
  const { box_id, success_ids } = await must(call("createToolBox", { body }));
  const params = { box_id, tool_id: success_ids[0] ?? "" };
  const waited = async (more: object) => {
    waits.splice(0);
    const { status_code } = await must(call("debugTool", { params, body: { path: { city: "Rom" }, ...more } }));
    assert.equal(status_code, 200);
    return waits;
  };
  // Others wait for something else meanwhile.
  assert.ok((await waited({ timeout: 7 })).includes(7_000));
  for (const none of [{}, { timeout: 0 }, { timeout: null }]) assert.ok((await waited(none)).includes(30_000));
});

/** 60 operations, each of which needs the same 45 KB to be understood. */
const document = JSON.stringify({
  openapi: "3.1.0",
  info: { title: "T" },
  servers: [{ url: "https://pets.example" }],
  paths: Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `/p${at}`,
      { get: { operationId: `p${at}`, parameters: [{ name: "q", in: "query", schema: { $ref: "#/schemas/large" } }] } },
    ]),
  ),
  schemas: {
    large: {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 800 }, (_, at) => [`f${at}`, { type: "string", title: "some words" }]),
      ),
    },
  },
});

test("what one user registers has an end, also where few words say much, and what is left out is named in both languages [T4][Q1]", async (t) => {
  const data = folderWith(t, {});
  {
    await using yard = await startYard({ data });
    const first = await registerMany(yard, 1);
    assert.ok(first.success_count >= 40 && first.success_count < 60, `${first.success_count}`);
    assert.equal(first.success_count + first.failure_count, 60);
    assert.deepEqual(first.failures.at(-1), {
      tool_name: "p59",
      error_msg:
        "The tool box has no more room for it. The tools of one tool box take up to 2 MB; register the others in another one.",
      error_code: "operation_unfit",
    });
    for (const at of [2, 3, 4]) assert.equal((await registerMany(yard, at)).success_count, first.success_count);
  }
  await using yard = await startYard({ data });
  const last = await registerMany(yard, 5, "zh");
  assert.ok(last.success_count < 10, `${last.success_count}`);
  assert.equal(
    last.failures.at(-1)?.error_msg,
    "您的工具箱已放不下它。您所有工具箱的工具最多共占 8 MB；请删除不再使用的工具后重新添加。",
  );
  await must(yard.client.call("deleteToolBox", { params: { box_id: last.box_id } }));
  const { data: boxes } = await must(yard.client.call("listToolBoxes", { query: { name: "b1" } }));
  await must(yard.client.call("deleteToolBox", { params: { box_id: boxes[0]?.box_id ?? "" } }));
  assert.ok((await registerMany(yard, 6)).success_count >= 40, "what was removed makes room");
});

function registerMany({ fetch }: TestYard, at: number, language: "en" | "zh" = "en") {
  const { call } = createClient({ fetch, language });
  return must(call("createToolBox", { body: { metadata_type: "openapi", box_name: `b${at}`, data: document } }));
}
