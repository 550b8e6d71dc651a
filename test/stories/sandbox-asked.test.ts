import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import type { ExecutionRecord, ProgramPlace, Sandbox } from "../../src/sandbox/sandbox.ts";
import { callOver } from "../world/callers.ts";
import { until } from "../world/events.ts";
import { noSandbox } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

// What the routes ask the sandbox for: whose program, in which place, for how long.

const record: ExecutionRecord = {
  ...{ id: "e1", owner: OwnerId.parse("ann"), session: "sess-ann", conversationId: undefined, status: "running" },
  ...{ language: "python", code: "1", codeCutBytes: 0, timeoutMs: 1_000, createdAt: 1_000, startedAt: 2_000 },
  ...{ endedAt: undefined, failure: undefined, wasCutOff: false, report: undefined, artifacts: [] },
};

type Wanted = Omit<Parameters<Sandbox["executions"]["submit"]>[1], "onChanges">;
type Place = Pick<ProgramPlace, "owner" | "conversation"> & { readonly workspace: string | undefined };

/** A yard whose sandbox notes what it is asked for, and answers as the test says. */
async function asked(executions: Partial<Sandbox["executions"]> = {}) {
  const [places, wanted]: [Place[], Wanted[]] = [[], []];
  const warmed: unknown[] = [];
  const note = ({ owner, conversation, workspace }: ProgramPlace) =>
    void places.push({ owner, conversation, workspace: workspace?.id });
  const openSandbox = (): Sandbox => {
    const none = noSandbox();
    const submit: Sandbox["executions"]["submit"] = async (place, { onChanges: _, ...program }) => {
      note(place);
      wanted.push(program);
      return ok(record);
    };
    return {
      ...none,
      reset: async (place) => note(place),
      prewarm: ({ conversation }) => void warmed.push(conversation),
      executions: { ...none.executions, submit, ...executions },
    };
  };
  const yard = await startYard({ openSandbox });
  const call = async (way: string, body: object = {}, headers: Record<string, string> = {}) => {
    const sent = way.startsWith("GET") ? {} : { body };
    const { status, text } = await callOver(yard.app, way, { "x-account-id": "ann", ...headers, ...sent });
    return { status, body: text === "" ? {} : JSON.parse(text) };
  };
  const ann = OwnerId.parse("ann");
  return { yard, call, places, wanted, warmed, ann, [Symbol.asyncDispose]: yard[Symbol.asyncDispose] };
}

test("a session is reset for the conversation that is named in the body, the query or a header, and for no one else's [X1][S7]", async () => {
  await using door = await asked();
  const { call, places, yard, ann } = door;
  const { number } = await yard.start("c1", ann);
  await yard.start("of-bob", OwnerId.parse("bob"));
  const reset = async (query = "", body: object = {}, headers: Record<string, string> = {}) => {
    const { status } = await call(`POST /api/v1/sessions/sess-ann/reset${query}`, body, headers);
    return [status, places.splice(0)];
  };
  const there = [204, [{ owner: "ann", conversation: number, workspace: "c1" }]];
  assert.deepEqual(await reset(), [204, [{ owner: "ann", conversation: undefined, workspace: undefined }]]);
  assert.deepEqual(await reset("", { conversation_id: "c1" }), there);
  assert.deepEqual(await reset("?conversation_id=c1"), there);
  assert.deepEqual(await reset("", {}, { conversation_id: "c1" }), there);
  assert.deepEqual(await reset("", {}, { "x-conversation-id": "c1" }), there);
  assert.deepEqual(await reset("?conversation_id=none", { conversation_id: "c1" }), there, "the body comes first");
  assert.deepEqual(await reset("?conversation_id=of-bob"), [404, []]);
  assert.deepEqual((await call("POST /api/v1/sessions/sess-bob/reset", {})).status, 404);
});

test("a program is run as it was asked for: its language, its time, its variables and its event [X1][X2]", async () => {
  await using door = await asked();
  const { call, places, wanted, yard, ann } = door;
  const run = async (body: object, query = "") => {
    const { status } = await call(`POST /api/v1/executions/sessions/sess-ann/execute${query}`, body);
    assert.equal(status, 201);
    const [program] = wanted.splice(0);
    return program;
  };
  const usual = {
    ...{ id: undefined, language: "python", code: "1", timeoutMs: 30_000, folder: undefined, env: {}, event: "{}" },
    ...{ shownBytesMax: 256 * 1024, conversationId: undefined, isWaitedFor: false },
  };
  assert.deepEqual(await run({ code: "1", language: "python" }), usual);
  const event = { a: [1] };
  const more = { timeout: 7, env_vars: { A: "b" }, event };
  const told = { timeoutMs: 7_000, env: { A: "b" } };
  assert.deepEqual(await run({ code: "1", language: "javascript", ...more }), {
    ...{ ...usual, language: "javascript", ...told, event: JSON.stringify(event) },
  });
  for (const language of ["shell", "bash"])
    assert.deepEqual(await run({ code: "1", language, ...more }), {
      ...usual,
      language: "bash",
      ...told,
      event: undefined,
    });
  places.length = 0;
  const named = await run({ code: "1", language: "python" }, "?conversation_id=c9");
  assert.equal(named?.conversationId, "c9");
  const { number } = await must(yard.log.find(ann, "c9"));
  assert.deepEqual(places, [{ owner: "ann", conversation: number, workspace: "c9" }]);
});

