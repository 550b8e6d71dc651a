import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import { failed, ok } from "../../base/result.ts";
import { ChatIncrement } from "../../protocol/chat.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { chatHandlers } from "./chat.ts";
import { chatConversationHandlers } from "./chat-conversations.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";

const said = (id: string): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", run: `run ${id}`, reply: `to ${id}` },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });

/** A chat whose log the test writes, and what was asked of the engine. */
async function chatting() {
  const yard = await writtenTurn();
  const { engine, ...view } = yard.view;
  const done: unknown[] = [];
  let refusal: Failure | undefined;
  const handlers = chatHandlers(
    partsWith({
      ...view,
      engine: {
        ...engine,
        resume: async ({ id }) => noted(done, ["resume", id], ok({ turn: 1 })),
        async cancel({ id }, which) {
          done.push(["cancel", id, which]);
          return refusal === undefined ? ok({ turn: 1 }) : failed(refusal);
        },
      },
    }),
  );
  const caller = { signedIn: localOwner, scopes: ["chat"] } as const;
  return {
    ...{ yard, done },
    refuse: (why: Failure) => {
      refusal = why;
    },
    async resume(body: object, lastEventId?: string) {
      const answer = await handlers.resumeChat(
        asked("resumeChat", { caller, body: { conversation_id: "c", ...body }, lastEventId }),
      );
      if (!answer.ok) return answer.failure.code;
      assert.ok(answer.value instanceof ReadableStream);
      const [, first = ""] = /^data: (.*)$/m.exec(await firstOf(answer.value)) ?? [];
      return ChatIncrement.parse(JSON.parse(first));
    },
    /** By the answer that it reads. */
    async resumed(body: object) {
      const answer = await handlers.resumeChat(
        asked("resumeChat", { caller, body: { conversation_id: "c", ...body } }),
      );
      assert.ok(answer.ok && answer.value instanceof ReadableStream);
      return /"run [a-z]"/.exec(await firstOf(answer.value))?.[0];
    },
    terminate: (body: object) =>
      handlers.terminateChat(asked("terminateChat", { caller, body: { conversation_id: "c", ...body } })),
  };
}

async function firstOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value ?? []).toString();
}

test("who reads on goes on behind the last frame they have, as they or their browser say it [C3][C4]", async () => {
  const { yard, resume } = await chatting();
  await using _ = yard;
  await yard.append(said("a"), started(1, "a"), finished(1));
  const next = async (...of: Parameters<typeof resume>) => Object(await resume(...of)).seq_id;
  assert.deepEqual(
    [await next({}), await next({ last_seq_id: 4 }), await next({}, "7"), await next({ last_seq_id: 4 }, "7")],
    [0, 5, 8, 5],
  );
  assert.deepEqual([await next({ last_seq_id: 0 }), await next({}, "7-1"), await next({}, "9".repeat(16))], [1, 0, 0]);
});

test("an answer that is being written is read on and set going again, one that is over or waits is only read [C4][L2]", async () => {
  const { yard, resumed, resume, done } = await chatting();
  await using _ = yard;
  assert.equal(await resume({}), "run_not_found");
  await yard.append(said("a"), started(1, "a"), finished(1), said("b"), started(2, "b"), said("d"));
  assert.equal(await resumed({}), '"run b"', "the one that runs, not the one that waits");
  assert.deepEqual(done.splice(0), [["resume", "c"]]);
  assert.equal(await resumed({ agent_run_id: "run a" }), '"run a"');
  assert.equal(await resumed({ agent_run_id: "run d" }), '"run d"');
  assert.equal(await resumed({ agent_run_id: "" }), '"run b"', "an empty name is none");
  assert.deepEqual([done.splice(0), await resume({ agent_run_id: "run x" })], [[["resume", "c"]], "run_not_found"]);
  await yard.append(finished(2), { type: "message.withdrawn", id: "d" });
  assert.equal(await resumed({}), '"run b"', "the newest that counts");
  assert.deepEqual(done, []);
});

