import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { StreamFrame } from "../protocol/resources.ts";
import type { ExecutionFrame, SandboxExecution } from "../protocol/sandbox-resources.ts";
import { createClient } from "./client.ts";
import type { ClientFailure } from "./failure.ts";
import type { FollowFrame } from "./follow.ts";
import { type ExecutionNews, followExecution } from "./follow-execution.ts";
import { readFrames } from "./sse.ts";

// A connection that breaks is tried again at once: only the waiting between is taken out.
const clock = { ...systemClock, wait: async () => "elapsed" as const };

const type = { "content-type": "text/event-stream" };

test("whoever follows a server that says what nobody can read is told so, and does not come back for ever [C3]", async () => {
  const unreadable = [
    'data: {"frame":"caught_up","head":"x"}\n\n',
    'data: {"frame":"part","of":"2","index":1,"count":2,"text":"b"}\n\n',
    "data: <html>\n\n",
  ];
  for (const said of unreadable) {
    const told = await follow([new Response(`data: {"frame":"ping"}\n\n${said}`, { headers: type })]);
    assert.deepEqual(
      told.map((frame) => [frame.frame, frame.frame === "failed" ? frame.failure.detail : undefined]),
      [
        [
          "failed",
          "The answer (status 200) cannot be read. Check that the address is that of an AgentYard of this version.",
        ],
      ],
    );
  }
});

/** What is heard until the answers are used up. */
async function follow(answers: Response[]): Promise<FollowFrame[]> {
  const left = new AbortController();
  const fetch = async () => {
    const answer = answers.shift();
    if (answer === undefined) left.abort();
    return answer ?? new Response(null, { headers: type });
  };
  const told: FollowFrame[] = [];
  for await (const frame of createClient({ fetch, clock }).follow("c", { signal: left.signal })) told.push(frame);
  return told;
}

const cut: ClientFailure = { code: "answer_unreadable", params: {}, detail: "cut off", retryable: false };

test("a connection that breaks goes on after the last word that came, and nothing comes twice [X2]", async () => {
  const asked: (string | undefined)[] = [];
  const answers = [
    response(output("one ", "4-0"), ping),
    failed({ ...cut, code: "network", retryable: true }),
    response(gap(1000, "1004-0"), output("two ", "1008-0")),
    response(),
    response(result),
  ];
  const news = await executionNews((after) => {
    asked.push(after);
    return answers.shift() ?? assert.fail("asked once too often");
  });
  assert.deepEqual(
    news.map((one) => (one.frame === "output" ? one.text : one.frame)),
    ["one ", "cut", "two ", "result"],
  );
  assert.deepEqual(asked, [undefined, "4-0", "4-0", "1008-0", "1008-0"]);
});

test("who lets go hears nothing more [X2]", async () => {
  const gone = new AbortController();
  const news: string[] = [];
  for await (const { frame } of followExecution({
    ...{ clock, signal: gone.signal, cutOff: () => cut },
    connect: async () => response(output("a", "1-0"), output("b", "2-0")),
  })) {
    news.push(frame);
    gone.abort();
  }
  assert.deepEqual(news, ["output"]);
});

async function executionNews(connect: (after: string | undefined) => Result<Response, ClientFailure>) {
  const { signal } = new AbortController();
  const news: ExecutionNews[] = [];
  const following = { clock, signal, cutOff: () => cut, connect: async (after: string | undefined) => connect(after) };
  for await (const one of followExecution(following)) news.push(one);
  return news;
}

function response(...events: string[]): Result<Response, ClientFailure> {
  return ok(new Response(events.join(""), { headers: { "content-type": "text/event-stream" } }));
}

function output(text: string, id: string): string {
  return event(id, { frame: "output", stream: "stdout", text, at: { stdout: Number.parseInt(id, 10), stderr: 0 } });
}

function gap(bytes: number, id: string): string {
  return event(id, { frame: "cut", stream: "stdout", bytes, at: { stdout: Number.parseInt(id, 10), stderr: 0 } });
}

function event(id: string, frame: ExecutionFrame): string {
  return `event: ${frame.frame}\nid: ${id}\ndata: ${JSON.stringify(frame)}\n\n`;
}

