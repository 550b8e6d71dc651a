import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../src/protocol/resources.ts";
import { routes } from "../../src/protocol/routes.ts";
import { smallYard } from "../world/small-yard.ts";

const names = ["c", "nowhere", "..", ".", "%2e%2e", "%zz", "%00", "a/b", "界", "7", "-1", "1e999", "x".repeat(300)];
const segment = fc.oneof(fc.constantFrom(...names), fc.string());
const value = fc.oneof(
  fc.constantFrom("text", "mode", "queue", "approve", "base", "nonsense", "\u0000", "🙂"),
  fc.string(),
  fc.jsonValue(),
);
const keys = [
  "files",
  "days",
  "id",
  "title",
  "text",
  "mode",
  "slot",
  "images",
  "verdict",
  "arguments",
  "answer",
  "at",
  "name",
  "code",
  "language",
  "event",
  "timeout",
  "conversation_id",
  "working_directory",
  "user_id",
  "env_vars",
  "config",
  "template_id",
  "__proto__",
];
const body = fc.oneof(
  fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), value).map((object) => JSON.stringify(object)),
  fc.json(),
  fc.string(),
  fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
);
const query = fc.dictionary(
  fc.constantFrom("after", "limit", "before", "prefix", "detect", "path", "hidden", "keep", "x"),
  fc.oneof(segment, fc.integer().map(String)),
);
const headers = fc.record(
  {
    "content-type": fc.constantFrom(
      "application/json",
      "application/json;charset=utf-8",
      "text/plain",
      "",
      "application/octet-stream",
    ),
    range: fc.constantFrom("bytes=0-", "bytes=-1", "bytes=9-1", "bytes=99999999999999999999-", "bytes=0-0,1-1", "x"),
    "if-range": fc.constantFrom('"x"', "", "Sun, 06 Nov 1994 08:49:37 GMT"),
    "accept-language": fc.constantFrom("zh", "en", ";;q=,", "*", "q=1;zh;q=nan", "zh;q=0"),
    "x-request-id": fc.constantFrom("r", "", "{}"),
    "x-account-id": fc.constantFrom("ann", "", "a b"),
    "last-event-id": fc.constantFrom("1", "-1", "99999999999999999999", "x"),
  },
  { requiredKeys: [] },
);

test("no request brings the server down: every refusal is in our words, none is our own mistake [Q1]", async () => {
  const yard = smallYard();
  await yard.start("c");
  yard.files.set("c", Buffer.from("0123456789"));
  for (const [name, route] of Object.entries(routes)) {
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { minLength: 2, maxLength: 2 }),
        query,
        headers,
        body,
        async (ids, asked, head, sent) => {
          const next = [...ids];
          const path = route.path.replaceAll(/\{\w+\}/g, () => encodeURI(next.pop() ?? "").replaceAll(/[?#]/g, ""));
          const url = new URL(path, "http://localhost");
          for (const [key, text] of Object.entries(asked)) url.searchParams.set(key, text);
          const hasBody = route.method !== "GET";
          const request = new Request(url, { method: route.method, headers: head, ...(hasBody && { body: sent }) });
          const response = await yard.app.fetch(request);
          const type = response.headers.get("content-type");
          if (type === "application/problem+json") {
            const problem = Problem.parse(await response.json());
            assert.equal(problem.status, response.status);
            assert.notEqual(problem.title, problem.code, "a code without words");
          } else await response.body?.cancel();
          assert.ok(response.status < 500, `${name}: ${response.status}`);
        },
      ),
      { numRuns: 60 },
    );
  }
  assert.deepEqual(yard.faults, []);
  assert.equal(yard.listeners(), 0);
});
