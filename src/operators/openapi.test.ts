import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { foreignTool } from "../tools/tools.ts";
import { documentLimits, type Json, readDocument } from "./document.ts";
import { addTools, bytesIn, toolLimits } from "./new-tools.ts";
import { operationsMax, readOperations } from "./openapi.ts";
import { partsMax } from "./operation-arguments.ts";
import type { Box, BoxTool } from "./records.ts";
import { serverOf } from "./server-address.ts";

const server = "https://pets.example/v1";
const read = (document: Json, taken = new Set<string>()) => readOperations(document, server, taken);
const withPaths = (paths: Json, more: Json = {}): Json => ({ openapi: "3.1.0", paths, ...more });
const noYaml = async () => failed("no YAML here");

const pets = withPaths(
  {
    "/pets/{petId}": {
      parameters: [{ $ref: "#/components/parameters/PetId" }],
      get: {
        operationId: "pets.get!",
        summary: "One pet",
        parameters: [
          { name: "fields", in: "query", schema: { type: "array", items: { type: "string" } }, explode: false },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "Authorization", in: "header", required: true, schema: { type: "string" } },
          { name: "petId", in: "query", description: "An older name.", schema: { type: "string" } },
        ],
      },
      put: {
        operationId: "putPet",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
        },
      },
    },
    "/search": {
      post: {
        requestBody: {
          content: {
            "application/x-www-form-urlencoded": {
              schema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
            },
          },
        },
      },
    },
  },
  {
    components: {
      parameters: { PetId: { name: "petId", in: "path", required: true, schema: { type: "integer" } } },
      schemas: {
        Pet: {
          allOf: [
            { $ref: "#/components/schemas/Named" },
            {
              type: "object",
              properties: { id: { type: "integer", readOnly: true }, parent: { $ref: "#/components/schemas/Pet" } },
            },
          ],
        },
        Named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        Unused: { type: "object", properties: { secret: { type: "string" } } },
      },
    },
  },
);

test("each operation of a document is a tool with one flat list of arguments, and knows where each of them goes [T4]", async () => {
  const { operations, failures, renamed } = await read(pets);
  assert.deepEqual([failures, renamed], [[], []]);
  assert.deepEqual(
    operations.map(({ name, method, path, parameters, body }) => ({
      ...{ name, method, path, body },
      parameters: parameters.map((one) => `${one.as} ${one.in} ${one.name} ${one.style} ${one.isExploded}`),
    })),
    [
      {
        ...{ name: "pets_get", method: "get", path: "/pets/{petId}", body: undefined },
        parameters: [
          "petId path petId plain false",
          "fields query fields plain false",
          "X-Trace header X-Trace plain false",
          "petId_2 query petId plain true",
        ],
      },
      {
        ...{ name: "putPet", method: "put", path: "/pets/{petId}", parameters: ["petId path petId plain false"] },
        body: { kind: "json", fields: { name: "name", parent: "parent" } },
      },
      {
        ...{ name: "post_search", method: "post", path: "/search", parameters: [] },
        body: { kind: "form", fields: { q: "q" } },
      },
    ],
  );
});

test("the schema of a tool stands for itself: what it refers to is in it, what others refer to is not [T4][R1]", async () => {
  const [, put] = (await read(pets)).operations;
  const text = JSON.stringify(put?.schema);
  assert.ok(!text.includes("Unused"));
  const tool = foreignTool({
    name: "put",
    description: "",
    parameters: put?.schema,
    run: async () => ok({ text: "" }),
  });
  assert.deepEqual(tool.parameters.required, ["petId", "name"]);
  assert.deepEqual(Object.keys(tool.parameters.properties ?? {}), ["petId", "name", "parent"]);
});

test("a body with many fields, or that may be one of several things, is one argument that holds it [T4][R1]", async () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, { type: "string" }]));
  const bodies: [schema: Json, whole: string | undefined][] = [
    [{ type: "object", properties: many }, "body"],
    [{ type: "object", properties: { only: { type: "string" } } }, undefined],
    [{ oneOf: [{ type: "object" }, { type: "string" }] }, "body"],
    [{ type: "array", items: { type: "string" } }, "body"],
  ];
  for (const [schema, whole] of bodies) {
    const post = { requestBody: { required: true, content: { "application/json": { schema } } } };
    const [operation] = (await read(withPaths({ "/x": { post } }))).operations;
    assert.equal(operation?.body?.whole, whole);
  }
});

