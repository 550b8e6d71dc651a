import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { type ExecutionRecord, type Executions, executionLimits } from "../../sandbox/sandbox.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { FileChange } from "../../workspace/workspace.ts";
import { executionHandlers } from "./executions.ts";
import { asked, never, notedLater, partsWith } from "./handling.testing.ts";

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["chat", "files"] } as const;
const record: ExecutionRecord = {
  ...{ id: "e1", owner: ann, session: "sess-ann", conversationId: undefined, status: "running", language: "python" },
  ...{ code: "1", codeCutBytes: 0, timeoutMs: 1_000, createdAt: 1, startedAt: 1, endedAt: undefined },
  ...{ failure: undefined, wasCutOff: false, report: undefined, artifacts: [] },
};
const row = { id: "c", number: 7, owner: ann } as ConversationRow;
type Wanted = Parameters<Executions["submit"]>[1];

async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await turn();
}

/** Programs that the test plays, and what was asked of them. */
function playing(executions: Partial<Executions>, more: Parameters<typeof partsWith>[0] = {}) {
  const clock = manualClock();
  const submitted: { readonly place: unknown; readonly wanted: Wanted }[] = [];
  const told: string[] = [];
  const handlers = executionHandlers(
    partsWith({
      ...{ clock, ids: systemIds, logger: (line: string) => void told.push(line), ...more },
      freshen: () => notedLater(told, "fresh"),
      log: { find: async () => ok(row) },
      workspaces: { ofConversation: () => ({ name: "7" }) },
      sandbox: {
        sessions: { find: async () => undefined },
        executions: {
          async submit(place, wanted) {
            assert.ok(told.includes("fresh"), "the settings were looked at before");
            submitted.push({ place, wanted });
            return ok(record);
          },
          ...executions,
        },
      },
    }),
  );
  return { ...handlers, clock, submitted, told };
}

type Body = Parameters<ReturnType<typeof executionHandlers>["execute"]>[0]["body"];
const program = (body: Partial<Body> = {}) => ({
  ...{ caller, params: { id: "sess-ann" }, body: { code: "1", language: "python", timeout: 5, ...body } as Body },
});

