import assert from "node:assert/strict";
import { test } from "node:test";
import { noted } from "../../../test/world/partly.ts";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import type { LogEvent, NewEvent } from "../../protocol/events.ts";
import { type Failure, failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { Decision } from "../../protocol/resources.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked, partsWith } from "../routes/handling.testing.ts";
import { answerDecision } from "./answer-decision.ts";
import { beginChat } from "./begin-chat.ts";
import type { ChatWanted, Deciding } from "./request.ts";

const ann = OwnerId.parse("ann");
const row = { id: "c", number: 7, owner: ann } as ConversationRow;
const said = (id: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", reply: `to ${id}`, ...more },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });

type Played = {
  readonly events?: readonly NewEvent[];
  readonly found?: (id: string) => boolean;
  readonly owners?: readonly OwnerId[];
  readonly session?: unknown;
  readonly checked?: unknown;
  readonly created?: unknown;
  readonly decisions?: readonly Partial<Decision>[];
};

/** What a chat is begun with, as far as the test plays it, and all that was done. */
function played(of: Played = {}) {
  const { events = [], found = () => true, owners = [], session = ok("s1"), checked = ok(undefined), created } = of;
  const done: unknown[] = [];
  const log = events.map((event, index): LogEvent => ({ ...event, seq: index + 1, at: 1 }));
  const parts = partsWith({
    ids: systemIds,
    freshen: async () => noted(done, "fresh", undefined),
    storage: { ownersOfConversation: async () => owners },
    sandbox: {
      sessions: { ensure: async (owner, { signal: _, ...of }) => noted(done, ["session", owner, of], session) },
    },
    log: {
      find: async (_, id) => (found(id) ? ok(row) : failure("conversation_not_found", { id })),
      ...{ headOf: async () => log.length, effective: async () => log },
    },
    engine: {
      state: async () => ({ decisions: of.decisions ?? [] }),
      decide: async (_, id, verdict) => noted(done, ["decide", id, verdict], ok({})),
      checkSelected: async (_, names) => noted(done, ["check", names], checked),
      chooseAgent: async (_, agent) => noted(done, ["agent", agent], ok({ id: "chosen" })),
      create: async (_, { id, ...wanted }) => noted(done, ["create", wanted], created ?? ok({ ...row, id })),
      send: async (_, { id: __, reply: ___, run, ...message }) => noted(done, ["send", run, message], ok({})),
      sayAgain: async (_, message, how) => noted(done, ["again", message, how], ok({})),
    },
  });
  return { parts, done };
}

const saying = { does: "say", text: "hello", selected: [] } as const;

async function begun(
  of: Played,
  wanted: Partial<ChatWanted> = {},
  call: Partial<Parameters<typeof beginChat>[1]> = {},
): Promise<[answer: unknown, ...done: unknown[]]> {
  const { parts, done } = played(of);
  const caller = { signedIn: ann, scopes: ["chat"] } as const;
  const answer = await beginChat(parts, asked("chatCompletion", { caller, ...call }), {
    ...{ userId: undefined, conversationId: "c", agent: {}, runId: "run", what: saying },
    ...{ shown: { streams: true, increments: true, progress: true }, ...wanted },
  });
  return [answer.ok ? answer.value.headers : answer.failure, ...done];
}

const ready = ["fresh", ["session", ann, { agentId: "chosen", businessDomain: undefined }]];
const sent = (selected?: readonly string[]) => [
  ...["send", "run"],
  { text: "hello", selected, mode: "queue", language: "en" },
];

test("a chat goes on without a sandbox and says so, but not where files were selected that wait in it [C2][S2]", async () => {
  assert.deepEqual(await begun({}), [{ "x-sandbox-session": "s1" }, ["agent", {}], ...ready, sent()]);
  const full = failure("sandbox_full", { retryAfterSeconds: 1 });
  assert.deepEqual(await begun({ session: full }), [
    { "x-sandbox-error": "sandbox_full" },
    ["agent", {}],
    ...ready,
    sent(),
  ]);
  const selected = { what: { ...saying, selected: ["a.csv"] } };
  const check = ["check", ["a.csv"]];
  assert.deepEqual(await begun({ session: full }, selected), [full.failure, check, ["agent", {}], ...ready]);
  assert.deepEqual(await begun({}, selected), [
    ...[{ "x-sandbox-session": "s1" }, check, ["agent", {}], ...ready, sent(["a.csv"])],
  ]);
});

test("files that are not there are told before anything is made, and a call that is repeated is not looked at again [C2][C6]", async () => {
  const selected = { what: { ...saying, selected: ["a.csv"] } };
  const missing = makeFailure("selected_file_missing", { name: "a.csv" });
  assert.deepEqual(await begun({ checked: failed(missing) }, selected), [missing, ["check", ["a.csv"]]]);
  const nothing = { found: () => false };
  assert.deepEqual(await begun(nothing, selected), [missing], "nothing was uploaded to what is not there yet");
  assert.deepEqual(await begun(nothing, { ...selected, conversationId: undefined }), [missing]);
  const deleted = await begun(
    { ...nothing, owners: [ann], created: failure("conversation_not_found", { id: "c" }) },
    selected,
  );
  assert.deepEqual(
    deleted[0],
    makeFailure("conversation_not_found", { id: "c" }),
    "that it was deleted is said instead",
  );
  const retry = await begun({ checked: failed(missing) }, selected, { once: { seed: "s", isRetry: true } });
  assert.deepEqual(retry.slice(0, 2), [{ "x-sandbox-session": "s1" }, ["agent", {}]]);
});

test("a session is asked for in the name of the agent and the business of the caller, of which no more than fits [S2]", async () => {
  const header = (name: string) => (name === "x-business-domain" ? "d".repeat(201) : undefined);
  const [, , , session] = await begun({}, { agent: { agentId: "mine" } }, { header });
  assert.deepEqual(session, ["session", ann, { agentId: "mine", businessDomain: "d".repeat(200) }]);
  const [, , , empty] = await begun({}, {}, { header: () => "" });
  assert.deepEqual(empty, ready[1]);
});

test("a conversation is made with the beginning of what is said where none is named, and once under a key [C1][C6]", async () => {
  const made = ["create", { title: "hello", agent: {} }];
  assert.deepEqual((await begun({}, { conversationId: undefined }))[1], made);
  const exists = failure("conversation_exists", { id: "c" });
  const there = await begun({ created: exists }, { conversationId: undefined }, { once: { seed: "s", isRetry: true } });
  assert.deepEqual(there[0], { "x-sandbox-session": "s1" });
  const full = failure("storage_full", {});
  assert.deepEqual(await begun({ created: full }, { conversationId: undefined }), [full.failure, made]);
});

test("what is said again is the message that is meant, by itself or by its answer, and never another one [C4]", async () => {
  const events = [said("a"), started(1, "a"), { type: "turn.finished", turn: 1, outcome: "done" } as const, said("b")];
  const again = async (what: object) => {
    const [answer, ...done] = await begun({ events }, { what: { does: "again", ...what } });
    const last = done.at(-1);
    return Array.isArray(last) && last[0] === "again" ? last.slice(1) : answer;
  };
  const how = { selected: undefined, run: "run", id: undefined };
  assert.deepEqual(await again({ assistant: "to a" }), ["a", { cause: "regenerate", text: undefined, ...how }]);
  assert.deepEqual(await again({ user: "b", text: "B", selected: ["x"] }), [
    ...["b", { ...how, cause: "edit", text: "B", selected: ["x"] }],
  ]);
  for (const id of ["to x", "a"])
    assert.deepEqual(await again({ assistant: id }), makeFailure("message_not_found", { id }));
  assert.deepEqual(await again({ user: "to a", text: "x" }), makeFailure("message_not_found", { id: "to a" }));
});

const asking: NewEvent = { type: "decision.asked", turn: 1, id: "d", call: "c1", kind: "approval", tool: "look" };
const made: NewEvent = {
  ...{ type: "decision.made", id: "d", verdict: "approve", by: "ann", argumentsHash: "", previous: "" },
};

async function decided(wanted: Partial<Deciding>, of: Played & { readonly isRetry?: boolean } = {}) {
  const { isRetry = false, ...more } = of;
  const { parts, done } = played({ events: [said("a"), started(1, "a"), asking, said("b")], ...more });
  const whole = {
    does: "decide",
    decision: "d",
    skips: false,
    changed: [],
    text: "yes",
    assistant: undefined,
  } as const;
  const answer = await answerDecision(parts, row, { ...whole, ...wanted }, { isRetry });
  const [, id, verdict] = done[0] === undefined ? [] : Object(done[0]);
  return [answer.ok ? answer.value : answer.failure, ...(id === undefined ? [] : [id, verdict])];
}

test("what a client's user said to an open decision is told to it as what it is, in their name [C4][H2][H3]", async () => {
  const approval = [{ id: "d", kind: "approval", arguments: '{"a":1,"b":2}' }] as const;
  const by = { by: ann };
  assert.deepEqual(await decided({}, { decisions: approval }), ["a", "d", { verdict: "approve", ...by }]);
  const changed = [["b", 3]] as const;
  assert.deepEqual(await decided({ changed }, { decisions: approval }), [
    ...["a", "d", { verdict: "edit", arguments: '{"a":1,"b":3}', ...by }],
  ]);
  const skipped = await decided({ skips: true, changed }, { decisions: approval });
  assert.equal(Object(skipped[2]).verdict, "reject");
  assert.ok(Object(skipped[2]).reason.length > 0);
  const question = [{ id: "d", kind: "question" }] as const;
  const answer = async (...given: Deciding["changed"]) =>
    Object((await decided({ changed: given }, { decisions: question }))[2]);
  assert.deepEqual(await answer(), { verdict: "answer", answer: "yes", ...by });
  assert.deepEqual(await answer(["x", "one"], ["answer", "two"]), { verdict: "answer", answer: "two", ...by });
  assert.deepEqual(await answer(["x", [1]]), { verdict: "answer", answer: "[1]", ...by });
  assert.deepEqual(await decided({}), ["a", "d", { verdict: "approve", ...by }], "the engine refuses what is not open");
});

test("a decision is answered under the message that it was shown in, once, and a repeat is told the same [C4][C6]", async () => {
  assert.equal((await decided({ assistant: "to a" }))[0], "a");
  assert.equal((await decided({ assistant: "to b" }))[0], "a", "who waits behind it was shown the same question");
  assert.deepEqual(await decided({ assistant: "to x" }), [makeFailure("message_not_found", { id: "to x" })]);
  assert.deepEqual(await decided({ decision: "x" }), [makeFailure("decision_not_found", { id: "x" })]);
  const events = [said("a"), started(1, "a"), asking, made];
  const already: Failure = makeFailure("decision_already_made", { id: "d", verdict: "approve" });
  assert.deepEqual(await decided({}, { events }), [already]);
  assert.deepEqual(await decided({}, { events, isRetry: true }), ["a"]);
  const ended = [...events, { type: "turn.finished", turn: 1, outcome: "done" } as const, said("b"), started(2, "b")];
  assert.deepEqual(await decided({ assistant: "to b" }, { events: ended, isRetry: true }), [
    makeFailure("message_not_found", { id: "to b" }),
  ]);
});
