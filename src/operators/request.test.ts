import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { secretsIn, withCredential, withoutSecrets } from "./credential.ts";
import type { Credential, Operation } from "./records.ts";
import { declaredOnly, type Envelope, requestOf, sorted } from "./request.ts";

const server = "https://pets.example/v1";
const nothing: Envelope = { path: {}, query: {}, header: {}, cookie: {}, body: undefined };
const operation: Operation = {
  ...{ name: "x", summary: "", description: "", method: "post", path: "/pets/{id}/toys", schema: {} },
  parameters: [
    { as: "id", name: "id", in: "path", style: "plain", isExploded: false },
    { as: "tags", name: "tags", in: "query", style: "plain", isExploded: false },
    { as: "piped", name: "piped", in: "query", style: "piped", isExploded: false },
    { as: "filter", name: "filter", in: "query", style: "deep", isExploded: true },
    { as: "trace", name: "X-Trace", in: "header", style: "plain", isExploded: false },
    { as: "crumb", name: "crumb", in: "cookie", style: "plain", isExploded: true },
  ],
  body: { kind: "json", fields: { toy: "toy", size: "size" } },
};

function made(
  envelope: Partial<Envelope>,
  more: Partial<Operation> = {},
  fixed: Parameters<typeof requestOf>[0]["fixed"] = [],
) {
  return requestOf({ server, operation: { ...operation, ...more }, fixed }, { ...nothing, ...envelope });
}

test("what a model says goes where the operation wants it, written as OpenAPI has it [T4]", () => {
  const arguments_ = {
    id: "a/b ü",
    tags: ["x", "y"],
    piped: [1, 2],
    filter: { a: 1, b: "z" },
    trace: "t",
    crumb: "c;d",
    toy: "ball",
    other: 1,
  };
  const request = made(sorted(operation, arguments_));
  assert.ok(request.ok);
  const { url, ...rest } = request.value;
  assert.equal(url.href, `${server}/pets/a%2Fb%20%C3%BC/toys?tags=x%2Cy&piped=1%7C2&filter%5Ba%5D=1&filter%5Bb%5D=z`);
  assert.deepEqual(rest, {
    method: "POST",
    headers: { "x-trace": "t", cookie: "crumb=c%3Bd", "content-type": "application/json" },
    body: '{"toy":"ball"}',
  });
});

test("a form is sent as a form, a whole body as it is, and what is always sent counts before a model's word [T4]", () => {
  const form = made({ path: { id: 1 }, body: { a: "x y", b: [1, 2] } }, { body: { kind: "form", fields: {} } });
  assert.deepEqual(form.ok && [form.value.body, form.value.headers], [
    "a=x+y&b=1&b=2",
    { "content-type": "application/x-www-form-urlencoded" },
  ]);
  const fixed = [
    { name: "tenant", in: "query", value: "ours" },
    { name: "kind", in: "body", value: "dog" },
  ] as const;
  const kept = made({ path: { id: 1 }, query: { tenant: "theirs" }, body: { kind: "cat", n: 1 } }, {}, fixed);
  assert.deepEqual(kept.ok && [kept.value.url.search, kept.value.body], ["?tenant=ours", '{"kind":"dog","n":1}']);
});

test("a header that is always sent counts before a model's word for it in any spelling [T4][Q1]", () => {
  const fixed = [{ name: "X-Tenant", in: "header", value: "ours" }] as const;
  const header = { "x-tenant": "theirs", "X-Tenant": "theirs", "X-TENANT": "theirs", "X-Tenants": "both" };
  for (const given of [header, Object.fromEntries(Object.entries(header).reverse())]) {
    const request = made({ path: { id: 1 }, header: given }, {}, fixed);
    assert.deepEqual(request.ok && request.value.headers, { "x-tenants": "both", "x-tenant": "ours" });
  }
});

test("what is always sent in a query or a form is sent once, also where a field of an object has its name [T4][Q1]", () => {
  const always = (where: "query" | "body") => [{ name: "tenant", in: where, value: "ours" }] as const;
  const values = { a: { tenant: "theirs", b: 1 }, tenant: "theirs", c: 2 };
  const query = made({ path: { id: 1 }, query: values }, {}, always("query"));
  assert.equal(query.ok && query.value.url.search, "?b=1&c=2&tenant=ours");
  const form = made({ path: { id: 1 }, body: values }, { body: { kind: "form", fields: {} } }, always("body"));
  assert.equal(form.ok && form.value.body, "b=1&c=2&tenant=ours");
});

