import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { failed, ok } from "../../base/result.ts";
import { type Failure, failure, makeFailure } from "../../protocol/failure.ts";
import { ConversationId, localOwner, OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked, noted, notedLater, partsWith } from "./handling.testing.ts";
import { healthHandlers } from "./health.ts";
import { mcpHandlers } from "./mcp.ts";
import { modelHandlers } from "./models.ts";
import { searchHandlers } from "./search.ts";
import { toolHandlers } from "./tools.ts";
import { workspaceHandlers } from "./workspaces.ts";

// What routes of a few lines each tell, and what they leave alone.

const ann = OwnerId.parse("ann");
const row = { id: "c", number: 7, owner: ann } as ConversationRow;
const find = async () => ok(row);

test("health is that of the worst part, and says which it is and for how long the server is up [O1]", async () => {
  const clock = manualClock();
  clock.move(5_000);
  const well = ok(undefined);
  const ill = failed(makeFailure("storage_full", {}));
  const lack = { lack: "x", reason: "no", fix: "do" };
  const told = async (parts: {
    database?: typeof well | typeof ill;
    files?: typeof well | typeof ill;
    probe?: object;
  }) => {
    const { database = well, files = well, probe = {} } = parts;
    const { healthDetailed } = healthHandlers(
      partsWith({
        ...{ version: "1", clock, storage: { check: async () => database } },
        workspaces: { check: async () => files },
        sandbox: { probe: async () => ({ missing: [], degraded: [], ...probe }), load: () => ({}) },
      }),
    );
    clock.move(1_500);
    const answer = await healthDetailed(asked("healthDetailed", {}));
    assert.ok(answer.ok);
    const { status, uptime, dependencies } = answer.value;
    return [status, uptime, ...Object.values(dependencies).map((one) => one.status)];
  };
  assert.deepEqual(await told({}), ["healthy", 1.5, "healthy", "healthy", "healthy"]);
  assert.deepEqual(await told({ database: ill }), ["unhealthy", 1.5, "unhealthy", "healthy", "healthy"]);
  assert.deepEqual(await told({ files: ill }), ["unhealthy", 1.5, "healthy", "unhealthy", "healthy"]);
  assert.deepEqual(await told({ probe: { degraded: [lack] } }), ["degraded", 1.5, "healthy", "healthy", "degraded"]);
  const worse = await told({ database: ill, probe: { degraded: [lack] } });
  assert.deepEqual(worse, ["unhealthy", 1.5, "unhealthy", "healthy", "degraded"]);
  const both = { missing: [lack], degraded: [lack] };
  assert.deepEqual(await told({ probe: both }), ["unhealthy", 1.5, "healthy", "healthy", "unhealthy"]);
});

test("a search looks only where the caller's key reaches, and in their own conversation [D2][S7]", async () => {
  const looked: unknown[] = [];
  const none = failure("storage_full", {});
  const { search } = searchHandlers(
    partsWith({
      log: { find: async (_, id) => (id === "c" ? ok(row) : failure("conversation_not_found", { id })) },
      lookup: { find: async (owner, { signal: _, ...wanted }) => noted(looked, [owner, wanted], none) },
    }),
  );
  const look = async (where: "files" | "messages" | "all", scopes: ("chat" | "files")[], conversation?: string) => {
    const query = { q: "w", in: where, limit: 5, conversation };
    const answer = await search(asked("search", { owner: ann, query, caller: { signedIn: ann, scopes } }));
    return answer.ok || [answer.failure.code, Object(answer.failure.params).scope];
  };
  const missing = (scope: string) => ["scope_missing", scope];
  assert.deepEqual(await look("files", ["chat"]), missing("files"));
  assert.deepEqual(await look("messages", ["files"]), missing("chat"));
  assert.deepEqual([await look("all", ["chat"]), await look("all", ["files"])], [missing("files"), missing("chat")]);
  assert.deepEqual(await look("files", ["files"], "x"), ["conversation_not_found", undefined]);
  assert.deepEqual(looked, []);
  await look("files", ["files"]);
  await look("messages", ["chat"], "c");
  assert.deepEqual(looked, [
    ["ann", { query: "w", in: "files", conversation: undefined, hitsMax: 5 }],
    ["ann", { query: "w", in: "messages", conversation: row, hitsMax: 5 }],
  ]);
});

test("who runs the machine cleans up after all, everybody else after themselves, after their days or the usual ones [W10][S7]", async () => {
  const cleaned: unknown[] = [];
  const { cleanWorkspaces } = workspaceHandlers(
    partsWith({
      ...{ log: { find }, cleanAfterMs: () => 5 * 86_400_000 },
      documents: { tidy: () => notedLater(cleaned, "tidy") },
      workspaces: {
        async clean(wanted) {
          cleaned.push(wanted);
          return { workspaces: 1, bytes: 2, skipped: 3 };
        },
      },
    }),
  );
  const clean = async (
    owner: OwnerId,
    isLocal: boolean,
    body: { days?: number; conversation?: ConversationId } = {},
  ) => {
    const answer = await cleanWorkspaces(asked("cleanWorkspaces", { owner, isLocal, body }));
    return [answer.ok && answer.value.days, ...cleaned.splice(0)];
  };
  const days = (count: number, more: object = {}) => ({
    unusedMs: count * 86_400_000,
    conversation: undefined,
    ...more,
  });
  assert.deepEqual(await clean(localOwner, true), [5, days(5), "tidy"]);
  assert.deepEqual(await clean(localOwner, false, { days: 2 }), [2, days(2, { owner: localOwner }), "tidy"]);
  const own = days(0, { owner: ann, conversation: 7 });
  assert.deepEqual(await clean(ann, true, { days: 0, conversation: ConversationId.parse("c") }), [0, own, "tidy"]);
});

