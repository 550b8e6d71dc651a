import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { operatorHandlers } from "./operators.ts";

const ann = OwnerId.parse("ann");
const at = { owner: ann, caller: { signedIn: ann, scopes: ["chat"] }, params: { box_id: "b", tool_id: "t2" } } as const;
const actor = { owner: ann, isAdmin: false };
const box = {
  ...{ id: "b", owner: ann, name: "Weather", description: "", server: "https://a.example", category: "data" },
  ...{ createdAt: 1, updatedAt: 2, status: "published", permitted: { all: false, users: [] } },
};
const tool = (id: string, name: string, status = "enabled", updatedAt = 0) => ({
  ...{ id, owner: ann, createdAt: -updatedAt, updatedAt, box: "b", status, useRule: "", fixed: [] },
  operation: { name, summary: "", description: "", method: "get", path: "/", parameters: [], schema: {} },
});
const tools = [tool("t1", "Rain", "enabled", 3), tool("t2", "sun", "disabled", 1), tool("t3", "rainbow", "enabled", 2)];

test("tools come from a document or by hand, with what is fixed of them; what is neither is refused [T4]", async () => {
  const added: unknown[] = [];
  const { addBoxTools } = operatorHandlers(
    partsWith({
      ids: systemIds,
      operators: {
        addTools: async (...of) => noted(added, of, ok({ tools: [], failures: [], renamed: [] })),
      },
    }),
  );
  const add = async (body: object) => {
    const answer = await addBoxTools(asked("addBoxTools", { ...at, body }));
    return answer.ok ? added.splice(0) : answer.failure.params;
  };
  const none = { useRule: undefined, extendInfo: undefined, fixed: [] };
  assert.deepEqual(await add({ data: "{}" }), [[actor, "b", { from: { document: "{}" }, ...none }]]);
  const hand = { name: "a" };
  const about = { use_rule: "ask", extend_info: { a: 1 }, global_parameters: { name: "n", in: "query" } };
  assert.deepEqual(await add({ data: "{}", tool: hand, ...about }), [
    [
      ...[actor, "b"],
      { from: { hand }, useRule: "ask", extendInfo: { a: 1 }, fixed: [{ name: "n", in: "query", value: null }] },
    ],
  ]);
  assert.deepEqual(await add({}), { what: "body.data", rule: "missing" });
  const functions = { parameter: "metadata_type", hint: "openapi_only" };
  assert.deepEqual(await add({ data: "{}", metadata_type: "function" }), functions);
  assert.deepEqual(await add({ data: "{}", function_input: {} }), functions);
  assert.equal(Object(await add({ data: "{}", function_input: null })).length, 1);
});

test("what was added is counted, and what was not is told with its name, its code and why in the reader's language [T4][P4]", async () => {
  const refused = { name: "bad", failure: makeFailure("storage_full", {}) };
  const outcome = { tools: [tools[0], tools[1]], failures: [refused], renamed: [{ from: "a", to: "b" }] };
  const { addBoxTools } = operatorHandlers(
    partsWith({ ids: systemIds, operators: { addTools: async () => ok(outcome) } }),
  );
  const told = async (language: "en" | "zh") => {
    const answer = await addBoxTools(asked("addBoxTools", { ...at, body: { data: "{}" }, language }));
    assert.ok(answer.ok);
    const { failures, ...rest } = answer.value;
    assert.deepEqual(rest, {
      ...{ box_id: "b", success_count: 2, success_ids: ["t1", "t2"], failure_count: 1 },
      renamed: [{ from: "a", to: "b" }],
    });
    assert.deepEqual([failures[0]?.tool_name, failures[0]?.error_code], ["bad", "storage_full"]);
    return failures[0]?.error_msg ?? "";
  };
  assert.match(await told("en"), /\. \S/);
  assert.doesNotMatch(await told("zh"), /。 /);
});