test("others than the owner send no name that the operation does not declare, also not as a field of a parameter or in the body [T4][S7]", () => {
  const override = { _method: "DELETE", admin: "1" };
  const [exploded, deep] = [
    { style: "plain", isExploded: true } as const,
    { style: "deep", isExploded: true } as const,
  ];
  const declared: Operation = {
    ...operation,
    parameters: [
      { as: "id", name: "id", in: "path", style: "plain", isExploded: false },
      { as: "days", name: "days", in: "query", ...exploded },
      { as: "range", name: "range", in: "query", ...exploded },
      { as: "filter", name: "filter", in: "query", ...deep },
    ],
    schema: {
      properties: { days: { type: "integer" }, range: { $ref: "#/components/Range" }, toy: { type: "string" } },
      components: { Range: { type: "object", properties: { from: {}, to: {} } } },
    },
  };
  const query = { days: { days: "3", ...override }, range: { from: 1, ...override }, filter: { a: 1 }, ...override };
  const given: Envelope = { ...nothing, path: { id: 1 }, query, body: { toy: override, size: [1, 2], ...override } };
  const form: Operation["body"] = { kind: "form", fields: { toy: "toy", size: "size" } };
  const rows: [body: Operation["body"], given: unknown, sent: string | undefined][] = [
    [form, given.body, "size=1&size=2"],
    [{ ...form, kind: "json" }, given.body, JSON.stringify({ toy: override, size: [1, 2] })],
    [form, [override], undefined],
    [undefined, override, undefined],
    [{ kind: "json", whole: "body", fields: {} }, override, JSON.stringify(override)],
  ];
  for (const [body, said, sent] of rows) {
    const wanted = { ...declared, body };
    const request = requestOf({ server, operation: wanted, fixed: [] }, declaredOnly(wanted, { ...given, body: said }));
    assert.deepEqual(request.ok && [request.value.url.search, request.value.body], ["?from=1&filter%5Ba%5D=1", sent]);
  }
});

test("no argument leads to another path, another host or another message than the operation's [T4][T7]", () => {
  for (const id of ["..", ".", "", undefined, [], null])
    assert.deepEqual(made({ path: { id } }), {
      ok: false,
      failure: { code: "bad_request", params: { what: "path.id" }, retryable: false },
    });
  fc.assert(
    fc.property(anyText(), (id) => {
      const request = made({ path: { id }, query: { q: id } });
      if (!request.ok) return;
      assert.equal(request.value.url.host, "pets.example");
      assert.match(request.value.url.pathname, /^\/v1\/pets\/[^/]+\/toys$/);
    }),
  );
  for (const name of ["Host", "content-length", "Transfer-Encoding", "connection", "Proxy-Authorization", "cookie"])
    assert.deepEqual(
      made({ path: { id: 1 }, header: { [name]: "x" } }).ok && made({ path: { id: 1 }, header: { [name]: "x" } }),
      made({ path: { id: 1 } }),
    );
  for (const header of [{ "x-a": "b\r\nhost: evil" }, { "x a": "b" }, { "x\n": "b" }, { "x-a": "☃" }])
    assert.equal(made({ path: { id: 1 }, header }).ok, false);
});

const credentials: [credential: Credential, header: string | undefined][] = [
  [{ type: "bearer", token: "t0ken-value" }, "Bearer t0ken-value"],
  [{ type: "basic", username: "ann", password: "pass word" }, "Basic YW5uOnBhc3Mgd29yZA=="],
  [{ type: "api_key", in: "header", name: "Authorization", value: "key-value" }, "key-value"],
  [{ type: "headers", headers: { AUTHORIZATION: "own value" } }, "own value"],
];
for (const [credential, header] of credentials)
  test(`a credential of the kind ${credential.type} counts before what a caller says in its place [T4][Q1]`, () => {
    const request = made({ path: { id: 1 }, header: { authorization: "Bearer mine" } });
    assert.ok(request.ok);
    assert.equal(withCredential(request.value, credential).headers.authorization, header);
    assert.equal(request.value.headers.authorization, "Bearer mine", "and the request that people see stays as it is");
  });

test("a key in the query counts before a model's, and no answer holds it in any spelling [T4][Q1]", () => {
  const credential: Credential = { type: "api_key", in: "query", name: "key", value: 'p@ss "w/rd"+é' };
  const request = made({ path: { id: 1 }, query: { key: "theirs" } });
  assert.ok(request.ok);
  const { url } = withCredential(request.value, credential);
  assert.deepEqual(url.searchParams.getAll("key"), [credential.value]);
  const said = [
    credential.value,
    encodeURIComponent(credential.value),
    url.search,
    JSON.stringify(credential.value),
    Buffer.from(credential.value).toString("base64"),
  ];
  const answer = Buffer.concat([Buffer.from(`ü ${said.join(" | ")} ü`), Uint8Array.of(0, 255)]);
  const clean = withoutSecrets(answer, secretsIn(credential));
  for (const spelling of said.filter((one) => one !== url.search))
    assert.equal(clean.includes(spelling), false, spelling);
  assert.equal(clean.includes(url.search.slice(5)), false);
  assert.ok(clean.toString().startsWith("ü [redacted] | [redacted]"));
  assert.deepEqual([...clean.subarray(-2)], [0, 255], "what else is in it stays, byte for byte");
});
