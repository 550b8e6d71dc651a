import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { conversationHandlers } from "./conversations.ts";
import { decisionHandlers } from "./decisions.ts";
import { eventHandlers } from "./events.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { messageHandlers } from "./messages.ts";

const row = { id: "c", number: 7, owner: localOwner, title: "t", isPinned: false, cursor: "9" } as ConversationRow;
const find = async () => ok(row);

test("a conversation that an earlier try of the same call made is told as made, and one that was there is not [C6]", async () => {
  const exists = failure("conversation_exists", { id: "c" });
  let answer: typeof exists | ReturnType<typeof failure<"storage_full">> = exists;
  const made: unknown[] = [];
  const { createConversation } = conversationHandlers(
    partsWith({
      ...{ ids: systemIds, log: { find } },
      engine: {
        agents: () => [{ id: "general", name: "g", description: "" }],
        async create(owner, wanted) {
          made.push([owner, wanted]);
          return answer;
        },
      },
    }),
  );
  const create = async (isRetry: boolean, body: object = { id: "c" }) => {
    const told = await createConversation(asked("createConversation", { body, once: { seed: "s", isRetry } }));
    return told.ok ? told.value.id : told.failure.code;
  };
  assert.deepEqual([await create(true), await create(false)], ["c", "conversation_exists"]);
  answer = failure("storage_full", {});
  assert.equal(await create(true), "storage_full");
  made.splice(0);
  await create(false, { agent: "general", title: "t" });
  await create(false, { agent: "general", title: "t" });
  const [first, second] = made;
  assert.deepEqual(first, second, "under one key it has one id");
  const { id, ...wanted } = Object(Object(first)[1]);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(wanted, { title: "t", agent: { agentId: "general" } });
  assert.equal(await create(false, { agent: "nobody" }), "agent_not_found");
  assert.equal(made.length, 2);
});

test("a page of conversations says where the next begins where there may be one [C7]", async () => {
  const pages: unknown[] = [];
  const { listConversations } = conversationHandlers(
    partsWith({
      log: {
        async list(_, page) {
          pages.push(page);
          return [row, { ...row, cursor: "8" }];
        },
      },
    }),
  );
  const next = async (limit: number, pinned?: boolean) => {
    const answer = await listConversations(asked("listConversations", { query: { limit, pinned } }));
    return answer.ok && [answer.value.items.length, answer.value.next];
  };
  assert.deepEqual(
    [await next(2), await next(3, true)],
    [
      [2, "8"],
      [2, null],
    ],
  );
  assert.deepEqual(pages, [
    { limit: 2, isPinned: undefined },
    { limit: 3, isPinned: true },
  ]);
});

test("of a conversation that is what was asked for is changed, and nothing more after something was refused [S6]", async () => {
  const done: unknown[] = [];
  const changing = (isRefused: boolean) =>
    conversationHandlers(
      partsWith({
        log: {
          find,
          async rename(one, title) {
            done.push(["rename", title]);
            return isRefused ? failure("storage_full", {}) : ok({ ...one, title });
          },
          async mark(one, marks) {
            done.push(["mark", one.title, marks]);
            return ok({ ...one, isPinned: marks.isPinned ?? one.isPinned });
          },
        },
      }),
    );
  const change = async (body: object, isRefused = false) => {
    const answer = await changing(isRefused).changeConversation(
      asked("changeConversation", { params: { id: "c" }, body }),
    );
    return [answer.ok ? [answer.value.title, answer.value.pinned] : answer.failure.code, ...done.splice(0)];
  };
  assert.deepEqual(await change({}), [["t", false]]);
  assert.deepEqual(await change({ title: "new", pinned: true }), [
    ...[
      ["new", true],
      ["rename", "new"],
    ],
    ["mark", "new", { isPinned: true, seenAt: undefined }],
  ]);
  assert.deepEqual(await change({ seenAt: 5 }), [
    ["t", false],
    ["mark", "t", { isPinned: undefined, seenAt: 5 }],
  ]);
  assert.deepEqual(await change({ pinned: false }), [
    ["t", false],
    ["mark", "t", { isPinned: false, seenAt: undefined }],
  ]);
  assert.deepEqual(await change({ title: "new", pinned: true }, true), ["storage_full", ["rename", "new"]]);
});

test("a page of events ends where it says, also where an agent has none on it, and the last one says so [C3][C7]", async () => {
  const reads: unknown[] = [];
  const event = { type: "conversation.renamed", seq: 3, at: 1, title: "t" } as LogEvent;
  const { readEvents } = eventHandlers(
    partsWith({
      log: {
        ...{ find, headOf: async () => 5 },
        async read(_, page) {
          reads.push(page);
          return [event];
        },
      },
    }),
  );
  const read = async (after: number, limit: number, agent?: string) => {
    const answer = await readEvents(asked("readEvents", { params: { id: "c" }, query: { after, limit, agent } }));
    return answer.ok && [answer.value.items.length, answer.value.next];
  };
  assert.deepEqual(
    [await read(0, 4), await read(0, 5), await read(4, 5), await read(2, 2)],
    [
      [1, 4],
      [1, null],
      [1, null],
      [1, 4],
    ],
  );
  assert.deepEqual(await read(0, 4, "helper"), [0, 4]);
  assert.deepEqual(reads[3], { after: 2, limit: 2, upTo: 4 });
});