test("of the tools of a box come those that were asked for, in the order that was, and one by its id [T4]", async () => {
  const { listBoxTools, getBoxTool } = operatorHandlers(
    partsWith({
      ids: systemIds,
      operators: {
        find: (owner, id) => (owner === ann && id === "b" ? ok({ box, tools }) : failure("toolbox_not_found", { id })),
      },
    }),
  );
  const list = async (query: object, params: { box_id: string } = at.params) => {
    const usual = { page: 1, page_size: 10, all: false, sort_order: "asc", sort_by: "name" };
    const answer = await listBoxTools(asked("listBoxTools", { ...at, params, query: Object({ ...usual, ...query }) }));
    return answer.ok ? answer.value.tools.map(({ name }) => name).join(" ") : answer.failure.code;
  };
  assert.equal(await list({}), "Rain rainbow sun");
  assert.equal(await list({ sort_by: "tool_name", sort_order: "desc" }), "sun rainbow Rain");
  assert.equal(await list({ sort_by: "update_time" }), "sun rainbow Rain");
  assert.equal(await list({ sort_by: "create_time" }), "Rain rainbow sun");
  assert.equal(await list({ name: "RAIN" }), "Rain rainbow");
  assert.equal(await list({ status: "disabled" }), "sun");
  assert.equal(await list({}, { box_id: "x" }), "toolbox_not_found");
  assert.equal(await list({}, { box_id: "sandbox" }), "execute_code");
  const one = async (params: { box_id: string; tool_id: string }) => {
    const answer = await getBoxTool(asked("getBoxTool", { ...at, params }));
    return answer.ok ? answer.value.name : answer.failure.code;
  };
  assert.equal(await one(at.params), "sun");
  assert.equal(await one({ box_id: "b", tool_id: "t9" }), "toolbox_tool_not_found");
  assert.equal(await one({ box_id: "x", tool_id: "t1" }), "toolbox_not_found");
  assert.equal(await one({ box_id: "sandbox", tool_id: "execute_code" }), "execute_code");
});

test("what is changed of a box and its tools is told as it is then, and a refusal as that [T4]", async () => {
  const done: unknown[] = [];
  let isRefused = false;
  const refusal = failure("toolbox_not_found", { id: "b" });
  const answer = <T>(what: unknown, value: T) => noted(done, what, isRefused ? refusal : ok(value));
  const handlers = operatorHandlers(
    partsWith({
      ids: systemIds,
      operators: {
        remove: async (...of) => answer(["remove", ...of], undefined),
        setStatus: async (...of) => answer(["status", ...of], { box: { ...box, status: "offline" } }),
        setToolStatus: async (...of) => answer(["tools", ...of], undefined),
        removeTools: async (...of) => answer(["removeTools", ...of], undefined),
      },
    }),
  );
  const status = [{ tool_id: "t1", status: "disabled" as const }];
  const all = async () => [
    await handlers.deleteToolBox(asked("deleteToolBox", at)),
    await handlers.setToolBoxStatus(asked("setToolBoxStatus", { ...at, body: { status: "published" } })),
    await handlers.setBoxToolStatus(asked("setBoxToolStatus", { ...at, body: status })),
    await handlers.deleteBoxTools(asked("deleteBoxTools", { ...at, body: { tool_ids: ["t1"] } })),
  ];
  assert.deepEqual(await all(), [
    ok({ box_id: "b" }),
    ok({ box_id: "b", status: "offline" }),
    ok(status),
    ok({ box_id: "b", tool_ids: ["t1"] }),
  ]);
  assert.deepEqual(done, [
    ["remove", actor, "b"],
    ["status", actor, "b", "published"],
    ["tools", actor, "b", [{ id: "t1", status: "disabled" }]],
    ["removeTools", actor, "b", ["t1"]],
  ]);
  isRefused = true;
  assert.deepEqual(await all(), [refusal, refusal, refusal, refusal]);
});
