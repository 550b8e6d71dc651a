import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { localOwner } from "../protocol/ids.ts";
import { foreignSchema } from "../tools/tools.ts";
import type { Json } from "./document.ts";
import { addTools, bytesIn, toolLimits } from "./new-tools.ts";
import type { Box, BoxTool } from "./records.ts";

const box: Box = {
  ...{ id: "b", owner: localOwner, createdAt: 0, updatedAt: 0, name: "b", description: "", status: "unpublish" },
  ...{ server: "https://pets.example", category: "other_category", isPrivateAllowed: false },
  permitted: { all: false, users: [] },
};

type Beside = { readonly tools?: readonly BoxTool[]; readonly userBytes?: number; readonly extendInfo?: unknown };

function added(paths: Json, { tools = [], userBytes = 0, extendInfo }: Beside = {}, more: Json = {}) {
  const document = { openapi: "3.1.0", paths, ...more };
  const given = { from: { document }, extendInfo };
  const read = { server: box.server, document, title: undefined, description: undefined, given };
  return addTools({ ids: systemIds, clock: systemClock }, { box, tools, userBytes }, read);
}

const one: Json = { "/a": { get: { operationId: "a" } } };
const several: Json = { "/a": { get: { operationId: "a" }, put: { operationId: "b" }, post: { operationId: "c" } } };

test("a tool box is filled to its last byte; what comes after is named, with how much there is room for [T4][Q1]", async () => {
  const { bytesPerBoxMax: limit } = toolLimits;
  const empty = bytesIn((await added(one, { extendInfo: "" })).tools);
  const filled = await added(one, { extendInfo: "x".repeat(limit - empty) });
  assert.deepEqual([filled.tools.length, bytesIn(filled.tools), filled.failures], [1, limit, []]);
  const failure = { code: "operation_unfit", params: { why: "too_large", limit, of: "toolbox" }, retryable: false };
  const over = await added(several, { extendInfo: "x".repeat(limit - empty + 1) });
  assert.deepEqual([over.tools, over.failures], [[], ["a", "b", "c"].map((name) => ({ name, failure }))]);
  const later = await added(several, { tools: filled.tools });
  assert.deepEqual([later.tools, later.failures.length, later.failures[0]?.failure], [[], 3, failure]);
});

test("all tool boxes of a user are filled to the last byte; what comes after is named [T4][Q1]", async () => {
  const { bytesPerUserMax: limit } = toolLimits;
  const size = bytesIn((await added(one)).tools);
  const filled = await added(one, { userBytes: limit - size });
  assert.deepEqual([filled.tools.length, filled.failures], [1, []]);
  const over = await added(one, { userBytes: limit - size + 1 });
  const failure = { code: "operation_unfit", params: { why: "too_large", limit, of: "user" }, retryable: false };
  assert.deepEqual([over.tools, over.failures], [[], [{ name: "a", failure }]]);
});

test("a document that says little and shows much fills a tool box by what it shows [T4][Q1]", async () => {
  const fields = (member: unknown) => Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, member]));
  const parameters = Object.keys(fields(1)).map((name) => ({ name, in: "query", schema: { $ref: "#/schemas/A" } }));
  const paths = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`/p${at}`, { get: { parameters } }]));
  const { tools, failures } = await added(paths, {}, { schemas: { A: { properties: fields({ type: "string" }) } } });
  const shown = tools.map(({ operation }) => JSON.stringify(foreignSchema(operation.schema).schema).length);
  const shownBytes = shown.reduce((sum, length) => sum + length, 0);
  assert.ok(shownBytes <= toolLimits.bytesPerBoxMax, `${shownBytes}`);
  assert.ok(shownBytes > toolLimits.bytesPerBoxMax * 0.9, "and no less than there is room for");
  assert.equal(tools.length + failures.length, 100);
});
