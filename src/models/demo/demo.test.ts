import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { systemClock } from "../../base/clock.ts";
import { type DemoOptions, startDemoServer } from "./demo.ts";
import { type Profile, profileTable } from "./profile.ts";
import { parseTable } from "./table.ts";

const tools = [{ type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } }];

test("the same request gives the same words, streamed or not, and an honest count of tokens [M5]", async (t) => {
  const demo = await startDemo(t);
  const request = { messages: [{ role: "user", content: "你好" }], tools };
  const [first, again] = [await demo.post(request), await demo.post(request)];
  assert.equal(contentOf(first.body), contentOf(again.body));
  const streamed = await demo.stream({ ...request, stream_options: { include_usage: true } });
  assert.equal(streamed.pieces.join(""), contentOf(first.body));
  assert.ok(streamed.pieces.length > 20 && streamed.pieces.every((piece) => piece.length < 60));
  assert.deepEqual(streamed.usage, Reply.parse(first.body).usage);
  const { prompt_tokens, completion_tokens, total_tokens } = Reply.parse(first.body).usage;
  assert.ok(prompt_tokens > 20 && completion_tokens > 100 && total_tokens === prompt_tokens + completion_tokens);
  assert.equal((await demo.stream(request)).usage, undefined);
});

test("requests that make no sense get the error objects of the protocol [M5]", async (t) => {
  const demo = await startDemo(t);
  const user = [{ role: "user", content: "hello" }];
  const error = (message: RegExp | string, param: string | null, code: string | null) => ({
    message,
    type: "invalid_request_error",
    param,
    code,
  });
  const cases: [string, Promise<{ status: number; body: unknown }>, number, ReturnType<typeof error>][] = [
    [
      "no JSON",
      demo.send("POST", "/chat/completions", "{"),
      400,
      error("We could not parse the JSON body of your request.", null, null),
    ],
    ["no messages", demo.post({ messages: undefined }), 400, error(/messages/, "messages", null)],
    ["empty messages", demo.post({ messages: [] }), 400, error(/messages/, "messages", null)],
    ["a message that is none", demo.post({ messages: [7] }), 400, error(/messages\.0/, "messages.0", null)],
    [
      "another model",
      demo.post({ model: "gpt-4", messages: user }),
      404,
      error("The model 'gpt-4' does not exist.", "model", "model_not_found"),
    ],
    ["another path", demo.send("POST", "/completions", "{}"), 404, error(/Invalid URL/, null, "unknown_url")],
    ["another method", demo.send("GET", "/chat/completions"), 404, error(/Invalid URL/, null, "unknown_url")],
    [
      "a wrong key",
      demo.send("GET", "/models", undefined, "demo-wrong"),
      401,
      error("Incorrect API key provided.", null, "invalid_api_key"),
    ],
    [
      "too much",
      demo.send("POST", "/chat/completions", " ".repeat(65 * 1024 * 1024)),
      413,
      error("The request is too large.", null, null),
    ],
  ];
  for (const [what, answer, status, { message, ...rest }] of cases) {
    const { status: got, body } = await answer;
    const {
      error: { message: said, ...others },
    } = ErrorReply.parse(body);
    assert.deepEqual([got, others], [status, rest], what);
    assert.match(said, message instanceof RegExp ? message : new RegExp(`^${message}$`), what);
  }
  assert.deepEqual(await demo.send("GET", "/models"), {
    status: 200,
    body: { object: "list", data: [{ id: "demo", object: "model" }] },
  });
});

test("where it breaks down by a mistake of ours the user hears so, and the log why [M5]", async (t) => {
  const faults: unknown[] = [];
  const mistake = new Error("a mistake");
  const demo = await startDemo(t, {
    findServers: () => Promise.reject(mistake),
    onThrown: (error) => faults.push(error),
  });
  const messages = [{ role: "user", content: "How do I connect a real model?" }];
  const answer = await demo.send("POST", "/chat/completions", JSON.stringify({ model: "demo", messages }));
  const { error } = ErrorReply.parse(answer.body);
  assert.deepEqual([answer.status, error.message, faults], [500, "The demo model broke down.", [mistake]]);
});

