import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ExecutionRecord } from "../../sandbox/sandbox.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked, partsWith } from "./handling.testing.ts";
import { runSandboxTool } from "./operator-sandbox.ts";

const ann = OwnerId.parse("ann");
const record = {
  ...{ id: "e1", owner: ann, session: "sess-ann", conversationId: undefined, status: "completed", language: "python" },
  ...{ code: "1", codeCutBytes: 0, timeoutMs: 1_000, createdAt: 1, wasCutOff: false, artifacts: [] },
} as unknown as ExecutionRecord;

/** The sandbox's tool, called so; what was run for how long, and how long somebody waited. */
async function run(body: object, tool_id = "execute_code", answer: unknown = ok(record)) {
  const clock = manualClock();
  const told: unknown[] = [];
  const parts = partsWith({
    ...{ clock, ids: systemIds, freshen: async () => undefined },
    log: { find: async (_, id) => ok({ id, number: 7, owner: ann } as ConversationRow) },
    workspaces: { ofConversation: () => ({}) },
    sandbox: {
      sessions: { find: async () => undefined },
      executions: {
        async submit({ conversation }, { code, language, timeoutMs, event }) {
          told.push([code, language, timeoutMs, conversation, event]);
          clock.move(7);
          return answer;
        },
        async wait(_, __, signal) {
          const before = clock.monotonic();
          while (!signal.aborted) clock.move(1_000);
          told.push((clock.monotonic() - before) / 1_000);
          return record;
        },
      },
    },
  });
  const caller = { signedIn: ann, scopes: ["chat"] } as const;
  const params = { box_id: "sandbox", tool_id };
  const ran = await runSandboxTool(parts, asked("invokeTool", { owner: ann, caller, params, body }));
  return ran.ok ? [ran.value.status_code, ran.value.duration_ms, ...told] : ran.failure.code;
}

test("code that the sandbox's tool is given runs for as long as it says, or its call, or a minute, and is waited for a minute more [T4][X2]", async () => {
  const ran = (seconds: number) => ["1", "python", seconds * 1_000, undefined, "{}"];
  const waited = (seconds: number) => [200, 7 + seconds * 1_000, ran(seconds - 60), seconds];
  assert.deepEqual(await run({ body: { code: "1" } }), waited(120));
  assert.deepEqual(await run({ body: { code: "1" }, timeout: 5 }), waited(65));
  assert.deepEqual(await run({ body: { code: "1" }, timeout: 0 }), waited(120));
  assert.deepEqual(await run({ body: { code: "1", timeout: 9 }, timeout: 5 }), waited(69));
});

test("what the sandbox's tool is given counts in the body first, then in the path, and whose session it is follows from who calls [T4][S7]", async () => {
  const told = async (body: object) => {
    const answer = await run(body);
    return Array.isArray(answer) ? answer[2] : answer;
  };
  const given = { query: { code: "q" }, path: { code: "p" }, body: { code: "b", language: "shell" } };
  assert.deepEqual(await told(given), ["b", "bash", 60_000, undefined, undefined]);
  assert.deepEqual(await told({ ...given, body: null }), ["p", "python", 60_000, undefined, "{}"]);
  assert.deepEqual(await told({ query: { code: "q", conversation_id: "c" } }), ["q", "python", 60_000, 7, "{}"]);
  assert.deepEqual(await told({ body: { code: "b", event: { a: 1 } } }), ["b", "python", 60_000, undefined, '{"a":1}']);
  assert.deepEqual(await run({ body: { code: "b", session_id: "sess-bob" } }), [404, 0]);
  assert.deepEqual(await run({ body: { code: "b", session_id: "sess-ann" } }).then((answer) => answer[0]), 200);
});

test("what is no tool of the sandbox or no code is refused, and code for which there is no room is told as its answer [T4][P4]", async () => {
  assert.equal(await run({ body: { code: "1" } }, "other"), "toolbox_tool_not_found");
  assert.equal(await run({ body: {} }), "bad_request");
  assert.equal(await run({ body: { code: "1", timeout: 3_601 } }), "bad_request");
  const full = failure("sandbox_busy", { kind: "running", limit: 1, setting: "s", retryAfterSeconds: 3 });
  const [status, durationMs] = await run({ body: { code: "1" } }, "execute_code", full);
  assert.deepEqual([status, durationMs], [429, 7]);
});