const ping = `event: ping\ndata: {"frame":"ping"}\n\n`;

const execution: SandboxExecution = {
  ...{
    id: "e",
    execution_id: "e",
    session_id: "s",
    conversation_id: null,
    status: "completed",
    code: "1",
    code_truncated: false,
  },
  ...{
    language: "python",
    timeout: 30,
    exit_code: 0,
    error_message: null,
    failure: null,
    execution_time: 1,
    stdout: "",
    stderr: "",
  },
  ...{ stdout_truncated: false, stderr_truncated: false, stdout_path: null, stderr_path: null, value: null },
  ...{
    return_value: null,
    figures: [],
    artifacts: [],
    changed_files: [],
    removed_files: [],
    metrics: null,
    retry_count: 0,
    created_at: "",
  },
  ...{ started_at: null, completed_at: null, how: "done", signal: null, is_over_limit: false },
};

const result = `event: result\ndata: ${JSON.stringify({ frame: "result", execution })}\n\n`;

const frames: StreamFrame[] = [
  { frame: "event", event: { type: "conversation.renamed", seq: 1, at: 5, title: "a\n\nb\u2028 世界 🌍" } },
  { frame: "delta", turn: 1, step: 1, attempt: 1, kind: "text", offset: 0, text: "data: \n\n" },
  { frame: "caught_up", head: 1 },
  { frame: "ping" },
  { frame: "behind", after: "1~1.1.1.t3" },
];

const bytes = new TextEncoder().encode(
  frames.map((frame) => `event: ${frame.frame}\nid: 1\ndata: ${JSON.stringify(frame)}\n\n`).join(""),
);

test("frames are the same however the network splits them [C3]", async () => {
  for (let place = 0; place <= bytes.length; place += 1)
    assert.deepEqual(await read([bytes.subarray(0, place), bytes.subarray(place)]), frames);
  const splits = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(splits, async (sizes) => {
      assert.deepEqual(await read([...splitAt(bytes, sizes)]), frames);
    }),
  );
});

test("a long event that came in parts is one again, and kinds that only a newer server knows are passed over [C3]", async () => {
  const long: StreamFrame = { frame: "event", event: { type: "conversation.renamed", seq: 2, at: 5, title: '"🌍\\' } };
  const json = JSON.stringify(long);
  const parts = [json.slice(0, 61), json.slice(61)].map((text, index) => ({
    frame: "part",
    of: "2",
    index,
    count: 2,
    text,
  }));
  const sent = [{ frame: "invented", by: "a newer server" }, ...parts, { frame: "ping" }];
  const body = sent.map((frame) => `event: ${frame.frame}\ndata: ${JSON.stringify(frame)}\n\n`).join("");
  const hints = `retry: 1000\n\n: a comment\n\n`;
  const seen = await read([new TextEncoder().encode(hints + body)]);
  assert.deepEqual(
    seen.filter(({ frame }) => frame !== "part"),
    [long, { frame: "ping" }],
  );
  const broken = `data: ${JSON.stringify({ frame: "caught_up", head: "x" })}\n\n`;
  await assert.rejects(read([new TextEncoder().encode(broken)]));
});

test("a frame that was cut off is not delivered", async () => {
  assert.deepEqual(await read([bytes.subarray(0, bytes.length - 1)]), frames.slice(0, -1));
});

test("a body that is not ours is an error, not a frame", async () => {
  await assert.rejects(read([new TextEncoder().encode("<html>\n\n</html>")], "text/html"));
  assert.deepEqual(await read([]), []);
});

async function read(chunks: Uint8Array[], type = "text/event-stream"): Promise<StreamFrame[]> {
  const seen: StreamFrame[] = [];
  const response = new Response(ReadableStream.from(chunks), { headers: { "content-type": type } });
  for await (const { frame } of readFrames(response, new AbortController().signal))
    if (frame !== undefined) seen.push(frame);
  return seen;
}

function* splitAt(all: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let start = 0, turn = 0; start < all.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    yield all.subarray(start, end);
    start = end;
  }
}
