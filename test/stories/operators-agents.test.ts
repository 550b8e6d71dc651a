import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { until } from "../world/events.ts";
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
  assert.deepEqual(
    yard.operators.tools(ann).map(({ name }) => name),
    ["Weather__getForecast"],
  );
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