test("a body of very many parts, or one that is made of itself, is one argument, and its parts are not counted to the end [T4][Q1]", async () => {
  const bodyOf = async (schema: Json, schemas: Json = {}) => {
    const post = { requestBody: { content: { "application/json": { schema } } } };
    const [operation] = (await read(withPaths({ "/x": { post } }, { components: { schemas } }))).operations;
    return operation?.body;
  };
  const field = { properties: { a: { type: "string" } } };
  const whole = { kind: "json", whole: "body", fields: {} };
  const ofParts = (count: number) => bodyOf({ ...field, allOf: Array.from({ length: count }, () => ({})) });
  assert.deepEqual(await ofParts(partsMax - 2), { kind: "json", fields: { a: "a" } });
  assert.deepEqual(await ofParts(partsMax - 1), whole);
  assert.deepEqual(await bodyOf({ ...field, required: [{ toString: 1, valueOf: 1 }] }), {
    kind: "json",
    fields: { a: "a" },
  });
  const wide = { ...field, required: Array(partsMax).fill("a") };
  assert.deepEqual(await bodyOf(wide), whole);
  const itself = { $ref: "#/components/schemas/A" };
  assert.deepEqual(await bodyOf(itself, { A: { allOf: Array(50).fill(itself) } }), whole);
  const pairs = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [
      `P${at}`,
      { allOf: Array(50).fill({ $ref: `#/components/schemas/P${at + 1}` }) },
    ]),
  );
  assert.deepEqual(await bodyOf({ $ref: "#/components/schemas/P0" }, { ...pairs, P8: field }), whole);
});

test("an operation that does not fit is named with the reason, and the others become tools all the same [T4]", async () => {
  const fine = { operationId: "fine" };
  const document = withPaths(
    {
      "/a": { get: fine, post: { operationId: "fine" } },
      "no-slash": { get: { operationId: "noSlash" } },
      "/up/../{x}": { get: { operationId: "dots" } },
      "/{x}": { get: { operationId: "unsaid" } },
      "/b": { get: { operationId: "lost", parameters: [{ $ref: "#/components/parameters/None" }] } },
      "/c": { get: { operationId: "circle", parameters: [{ $ref: "#/components/parameters/A" }] } },
      "/d": { get: { operationId: "away", parameters: [{ $ref: "https://elsewhere.example/p.json" }] } },
      "/e": { get: { operationId: "nameless", parameters: [{ in: "query" }] } },
      "/f": { post: { operationId: "xml", requestBody: { required: true, content: { "application/xml": {} } } } },
      "/g": { get: { operationId: "other", servers: [{ url: "https://elsewhere.example" }] } },
      "/h": { get: { operationId: "below", servers: [{ url: "/v2" }] } },
      "/i": { $ref: "#/components/pathItems/None" },
    },
    {
      components: {
        parameters: { A: { $ref: "#/components/parameters/B" }, B: { $ref: "#/components/parameters/A" } },
      },
    },
  );
  const { operations, failures, renamed } = await read(document, new Set(["below"]));
  assert.deepEqual([operations.map(({ name }) => name)], [["fine", "fine_2", "below_2"]]);
  assert.deepEqual(renamed, [
    { from: "fine", to: "fine_2" },
    { from: "below", to: "below_2" },
  ]);
  assert.deepEqual(
    failures.map(({ name, failure: { code, params } }) => [name, `${code} ${Object(params).why}`]),
    [
      ["noSlash", "operation_unfit path"],
      ["dots", "operation_unfit path"],
      ["unsaid", "operation_unfit path_parameter"],
      ["lost", "operation_unfit reference"],
      ["circle", "operation_unfit reference"],
      ["away", "operation_unfit reference"],
      ["nameless", "operation_unfit parameter"],
      ["xml", "operation_unfit content"],
      ["other", "operation_unfit other_server"],
    ],
  );
});

test("a document in which everything refers to everything is read in small pieces, and others have their turn meanwhile [T4][Q1]", async () => {
  const names = Array.from({ length: 300 }, (_, at) => `S${at}`);
  const fields = Object.fromEntries(
    names.slice(0, 12).map((name, at) => [name, { $ref: `#/components/schemas/S${at * 25}` }]),
  );
  const schemas = Object.fromEntries(
    names.map((name, at) => [
      name,
      { properties: { ...fields, next: { $ref: `#/components/schemas/S${(at + 1) % 300}` } } },
    ]),
  );
  const post = (name: string) => ({
    requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } },
  });
  const paths = Object.fromEntries(names.map((name) => [`/${name}`, { post: post(name) }]));
  let turns = 0;
  let isOver = false;
  const others = async () => {
    for (; !isOver; turns += 1) await new Promise(setImmediate);
  };
  const waiting = others();
  const { operations } = await read(withPaths(paths, { components: { schemas } }));
  isOver = true;
  await waiting;
  assert.equal(operations.length, 300);
  assert.ok(turns >= 300 / 4, `${turns} turns`);
  for (const { schema } of operations) assert.ok(JSON.stringify(schema).length <= 48 * 1024);
});