test("the turn that is named is stopped, by its run or its answer; one that is over is left, with what runs by now [C4][L6]", async () => {
  const { yard, terminate, done, refuse } = await chatting();
  await using _ = yard;
  await yard.append(said("a"), started(1, "a"), finished(1), said("b"), started(2, "b"), said("d"));
  const running = { message: "b", turn: 2 };
  for (const body of [{ agent_run_id: "run b" }, { interrupted_assistant_message_id: "to b" }]) {
    assert.deepEqual(await terminate(body), ok(undefined));
    assert.deepEqual(done.splice(0), [["cancel", "c", running]]);
  }
  await terminate({ agent_run_id: "run d" });
  await terminate({});
  assert.deepEqual(done.splice(0), [
    ["cancel", "c", { message: "d", turn: undefined }],
    ["cancel", "c", undefined],
  ]);
  for (const run of ["run a", "run x"]) assert.deepEqual(await terminate({ agent_run_id: run }), ok(undefined));
  assert.deepEqual(done, []);
  refuse(makeFailure("turn_not_running", {}));
  assert.deepEqual(await terminate({}), ok(undefined), "stopping twice is fine");
  refuse(makeFailure("storage_full", {}));
  assert.deepEqual(await terminate({}), failed(makeFailure("storage_full", {})));
});

/** Conversations of one app, some of which somebody else deletes first. */
function listing(count: number, fails: (id: string) => Failure | undefined = () => undefined) {
  let rows = Array.from(
    { length: count },
    (_, at) => ({ id: `c${at}`, number: at, owner: localOwner }) as ConversationRow,
  );
  const asks: unknown[] = [];
  const handlers = chatConversationHandlers(
    partsWith({
      log: { headOf: async () => 0, effective: async () => [] },
      storage: {
        async searchConversations(owner, wanted) {
          asks.push([owner, wanted]);
          return { items: rows.slice(wanted.offset, wanted.offset + wanted.limit), total: rows.length };
        },
      },
      engine: {
        async remove({ id }) {
          const why = fails(id);
          if (why?.code !== "storage_full") rows = rows.filter((row) => row.id !== id);
          return why === undefined ? ok(undefined) : failed(why);
        },
      },
    }),
  );
  const at = { caller: { signedIn: localOwner, scopes: ["chat"] }, params: { app_key: "app" } } as const;
  return {
    asks,
    left: () => rows.length,
    deleteAll: () => handlers.deleteChatConversations(asked("deleteChatConversations", at)),
    list: (query: { page: number; size: number; title?: string }) =>
      handlers.listChatConversations(asked("listChatConversations", { ...at, query })),
  };
}

test("all conversations of an app are deleted, however many, and those that somebody else deleted first are no hindrance [C4]", async () => {
  const gone = makeFailure("conversation_not_found", { id: "c3" });
  const many = listing(201, (id) => (id === "c3" ? gone : undefined));
  assert.deepEqual([await many.deleteAll(), many.left()], [ok(undefined), 0]);
  assert.deepEqual(many.asks[0], [localOwner, { appKey: "app", limit: 100, offset: 0 }]);
  const full = makeFailure("storage_full", {});
  const stuck = listing(3, (id) => (id === "c1" ? full : undefined));
  assert.deepEqual([await stuck.deleteAll(), stuck.left()], [failed(full), 2]);
});

test("a page of conversations begins where the one before ended, and all of them are counted [C4]", async () => {
  const { list, asks } = listing(5);
  const page = async (number: number, title?: string) => {
    const answer = await list({ page: number, size: 2, ...(title !== undefined && { title }) });
    return answer.ok && [answer.value.entries.map(({ id }) => id), answer.value.total];
  };
  assert.deepEqual(
    [await page(1), await page(3)],
    [
      [["c0", "c1"], 5],
      [["c4"], 5],
    ],
  );
  await page(1, "");
  await page(1, "t");
  assert.deepEqual(asks.slice(2), [
    [localOwner, { appKey: "app", title: undefined, limit: 2, offset: 0 }],
    [localOwner, { appKey: "app", title: "t", limit: 2, offset: 0 }],
  ]);
});
