import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { folderWith } from "../world/folder.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

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
    const first = await register(yard, 1);
    assert.ok(first.success_count >= 40 && first.success_count < 60, `${first.success_count}`);
    assert.equal(first.success_count + first.failure_count, 60);
    assert.deepEqual(first.failures.at(-1), {
      tool_name: "p59",
      error_msg:
        "The tool box has no more room for it. The tools of one tool box take up to 2 MB; register the others in another one.",
      error_code: "operation_unfit",
    });
    for (const at of [2, 3, 4]) assert.equal((await register(yard, at)).success_count, first.success_count);
  }
  await using yard = await startYard({ data });
  const last = await register(yard, 5, "zh");
  assert.ok(last.success_count < 10, `${last.success_count}`);
  assert.equal(
    last.failures.at(-1)?.error_msg,
    "您的工具箱已放不下它。您所有工具箱的工具最多共占 8 MB；请删除不再使用的工具后重新添加。",
  );
  await must(yard.client.call("deleteToolBox", { params: { box_id: last.box_id } }));
  const { data: boxes } = await must(yard.client.call("listToolBoxes", { query: { name: "b1" } }));
  await must(yard.client.call("deleteToolBox", { params: { box_id: boxes[0]?.box_id ?? "" } }));
  assert.ok((await register(yard, 6)).success_count >= 40, "what was removed makes room");
});

function register({ fetch }: TestYard, at: number, language: "en" | "zh" = "en") {
  const { call } = createClient({ fetch, language });
  return must(call("createToolBox", { body: { metadata_type: "openapi", box_name: `b${at}`, data: document } }));
}