const Reply = z.object({
  choices: z.tuple([
    z.object({
      message: z.object({
        content: z.string().nullable(),
        tool_calls: z.array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) })).optional(),
      }),
      finish_reason: z.string(),
    }),
  ]),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() }),
});
const Chunk = z.object({
  choices: z.array(
    z.object({ delta: z.looseObject({ content: z.string().nullish() }), finish_reason: z.string().nullable() }),
  ),
  usage: Reply.shape.usage.optional(),
});
const ErrorReply = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }),
});

function contentOf(body: unknown): string | null {
  return Reply.parse(body).choices[0].message.content;
}

/** A demo server, spoken to over HTTP. */
async function startDemo(t: TestContext, options: Partial<DemoOptions> = {}) {
  const onThrown = (error: unknown) => assert.fail(String(error));
  const { baseUrl, apiKey, close } = await startDemoServer({ clock: systemClock, onThrown, ...options });
  t.after(close);

  const request = (method: string, path: string, body: string | undefined, key = apiKey) =>
    fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body }),
    });
  const send = async (method: string, path: string, body?: string, key?: string) => {
    const response = await request(method, path, body, key);
    return { status: response.status, body: await response.json() };
  };
  const post = (body: object) => send("POST", "/chat/completions", JSON.stringify({ model: "demo", ...body }));
  const stream = async (body: object) => {
    const text = JSON.stringify({ model: "demo", ...body, stream: true });
    const response = await request("POST", "/chat/completions", text);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const events = (await response.text())
      .split("\n\n")
      .slice(0, -1)
      .map((event) => event.replace(/^data: /, ""));
    assert.equal(events.pop(), "[DONE]");
    const chunks = events.map((event) => Chunk.parse(JSON.parse(event)));
    return {
      deltas: chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta)),
      pieces: chunks.flatMap(({ choices }) => choices[0]?.delta.content || []),
      finish: chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason,
      usage: chunks.findLast(({ usage }) => usage)?.usage,
    };
  };
  return { send, post, stream };
}

test("a table with a byte order mark, quotes, line ends of Windows and empty cells is understood [M5]", () => {
  const text = '\uFEFFcity,"units ""sold""",price\r\nOslo,"1,200",9.50\r\n"Rio, Brazil",,10.25\r\n\r\nBern,300,n/a\r\n';
  assert.deepEqual(figures(profileTable(text)), {
    rows: 3,
    columns: [
      ['units "sold"', 2, 300, 1200, 750, 1500],
      ["price", 2, 9.5, 10.25, 9.875, 19.75],
    ],
    others: ["city"],
    unread: 0,
  });
});

test("what only looks like a number is none: codes with zeros, dates, versions, long ids [M5]", () => {
  const text =
    "zip,day,version,id\n01234,2026-03-01,1.2.3,110101199003070011\n00501,2026-03-02,1.2.4,110101199003070022\n";
  assert.deepEqual(figures(profileTable(text)), {
    rows: 2,
    columns: [],
    others: ["zip", "day", "version", "id"],
    unread: 0,
  });
});

test("whatever cells a spreadsheet writes, they are read back [M5]", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "1", ",", ";", '"', "\n", "\r", " ", "|", "数"), maxLength: 6 });
  const written = (cells: readonly string[], delimiter: string) =>
    cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter);
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 }), (rows) => {
      // The first column is never empty, so that no row is.
      const filled = rows.map(([first, ...others]) => [`x${first}`, ...others]);
      for (const delimiter of [",", ";", "\t", "|"]) {
        const text = `sep=${delimiter}\r\n${filled.map((row) => written(row, delimiter)).join("\r\n")}`;
        assert.deepEqual(parseTable(text), { delimiter, rows: filled });
      }
    }),
  );
});

/** The columns as a list: name or place, count, smallest, largest, mean, sum. */
function figures({ columns, ...rest }: Profile) {
  return {
    ...rest,
    columns: columns.map(({ name, place, count, min, max, mean, sum }) => [
      name === "" ? String(place) : name,
      ...[count, min, max, mean, sum],
    ]),
  };
}
