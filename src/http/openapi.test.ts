import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { routes } from "../protocol/routes.ts";
import { describeApi } from "./openapi.ts";
import { examples } from "./openapi-examples.ts";

const Parameter = z.union([
  z.strictObject({ $ref: z.string() }),
  z.strictObject({
    name: z.string(),
    in: z.enum(["path", "query", "header", "cookie"]),
    required: z.boolean(),
    description: z.string().optional(),
    schema: z.unknown(),
    example: z.unknown().optional(),
  }),
]);
const Content = z.record(
  z.string().regex(/^[\w.+-]+\/[\w.+-]+$/),
  z.strictObject({ schema: z.unknown(), example: z.unknown().optional() }),
);
const Operation = z.strictObject({
  operationId: z.string().regex(/^[\w.-]+$/),
  summary: z.string().min(5),
  tags: z.array(z.string()).length(1),
  parameters: z.array(Parameter).optional(),
  requestBody: z.strictObject({ required: z.boolean().optional(), content: Content }).optional(),
  responses: z.record(
    z.string().regex(/^([1-5]\d\d|default)$/),
    z.strictObject({
      description: z.string().min(1),
      headers: z.record(z.string(), z.unknown()).optional(),
      content: Content.optional(),
    }),
  ),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  "x-route": z.string(),
  "x-scope": z.enum(["chat", "files", "admin", "open", "any"]),
  "x-same-as": z.string().optional(),
});
/** What OpenAPI 3.1 asks of a document, as far as ours has it. */
const Document = z.strictObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string() }),
  servers: z.array(z.strictObject({ url: z.string() })).min(1),
  tags: z.array(z.strictObject({ name: z.string() })),
  paths: z.record(
    z.string().startsWith("/"),
    z.partialRecord(z.enum(["get", "put", "post", "delete", "options", "head", "patch"]), Operation),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), z.unknown()),
    parameters: z.record(z.string().regex(/^[\w.-]+$/), Parameter),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.enum(["http", "apiKey"]) })),
  }),
});

const raw = describeApi({ version: "1.0.0" });
const document = Document.parse(raw);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
);

test("every row of the table is described, and a row with two names under both of them [C7]", () => {
  const described = operations.map(({ method, path }) => `${method} ${path}`).sort();
  const services = ["agent-app", "agent-factory", "agent-app/internal", "agent-factory/internal"];
  const wanted = Object.values(routes).flatMap(({ method, path }) =>
    (path.includes("{service}") ? services : [""]).map((service) => `${method} ${path.replace("{service}", service)}`),
  );
  assert.deepEqual(described, [...wanted, "GET /openapi.json"].sort());
  const named = new Set(operations.map((operation) => operation["x-route"]));
  assert.deepEqual(named, new Set([...Object.keys(routes), "openApi"]));
});

test("names are given once, parameters are those of the path, and every reference leads somewhere [C7]", () => {
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { path, parameters = [], operationId } of operations) {
    const declared = parameters.flatMap((one) => ("in" in one && one.in === "path" ? [one.name] : []));
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    assert.deepEqual(declared.sort(), inPath.sort(), operationId);
    const places = parameters.map((one) => ("in" in one ? `${one.in} ${one.name}` : one.$ref));
    assert.equal(new Set(places).size, places.length, operationId);
  }
  const references = [...JSON.stringify(raw).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to = ""]) => to);
  assert.ok(references.length > 100);
  assert.deepEqual(
    [...new Set(references)].filter((reference) => !leadsSomewhere(reference)),
    [],
  );
});

test("who may call is told of every route, and what a caller hears who may not [C6][C7]", () => {
  const schemes = Object.keys(document.components.securitySchemes);
  for (const operation of operations) {
    const { operationId, security, responses } = operation;
    const scope = operation["x-scope"];
    const wanted = scope === "open" ? [] : schemes.map((name) => ({ [name]: scope === "any" ? [] : [scope] }));
    assert.deepEqual(security, wanted, operationId);
    const refusals = scope === "open" ? ["429"] : ["401", "403", "429"];
    assert.deepEqual(
      refusals.filter((status) => !(status in responses)),
      [],
      operationId,
    );
  }
});

test("a failure has the shape of its dialect, and an answer that may be a stream both kinds of content [C7]", () => {
  for (const operation of operations) {
    const route = Object.entries(routes).find(([name]) => name === operation["x-route"])?.[1];
    const dialect = route !== undefined && "dialect" in route ? route.dialect : "own";
    const shape = { own: "Problem", chat: "ChatProblem", openai: "OpenAiProblem", operators: "OperatorProblem" }[
      dialect
    ];
    const type = dialect === "own" ? "application/problem+json" : "application/json";
    const content = { [type]: { schema: { $ref: `#/components/schemas/${shape}` } } };
    assert.deepEqual(operation.responses.default?.content, content, operation.operationId);
    if (route === undefined || !("mayStream" in route)) continue;
    const kinds = Object.keys(operation.responses[route.status]?.content ?? {});
    assert.deepEqual(kinds, ["application/json", "text/event-stream"], operation.operationId);
  }
});

test("what makes something takes an Idempotency-Key, and no other call does [C7]", () => {
  const takes = operations.filter(({ parameters = [] }) =>
    parameters.some((one) => "$ref" in one && one.$ref.endsWith("/IdempotencyKey")),
  );
  const wanted = Object.entries(routes).flatMap(([name, route]) => ("creates" in route ? [name] : []));
  assert.deepEqual(new Set(takes.map((operation) => operation["x-route"])), new Set(wanted));
});

test("every example is one that its route takes [C7]", () => {
  const table = new Map<string, { readonly body: z.ZodType }>(Object.entries(routes));
  for (const [name, example] of Object.entries(examples)) {
    const parsed = table.get(name)?.body.safeParse(example);
    assert.ok(parsed?.success, `${name}: ${parsed?.error?.message ?? "there is no such route"}`);
  }
});

function leadsSomewhere(reference: string): boolean {
  let place: unknown = raw;
  for (const key of reference.replace(/^#\//, "").split("/")) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return false;
    place = Object.entries(place).find(([name]) => name === key)?.[1];
  }
  return true;
}