test("who opens a conversation has it made ready once, and not each time that the browser comes back [C3][X4]", async () => {
  let opened = 0;
  const { followEvents } = eventHandlers(
    partsWith({
      log: { find },
      engine: {
        open: () => {
          opened += 1;
        },
      },
    }),
  );
  const follow = async (opens: boolean, lastEventId?: string) => {
    const answer = await followEvents(
      asked("followEvents", { params: { id: "c" }, query: { after: "0", opens }, lastEventId }),
    );
    assert.ok(answer.ok);
    await answer.value.cancel();
    return opened;
  };
  assert.deepEqual(
    [await follow(false), await follow(true, "5"), await follow(true), await follow(true, "")],
    [0, 0, 1, 2],
  );
});

const hashes = { argumentsHash: "", previous: "" };

test("a decision that an earlier try made is told with its place, by whoever made it alone [C6][H2]", async () => {
  const reads: unknown[] = [];
  const decided = {
    type: "decision.made",
    seq: 40,
    at: 1,
    id: "d",
    verdict: "approve",
    by: localOwner,
    ...hashes,
  } as LogEvent;
  const gone = failure("decision_already_made", { id: "d", verdict: "approve" });
  const { decide } = decisionHandlers(
    partsWith({
      engine: { decide: async () => gone },
      log: {
        ...{ find, headOf: async () => 600 },
        async read(_, { after, upTo = 0 }) {
          reads.push([after, upTo]);
          return decided.seq > after && decided.seq <= upTo ? [decided] : [];
        },
      },
    }),
  );
  const ask = (of: object) =>
    decide(asked("decide", { params: { id: "c", decision: "d" }, body: { verdict: "approve" }, ...of }));
  assert.deepEqual(await ask({}), gone);
  assert.deepEqual([await ask({ once: { seed: "s", isRetry: false } }), reads], [gone, []]);
  assert.deepEqual(await ask({ once: { seed: "s", isRetry: true } }), ok({ decision: "d", seq: 40, also: [] }));
  assert.deepEqual(reads, [
    [344, 600],
    [88, 344],
    [0, 88],
  ]);
  assert.deepEqual(await ask({ once: { seed: "s", isRetry: true }, owner: "bob" }), gone);
});

test("a message of spaces is refused where nothing comes with it, and stopping says whether anything was stopped [L6][C7]", async () => {
  const sent: unknown[] = [];
  let turn: number | null = 3;
  const { sendMessage, sayAgain, cancelTurn } = messageHandlers(
    partsWith({
      ...{ ids: systemIds, log: { find } },
      engine: {
        send: async (_, { id, slot, language }) => noted(sent, [id !== undefined, slot, language], ok({})),
        sayAgain: async (_, message, how) => noted(sent, [message, how], ok({})),
        cancel: async () => ok({ turn }),
      },
    }),
  );
  const say = async (body: object, once?: object) => {
    const answer = await sendMessage(
      asked("sendMessage", { params: { id: "c" }, body: { mode: "queue", ...body }, once }),
    );
    return answer.ok ? "ok" : answer.failure.code;
  };
  assert.deepEqual(
    [await say({ text: " \n" }), await say({ text: " ", files: ["a"] }), await say({ text: "", images: ["a"] })],
    ["message_blank", "ok", "ok"],
  );
  assert.deepEqual(
    [await say({ text: "a", slot: "nowhere" }), await say({ text: "a", slot: "reasoning" })],
    ["slot_unknown", "ok"],
  );
  assert.deepEqual(
    [await say({ text: "a" }, { seed: "s", isRetry: false }), await say({ text: "a", id: "m" })],
    ["ok", "ok"],
  );
  assert.deepEqual(sent.splice(0), [
    [false, undefined, "en"],
    [false, undefined, "en"],
    [false, "reasoning", "en"],
    [true, undefined, "en"],
    [true, undefined, "en"],
  ]);
  const again = (body: object) => sayAgain(asked("sayAgain", { params: { id: "c", message: "m" }, body }));
  assert.deepEqual(await again({ text: " " }), failure("message_blank", {}));
  await again({});
  await again({ text: "b" });
  assert.deepEqual(sent, [
    ["m", { cause: "regenerate", text: undefined, id: undefined }],
    ["m", { cause: "edit", text: "b", id: undefined }],
  ]);
  const cancel = () => cancelTurn(asked("cancelTurn", { params: { id: "c" } }));
  assert.deepEqual(await cancel(), ok({ turn: 3 }));
  turn = null;
  assert.deepEqual(await cancel(), { ok: false, failure: makeFailure("turn_not_running", {}) });
});