test("of a document with very many operations as many become tools as may, and the rest is named [T4]", async () => {
  const paths = Object.fromEntries(Array.from({ length: operationsMax + 2 }, (_, at) => [`/p${at}`, { get: {} }]));
  const { operations, failures } = await read(withPaths(paths));
  assert.deepEqual([operations.length, failures.length], [operationsMax, 2]);
  const [{ failure: first } = { failure: undefined }] = failures;
  assert.deepEqual([first?.code, first?.params], ["operation_unfit", { why: "too_many", limit: operationsMax }]);
});

test("a schema that would fill a prompt is told by the names of its fields [T4][R1]", async () => {
  const long = { type: "string", description: "x".repeat(30_000) };
  const schema = {
    type: "object",
    properties: { a: { type: "object", properties: { deep: long, more: long } }, b: { type: "integer" } },
  };
  const { operations } = await read(
    withPaths({ "/x": { post: { requestBody: { content: { "application/json": { schema } } } } } }),
  );
  const [operation] = operations;
  assert.deepEqual(operation?.schema.properties, {
    a: { description: "Fields: deep, more." },
    b: { type: "integer", description: "" },
  });
});

const documents: [what: string, data: unknown, why: string | undefined][] = [
  ["JSON", '{"openapi":"3.0.3","paths":{}}', undefined],
  ["an object", { openapi: "3.1.0" }, undefined],
  ["neither JSON nor YAML", "{ no", "syntax"],
  ["a list", "[]", "no_openapi"],
  ["a number", 5, "no_object"],
  ["another file", { name: "package" }, "no_openapi"],
  ["Swagger", { swagger: "2.0" }, "version"],
  ["a later version", { openapi: "4.0.0" }, "version"],
  ["a text that is too long", `{"openapi":"3.1.0","x":"${"x".repeat(documentLimits.bytesMax)}"}`, "too_large"],
  ["one that is too deep", `{"openapi":"3.1.0","x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, "too_large"],
  ["one with too many values", { openapi: "3.1.0", x: Array(documentLimits.valuesMax).fill(1) }, "too_large"],
];
for (const [what, data, why] of documents) {
  const becomes = why === undefined ? "is read" : `is refused: ${why}`;
  test(`a document that is ${what} ${becomes} [T4]`, async () => {
    const result = await readDocument(data, noYaml);
    const told = result.ok ? undefined : [result.failure.code, result.failure.params.why];
    assert.deepEqual(told, why === undefined ? undefined : ["openapi_unfit", why]);
  });
}

test("the server is what was said, else the first of the document with its variables; what cannot be called is refused [T4][Q1]", () => {
  const servers = [
    { url: "https://{region}.example:{port}/v1/", variables: { region: { default: "eu" }, port: { default: 8443 } } },
  ];
  assert.deepEqual(serverOf(undefined, { servers }), ok("https://eu.example:8443/v1"));
  assert.deepEqual(serverOf("http://own.example/", { servers }), ok("http://own.example"));
  const whyOf = (given: string | undefined, document?: Json) => {
    const result = serverOf(given, document);
    return result.ok ? result.value : `${result.failure.code} ${result.failure.params.why}`;
  };
  assert.equal(whyOf(undefined), "openapi_unfit no_server");
  for (const bad of [
    "ftp://x.example",
    "/v1",
    "https://{x}.example",
    "https://x.example?key=1",
    "not an address",
    "https://a b",
  ])
    assert.equal(whyOf(bad), "openapi_unfit server", bad);
  assert.doesNotMatch(JSON.stringify(serverOf("https://ann:hunter2@x.example", undefined)), /hunter2/);
});

test("whatever is sent as a document, it is read without breaking down, and every tool of it can be shown [T4]", async () => {
  const words = [
    "get",
    "post",
    "parameters",
    "requestBody",
    "content",
    "application/json",
    "schema",
    "$ref",
    "name",
    "in",
    "type",
    "properties",
    "allOf",
  ];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom("query", "path", "object", "#/paths", "#/paths/~1a/get", "x", 1, null, true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...words), tie("value"), { maxKeys: 5 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom("/a", "/b/{name}", "c"), value), async (paths) => {
      for (const { schema, name } of (await read(withPaths(paths))).operations) {
        assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
        foreignTool({ name, description: "", parameters: schema, run: async () => ok({ text: "" }) });
      }
    }),
    { numRuns: 300 },
  );
});

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