test("whoever waits for a program is told how it ended, why it never ran, or that it goes on without them [X2]", async () => {
  const failure = makeFailure("sandbox_full", { retryAfterSeconds: 3 });
  const ends: (ExecutionRecord | undefined)[] = [
    { ...record, status: "completed", endedAt: 4_500 },
    { ...record, status: "failed", failure },
    undefined,
  ];
  const waited: unknown[] = [];
  await using door = await asked({
    async wait(owner, id) {
      waited.push([owner, id]);
      return ends.shift();
    },
  });
  const { call, wanted } = door;
  const run = () => call("POST /api/v1/executions/sessions/sess-ann/execute-sync?sync_timeout=5", { code: "1" });
  const done = await run();
  assert.deepEqual(
    [done.status, done.body.id, done.body.status, done.body.execution_time],
    [200, "e1", "completed", 2.5],
  );
  const refused = await run();
  assert.deepEqual([refused.status, refused.body.code, refused.body.execution_id], [503, "sandbox_full", "e1"]);
  const late = await run();
  assert.deepEqual(
    [late.status, late.body.code, late.body.params],
    [408, "execution_running", { id: "e1", seconds: 5, why: "slow" }],
  );
  assert.deepEqual(
    waited,
    Array.from({ length: 3 }, () => ["ann", "e1"]),
  );
  assert.deepEqual(
    wanted.map(({ isWaitedFor }) => isWaitedFor),
    [true, true, true],
  );
});

test("pages of executions are as large as was asked for, within what one answer may hold [X2]", async () => {
  const pages: unknown[] = [];
  await using door = await asked({
    async list(owner, page) {
      pages.push({ owner, ...page });
      return { items: [record], total: 3 };
    },
  });
  const list = async (query: string) => {
    const { items, ...page } = (await door.call(`GET /api/v1/executions/sessions/sess-ann/executions${query}`)).body;
    assert.equal(items[0].id, "e1");
    return page;
  };
  assert.deepEqual(await list(""), { total: 3, limit: 50, offset: 0, has_more: true });
  assert.deepEqual(await list("?limit=201&offset=1"), { total: 3, limit: 200, offset: 1, has_more: true });
  assert.deepEqual(await list("?limit=0&offset=2"), { total: 3, limit: 1, offset: 2, has_more: false });
  const owner = "ann";
  assert.deepEqual(pages, [
    { owner, limit: 50, offset: 0 },
    { owner, limit: 200, offset: 1 },
    { owner, limit: 1, offset: 2 },
  ]);
});

test("a tool call of the sandbox's box runs for as long as it says, else the box, else a minute, and is waited for a minute more [T4][X1]", async () => {
  await using door = await asked({ wait: async () => undefined });
  const { call, wanted } = door;
  const run = async (body: object) => {
    const path = "/api/agent-operator-integration/v1/tool-box/sandbox/proxy/execute_code";
    const { status, body: told } = await call(`POST ${path}`, body);
    assert.deepEqual([status, told.status_code], [200, 408], JSON.stringify(told));
    const [program] = wanted.splice(0);
    return [program?.timeoutMs, program?.language, /(\d+) s/.exec(told.error)?.[1]];
  };
  assert.deepEqual(await run({ body: { code: "1" } }), [60_000, "python", "120"]);
  assert.deepEqual(await run({ body: { code: "1", language: "bash" }, timeout: 7 }), [7_000, "bash", "67"]);
  assert.deepEqual(await run({ body: { code: "1", timeout: 5 }, timeout: 7 }), [5_000, "python", "65"]);
  const others = await call("POST /api/agent-operator-integration/v1/tool-box/sandbox/proxy/execute_code", {
    body: { code: "1", session_id: "sess-bob" },
  });
  assert.deepEqual([others.body.status_code, wanted], [404, []], "whose session it is follows from who calls");
});

test("a conversation that a chat client opens has its sandbox made ready, and is said to stay so for ten minutes [X1][C4]", async () => {
  await using door = await asked();
  const { number } = await door.yard.start("c1", door.ann);
  door.warmed.length = 0;
  const opened = await door.call("PUT /api/agent-app/v1/conversation/session/c1");
  assert.deepEqual([opened.status, opened.body], [200, { conversation_session_id: "c1", ttl: 600 }]);
  await until("it is made ready", () => door.warmed.length > 0);
  assert.deepEqual(door.warmed, [number]);
});