test("whoever waits for a program does so for as long as they said, and no clock goes on after it [X2][Q2]", async () => {
  const slow: Executions["wait"] = (_, __, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  const running = playing({ wait: slow });
  const call = { ...program(), query: { sync_timeout: 5, poll_interval: 1 } };
  let answer: unknown;
  const waiting = running.executeSync(asked("executeSync", call)).then((one) => {
    answer = one;
  });
  await settle();
  running.clock.move(4_999);
  await settle();
  assert.equal(answer, undefined);
  running.clock.move(1);
  await waiting;
  assert.deepEqual(answer, failure("execution_running", { id: "e1", seconds: 5, why: "slow" }));
  const ends = new AbortController();
  const told = running.executeSync(asked("executeSync", { ...call, signal: ends.signal, closing: ends.signal }));
  await settle();
  ends.abort();
  assert.deepEqual(await told, failure("execution_running", { id: "e1", seconds: 5, why: "server_ends" }));
  const refusal = makeFailure("sandbox_full", { retryAfterSeconds: 1 });
  const refused = playing({ wait: async () => ({ ...record, status: "failed", failure: refusal }) });
  assert.deepEqual(await refused.executeSync(asked("executeSync", call)), {
    ...{ ok: false, failure: refusal, beside: { execution_id: "e1" } },
  });
  const over = playing({ wait: async () => ({ ...record, status: "completed" }) });
  const done = await over.executeSync(asked("executeSync", call));
  assert.equal(done.ok && !(done.value instanceof ReadableStream) && done.value.status, "completed");
  assert.deepEqual([over.clock.timers(), running.clock.timers(), refused.clock.timers()], [0, 0, 0]);
  assert.deepEqual([over.submitted[0]?.wanted.isWaitedFor, running.submitted.length], [true, 2]);
});

test("a program is run as its caller said, in the conversation they named, with settings as they are now [X1][X2]", async () => {
  const running = playing({ find: async () => undefined });
  const nowhere = { owner: ann, conversation: undefined, workspace: undefined, agent: "root" };
  const usual = { id: undefined, code: "1", folder: undefined, shownBytesMax: 262_144, isWaitedFor: false };
  const begun = await running.execute(asked("execute", program({ language: "shell", timeout: 7, event: { a: 1 } })));
  assert.deepEqual(
    begun,
    ok({ execution_id: "e1", session_id: "sess-ann", status: "running", created_at: "1970-01-01T00:00:00.001Z" }),
  );
  assert.deepEqual(
    [running.submitted.pop(), running.told.splice(0)],
    [
      {
        place: nowhere,
        wanted: {
          ...{ ...usual, language: "bash", timeoutMs: 7_000, env: {}, event: undefined },
          ...{ conversationId: undefined, onChanges: undefined },
        },
      },
      ["fresh"],
    ],
  );
  const env_vars = { A: "b" };
  await running.execute(asked("execute", program({ language: "javascript", conversation_id: "c", env_vars })));
  const { place, wanted: { onChanges, ...wanted } = assert.fail() } = running.submitted.pop() ?? {};
  assert.deepEqual(place, { ...nowhere, conversation: 7, workspace: { name: "7" } });
  assert.deepEqual(wanted, {
    ...{ ...usual, language: "javascript", timeoutMs: 5_000, env: env_vars, event: "{}", conversationId: "c" },
  });
  assert.equal(typeof onChanges, "function");
  const room = executionLimits.eventBytesMax - '{"a":""}'.length;
  const sized = async (length: number) => {
    const answer = await running.execute(asked("execute", program({ event: { a: "x".repeat(length) } })));
    return answer.ok ? "ok" : answer.failure;
  };
  const tooLong = makeFailure("bad_request", { what: "body.event", rule: "event" });
  assert.deepEqual([await sized(room), await sized(room + 1)], ["ok", tooLong]);
  const wide = await running.execute(asked("execute", program({ event: { a: "世".repeat(room / 2) } })));
  assert.equal(wide.ok, false, "bytes are counted, not characters");
});

test("all that a program did to files is noted, so much at a time; where that fails the log file says so [W12][X2]", async () => {
  const noted: number[] = [];
  let refused = 0;
  const running = playing(
    {},
    {
      engine: {
        async noteChanges(_, changes) {
          noted.push(changes.length);
          return noted.length === refused ? failure("storage_full", {}) : ok(undefined);
        },
      },
    },
  );
  await running.execute(asked("execute", program({ conversation_id: "c" })));
  const onChanges = running.submitted[0]?.wanted.onChanges ?? assert.fail();
  const changes = (count: number) => Array.from({ length: count }, (): FileChange => ({ path: "a" }) as FileChange);
  for (const count of [0, 500, 1_001]) await onChanges(changes(count));
  assert.deepEqual(noted.splice(0), [500, 500, 500, 1]);
  refused = 1;
  running.told.splice(0);
  await onChanges(changes(600));
  assert.deepEqual([noted, running.told], [[500], ["changes of files by an execution were not noted: storage_full"]]);
});

test("a program is begun once under its key, and again where there was no room for it before [C6][X2]", async () => {
  const full = makeFailure("sandbox_full", { retryAfterSeconds: 1 });
  const known = new Map<string, ExecutionRecord>();
  const looked: string[] = [];
  const running = playing({
    async find(_, id) {
      looked.push(id);
      return known.get(id);
    },
  });
  const begin = () => running.execute(asked("execute", { ...program(), once: { seed: "s", isRetry: true } }));
  await begin();
  const [first = ""] = looked;
  assert.match(first, /^[0-9a-f]{32}$/);
  assert.equal(running.submitted[0]?.wanted.id, first);
  known.set(first, { ...record, id: first });
  const again = await begin();
  assert.deepEqual([again.ok && again.value.execution_id, running.submitted.length], [first, 1], "it runs already");
  known.set(first, { ...record, id: first, failure: full });
  await begin();
  const second = looked.at(-1) ?? "";
  assert.deepEqual([running.submitted.length, running.submitted[1]?.wanted.id], [2, second]);
  assert.notEqual(second, first);
});

test("of a list of programs comes what was asked for within the limits, and whether there is more [X2]", async () => {
  const pages: unknown[] = [];
  const { listExecutions } = playing({
    async list(_, page) {
      pages.push(page);
      return { items: [record, record], total: 5 };
    },
  });
  const list = async (limit: number, offset: number) => {
    const answer = await listExecutions(
      asked("listExecutions", { caller, params: { id: "sess-ann" }, query: { limit, offset } }),
    );
    return answer.ok && [answer.value.limit, answer.value.offset, answer.value.total, answer.value.has_more];
  };
  assert.deepEqual(
    [await list(0, 0), await list(200, 2), await list(201, 3)],
    [
      [1, 0, 5, true],
      [200, 2, 5, true],
      [200, 3, 5, false],
    ],
  );
  assert.deepEqual(pages, [
    { limit: 1, offset: 0 },
    { limit: 200, offset: 2 },
    { limit: 200, offset: 3 },
  ]);
});

test("a place among those who follow is free again when its reader has gone, also before anything was sent [X2][Q2]", async () => {
  const after: unknown[] = [];
  const { followExecution } = playing({
    find: async (owner) => ({ ...record, owner }),
    wait: (_, __, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    follow(_, __, place) {
      after.push(place);
      return undefined;
    },
  });
  const open = async (gone = never, of: { lastEventId?: string; who?: string } = {}) => {
    const { lastEventId, who = "ann" } = of;
    const answer = await followExecution(
      asked("followExecution", {
        ...{ params: { id: "e1" }, query: { after: "1-2" }, lastEventId, gone },
        caller: { ...caller, signedIn: OwnerId.parse(who) },
      }),
    );
    if (answer.ok) return answer.value;
    assert.equal(answer.failure.code, "streams_full");
    return undefined;
  };
  const left = new AbortController();
  left.abort();
  for (let times = 0; times < 20; times += 1) assert.ok(await open(left.signal), "who has gone takes no place");
  const streams: (ReadableStream<Uint8Array> | undefined)[] = [];
  for (let times = 0; times < 20; times += 1) streams.push(await open());
  assert.deepEqual([streams.includes(undefined), await open()], [false, undefined]);
  assert.ok(await open(never, { who: "bob" }), "everybody has places of their own");
  await streams[0]?.cancel();
  const last = await open(never, { lastEventId: "3-4" });
  void last?.getReader().read();
  await settle();
  assert.deepEqual([await open(), after], [undefined, [{ stdout: 3, stderr: 4 }]]);
  await streams[1]?.cancel();
  void (await open())?.getReader().read();
  await settle();
  assert.deepEqual(after.at(-1), { stdout: 1, stderr: 2 });
});
