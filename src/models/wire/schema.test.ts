import assert from "node:assert/strict";
import { test } from "node:test";
import { toolSchema, withoutAddedNulls } from "./schema.ts";

const optional = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "integer", enum: [1, 2] }, c: { $ref: "#/$defs/c" } },
  required: ["a"],
  $defs: { c: { type: "object", properties: { d: { oneOf: [{ type: "string" }, { type: "null" }] } } } },
};

test("in strict mode every property is required and the optional ones may be null, at every depth [M3]", () => {
  assert.deepEqual(toolSchema({ name: "t", parameters: optional }, "openai-strict"), {
    strict: true,
    parameters: {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: ["integer", "null"], enum: [1, 2, null] },
        c: { anyOf: [{ $ref: "#/$defs/c" }, { type: "null" }] },
      },
      required: ["a", "b", "c"],
      additionalProperties: false,
      $defs: {
        c: {
          type: "object",
          properties: { d: { anyOf: [{ type: "string" }, { type: "null" }] } },
          required: ["d"],
          additionalProperties: false,
        },
      },
    },
  });
});

const open: [what: string, schema: Record<string, unknown>][] = [
  [
    "a free-form map",
    { type: "object", properties: { m: { type: "object", additionalProperties: { type: "string" } } } },
  ],
  ["an object without properties", { type: "object", properties: { m: { type: "object" } } }],
  ["a list of anything", { type: "object", properties: { l: { type: "array", items: true } } }],
  ["conditions", { type: "object", properties: {}, allOf: [{ required: ["a"] }] }],
];

for (const [what, parameters] of open) {
  test(`a tool with ${what} cannot be strict and goes out as it is [M3]`, () => {
    assert.deepEqual(toolSchema({ name: "t", parameters }, "openai-strict"), { parameters });
  });
}

test("a tool sees no null that only strict mode asked for [M3]", () => {
  const { $defs, ...schema } = optional;
  const given = { a: "x", b: null, c: null, other: null };
  const properties = { ...schema.properties, c: { type: ["object", "null"] } };
  assert.deepEqual(withoutAddedNulls(given, { ...schema, properties }), { a: "x", c: null, other: null });
  const clean = { a: "x" };
  assert.equal(withoutAddedNulls(clean, schema), clean);
});

test("Moonshot finds no type beside anyOf and no property that is not an object [M3]", () => {
  const parameters = {
    type: "object",
    anyOf: [{ required: ["a"] }],
    properties: {
      a: true,
      b: { type: "string", anyOf: [{ minLength: 1 }, { type: "null" }] },
      c: { items: { anyOf: [true], type: "number" } },
    },
  };
  assert.deepEqual(toolSchema({ name: "t", parameters }, "mfjs").parameters, {
    type: "object",
    properties: {
      a: {},
      b: { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] },
      c: { items: { anyOf: [{ type: "number" }] } },
    },
  });
});

test("parameters without a type are those of an object [M3]", () => {
  assert.deepEqual(toolSchema({ name: "t", parameters: {} }, "json-schema"), {
    parameters: { type: "object", properties: {} },
  });
});
