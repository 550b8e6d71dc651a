import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import type { Message } from "../../protocol/message.ts";
import { anthropicMessages } from "../anthropic/messages.ts";
import { googleMessages } from "../google/messages.ts";
import { chatMessages } from "../openai/messages.ts";
import { adaptable } from "../openai/openai.ts";
import { defaultProfile } from "../profile.ts";
import { responsesMessages } from "../responses/messages.ts";
import { editFor } from "./adapt.ts";
import { readErrorBody } from "./error-body.ts";
import { keepItems, keptItems } from "./kept.ts";
import { toolSchema, withoutAddedNulls } from "./schema.ts";
import { createNameReader, wireName } from "./tool-names.ts";
import { createTranscripts } from "./transcript.ts";

test("a field that is named by its place in the body is left out [M3]", () => {
  const detail = [
    { type: "extra_forbidden", loc: ["body", "parallel_tool_calls"], msg: "Extra inputs are not permitted" },
  ];
  const edit = editFor(readErrorBody(422, JSON.stringify({ detail })), { parallel_tool_calls: false }, adaptable);
  assert.deepEqual(edit?.apply({ parallel_tool_calls: true, stream: true }), { stream: true });
});

test("an effort is changed only where there are tools, when it was refused because of them [M3]", () => {
  const facts = readErrorBody(400, '{"error":{"message":"Function tools need you to set reasoning_effort to none"}}');
  assert.deepEqual(editFor(facts, { tools: "[]" }, adaptable)?.apply({ reasoning_effort: "high" }), {
    reasoning_effort: "high",
  });
});

test("a limit that came from this prompt's length holds for this request only [M3]", () => {
  const facts = readErrorBody(400, '{"error":{"message":"max_tokens is too large: 900 (900 > 1000 - 500)"}}');
  const edit = editFor(facts, { max_tokens: 900 }, adaptable);
  assert.deepEqual([edit?.isLasting, edit?.apply({ max_tokens: 900 })], [false, { max_tokens: 500 }]);
});

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

test("every name becomes one that every server takes, and comes back as it was [M3]", () => {
  const property = fc.property(fc.uniqueArray(fc.string({ maxLength: 90 }), { minLength: 1 }), (names) => {
    const wire = names.map(wireName);
    assert.ok(wire.every((name) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)));
    assert.equal(new Set(wire).size, names.length);
    assert.deepEqual(wire.map(createNameReader(names)), names);
  });
  fc.assert(property);
});

const chat = chatMessages(defaultProfile);
const origin = { api: "test", model: "m" };
const forms = {
  chat,
  responses: responsesMessages(defaultProfile, origin),
  anthropic: anthropicMessages(origin),
  google: googleMessages(origin),
};
const image = { mime: "image/png", base64: "eA==" };

/** A turn in which every call gets its result, as the loop writes it. */
const turn = fc
  .record({
    asked: fc.string(),
    calls: fc.array(fc.record({ id: fc.constantFrom("a", "b", "call_0", "x".repeat(60)), hasImage: fc.boolean() }), {
      maxLength: 3,
    }),
    said: fc.string({ minLength: 1 }),
  })
  .map(({ asked, calls, said }): Message[] => [
    { role: "user", text: asked },
    ...(calls.length === 0 ? [] : [callsTurn(calls.map((call) => call.id))]),
    ...calls.map(
      ({ id, hasImage }): Message => ({
        role: "tool",
        toolCallId: id,
        text: "r",
        images: hasImage ? [image] : undefined,
      }),
    ),
    { role: "assistant", text: said },
  ]);

function callsTurn(ids: string[]): Message {
  return { role: "assistant", text: "", toolCalls: ids.map((id) => ({ id, name: "t", arguments: "{}" })) };
}

for (const [api, form] of Object.entries(forms)) {
  test(`${api}: a longer conversation begins with the bytes of a shorter one, and says how many those are [L3][M6]`, () => {
    const property = fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
      const write = createTranscripts(form, 10);
      const messages: Message[] = [{ role: "system", text: "You help." }];
      let before = { system: "", json: "", length: 0 };
      const ask = (more: readonly Message[]) => {
        const { system, json, bytes } = write([...messages, ...more], "conversation");
        assert.ok(json.startsWith(before.json) && system.startsWith(before.system));
        const all = system === "" ? json : `${system},${json}`;
        const hash = createHash("sha256").update(all).digest("hex").slice(0, 16);
        assert.deepEqual(bytes, { hash, length: Buffer.byteLength(all), reused: before.length });
        before = { system, json, length: bytes.length };
      };
      for (const part of turns) {
        ask(part.slice(0, 1));
        // And again when its calls have their results.
        if (part.length > 2) ask(part.slice(0, -1));
        messages.push(...part);
      }
    });
    fc.assert(property);
  });
}

test("conversations beyond the limit are forgotten, the silent ones first [L3]", () => {
  const write = createTranscripts(chat, 2);
  const messages: Message[] = [{ role: "user", text: "one" }];
  for (const conversation of ["a", "b", "a", "c"]) write(messages, conversation);
  const reused = ["a", "b"].map((conversation) => write(messages, conversation).bytes.reused > 0);
  assert.deepEqual(reused, [true, false]);
});

test("a result that is missing today does not spoil the request in which it is there [M3]", () => {
  const write = createTranscripts(chat, 2);
  const asked = [{ role: "user", text: "go" } as const, callsTurn(["a"])];
  assert.match(write(asked, "c").json, /There is no result/);
  const { json } = write([...asked, { role: "tool", toolCallId: "a", text: "here" }], "c");
  assert.doesNotMatch(json, /There is no result/);
});

const keptOrigin = { api: "anthropic", model: "m" };

test("what an answer leaves for later is found again by its format and model, and by no other [M6][R1]", () => {
  const details: unknown[] = [];
  const items = [{ type: "thinking" }];
  keepItems(details, keptOrigin, items);
  const read: unknown[] = JSON.parse(JSON.stringify(details));
  assert.deepEqual(keptItems(read, keptOrigin), items);
  assert.equal(keptItems(read, { ...keptOrigin, model: "other" }), undefined);
  assert.equal(keptItems(read, { ...keptOrigin, api: "google" }), undefined);
  assert.equal(keptItems(undefined, keptOrigin), undefined);
  assert.equal(keptItems([null, "x", { api: "anthropic", model: "m" }], keptOrigin), undefined);
});

test("a decorated tool name in an answer means the tool, and one that may mean several means none [M3]", () => {
  const names = [
    "functions.read_file:0",
    "default_api:read_file",
    "tools/read_file()",
    " `read_file` ",
    "read_file.list",
  ];
  const read = createNameReader(["read_file", "list", "calendar.list"]);
  assert.deepEqual(names.map(read), [...Array(4).fill("read_file"), "read_file.list"]);
});
