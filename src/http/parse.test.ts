import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { parsePart } from "./parse.ts";

const schema = z.object({
  after: z.string().optional(),
  deep: z.object({ list: z.array(z.number()) }).optional(),
  ...{ a: z.number().optional(), b: z.number().optional(), c: z.number().optional(), d: z.number().optional() },
});

function said(part: "path" | "query" | "body", value: unknown) {
  const parsed = parsePart(part, schema, value, "en");
  return parsed.ok ? parsed.value : parsed.failure.params;
}

test("of a request that does not fit the first three faults are told, each with its place and none at length [P4]", () => {
  assert.deepEqual(said("body", { a: 1 }), { a: 1 });
  const what = (value: unknown) => {
    const told = said("body", value);
    return "what" in told ? String(told.what).split("; ") : [];
  };
  const places = (value: unknown) => what(value).map((one) => one.split(": ")[0]);
  assert.deepEqual(places({ deep: { list: [1, "x"] } }), ["body.deep.list.1"]);
  assert.deepEqual(places({ a: "", b: "", c: "" }), ["body.a", "body.b", "body.c"]);
  assert.deepEqual(places({ a: "", b: "", c: "", d: "" }), ["body.a", "body.b", "body.c"]);
  const long = z.object({ a: z.custom(() => false, { error: "x".repeat(300) }) });
  const parsed = parsePart("body", long, { a: 1 }, "en");
  assert.ok(!parsed.ok);
  assert.ok(parsed.failure.params.what.length <= "body.a: ".length + 200, parsed.failure.params.what);
});

test("a place in a stream that is no good is told as that where nothing else is wrong with the query [P4][C3]", () => {
  const rule = (part: "path" | "query" | "body", value: unknown) => Object(said(part, value)).rule;
  assert.equal(rule("query", { after: 1 }), "cursor");
  assert.equal(rule("query", { after: 1, a: "" }), undefined);
  assert.equal(rule("query", { a: "" }), undefined);
  assert.equal(rule("body", { after: 1 }), undefined);
});