test("tools that were loaded are shown as loaded, and all of them where nobody could load one [T1]", async () => {
  const item = (name: string, tier: "always" | "on_demand") => ({ name, tier });
  const items = [item("a", "always"), item("b", "on_demand"), item("d", "on_demand")];
  let only: string[] | undefined;
  const done: string[] = [];
  const { listTools } = toolHandlers(
    partsWith({
      freshen: () => notedLater(done, "fresh"),
      tools: () => noted(done, "tools", { items, broken: [] }),
      log: { find, history: async () => ({ loadedTools: new Set(["b"]) }) },
      engine: { agentTools: async () => only },
    }),
  );
  const list = async (conversation?: string) => {
    const answer = await listTools(asked("listTools", { owner: ann, query: { conversation } }));
    return answer.ok && answer.value.items.map(({ name, tier }) => `${name} ${tier}`).join(", ");
  };
  assert.equal(await list(), "a always, b on_demand, d on_demand");
  assert.deepEqual(done, ["fresh", "tools"]);
  assert.equal(await list("c"), "a always, b loaded, d on_demand");
  only = ["a", "d", "use_tool"];
  assert.equal(await list("c"), "a always, d on_demand");
  only = ["a", "d"];
  assert.equal(await list("c"), "a always, d loaded");
});

test("what a server of others has is put into the caller's conversation by who may read it, under where it is from [G1][F3]", async () => {
  const uploads: unknown[] = [];
  const gone = failure("mcp_server_not_found", { server: "s", near: "" });
  let isThere = true;
  const { attachMcpResource } = mcpHandlers(
    partsWith({
      log: { find },
      mcp: { readResource: async () => (isThere ? ok({ name: "a.txt", bytes: new Uint8Array(3) }) : gone) },
      engine: {
        async upload(_, { chunks, ...upload }) {
          let bytes = 0;
          for await (const piece of chunks) bytes += piece.length;
          uploads.push([bytes, upload]);
          return ok({});
        },
      },
    }),
  );
  const attach = async (scopes: ("chat" | "files")[]) => {
    const body = { server: "s", uri: "u" };
    const answer = await attachMcpResource(
      asked("attachMcpResource", { owner: ann, params: { id: "c" }, body, caller: { signedIn: ann, scopes } }),
    );
    return answer.ok ? "ok" : answer.failure.code;
  };
  assert.deepEqual([await attach(["files"]), await attach(["files", "chat"])], ["scope_missing", "ok"]);
  assert.deepEqual(uploads, [[3, { name: "a.txt", announcedBytes: 3, keep: true, server: "s" }]]);
  isThere = false;
  assert.deepEqual([await attach(["chat"]), uploads.length], ["mcp_server_not_found", 1]);
});

test("what else listens on the machine is told to who runs it alone, and a test of a model is passed only whole [M4][S7]", async () => {
  const trial = (isOk: boolean, reason?: Failure) => ({
    ...{ server: "s", api: "chat", offered: ["m"], failure: reason },
    trial: {
      checks: [
        { name: "a", isOk: true },
        { name: "b", isOk },
      ],
      latency: { firstMs: 1, totalMs: 2 },
    },
  });
  let outcome: object = trial(true);
  const { listModels, testModel } = modelHandlers(
    partsWith({
      models: { get: (slot) => ({ id: "m", server: "s", isDemo: false, windowTokens: 1, slot }) },
      detectServers: async () => ["found"],
      entering: { test: async () => outcome },
    }),
  );
  const found = async (detect: boolean, scopes: ("chat" | "admin")[]) => {
    const answer = await listModels(asked("listModels", { query: { detect }, caller: { signedIn: ann, scopes } }));
    return answer.ok && answer.value.found;
  };
  assert.deepEqual(
    [await found(true, ["chat"]), await found(false, ["admin"]), await found(true, ["admin"])],
    [[], [], ["found"]],
  );
  const tested = async () => {
    const answer = await testModel(asked("testModel", { body: {} }));
    return answer.ok && [answer.value.ok, answer.value.failure?.code, answer.value.firstMs, answer.value.totalMs];
  };
  assert.deepEqual(await tested(), [true, undefined, 1, 2]);
  outcome = trial(false);
  assert.deepEqual(await tested(), [false, undefined, 1, 2]);
  outcome = trial(true, makeFailure("storage_full", {}));
  assert.deepEqual(await tested(), [false, "storage_full", 1, 2]);
});
