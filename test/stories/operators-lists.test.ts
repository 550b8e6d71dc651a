import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { createClient } from "../../src/client/client.ts";
import { operatorRoutes } from "../../src/protocol/operator-routes.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { playedProvider } from "../world/played-provider.ts";
import { weatherService } from "../world/weather-service.ts";
import { must, startYard } from "../world/yard.ts";

// What is found among tool boxes and their tools, and how long one that is called is waited for.

const token = "wx-5d0a64f1c83b4e2a";

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

test("a program of the sandbox's tool box is waited for as long as it may run, and a minute for its turn [T4][T2]", async () => {
  const waits: number[] = [];
  const after: typeof systemClock.after = (ms, action) => {
    waits.push(ms);
    return systemClock.after(ms, action);
  };
  const clock = { ...systemClock, after };
  const words = wordsFor("en");
  await using yard = await startYard({
    clock,
    openSandbox: ({ config, storage, logger }) =>
      openSandbox({
        ...{ provider: playedProvider(), storage, clock, ids: systemIds, logger, words, settings: config.sandbox },
      }),
  });
  const params = { box_id: "sandbox", tool_id: "execute_code" };
  const waited = async (said: object, body: object) => {
    waits.splice(0);
    const run = await must(
      yard.client.call("invokeTool", { params, body: { ...said, body: { code: "at once", ...body } } }),
    );
    assert.equal(run.status_code, 200);
    return waits;
  };
  assert.ok((await waited({}, { timeout: 7 })).includes(67_000));
  assert.ok((await waited({ timeout: 8 }, {})).includes(68_000));
  assert.ok(
    (await waited({ timeout: 8 }, { timeout: 9 })).includes(69_000),
    "what is said of the program itself counts",
  );
});
