import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { noted } from "../../../test/world/partly.ts";
import { ok } from "../../base/result.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked, never, partsWith } from "../routes/handling.testing.ts";
import { openAiHandlers } from "../routes/openai.ts";
import { answerTo } from "./answer.ts";
import { responseId } from "./ids.ts";
import { storedResponse } from "./stored.ts";

const row = { id: "c", number: 7, owner: localOwner, origin: "program", isPassing: false } as ConversationRow;
const usage = { input: 2, output: 1 };
const message = { type: "message.user", id: "m", text: "hi", mode: "queue" };
const started = { type: "turn.started", turn: 1, message: "m", epoch: 1 };
const step = { type: "step.started", turn: 1, step: 1, attempt: 1 };
const answered = (text: string, number = 1) => ({
  ...{ type: "message.assistant", turn: 1, step: number, text, finish: "stop", usage, durationMs: 1 },
});
const wants = (id: string) => ({ type: "decision.asked", turn: 1, id, call: "k", kind: "function", tool: "f" });
const made = (id: string) => ({ type: "decision.made", id, verdict: "answer", by: localOwner });
const finished = { type: "turn.finished", turn: 1, outcome: "done" };
const [d1, d2] = ["d10000000000", "d20000000000"];

/** A log that stands still, and what is done to its conversation. */
function played(events: readonly object[], status: "idle" | "waiting" = "idle") {
  const log = events.map((event, index) => ({ at: (index + 1) * 1_000, ...event, seq: index + 1 }) as LogEvent);
  const done: unknown[] = [];
  const clock = manualClock();
  const parts = partsWith({
    clock,
    storage: { received: async (_, id) => (id === uuid ? 1 : undefined) },
    log: {
      ...{ headOf: async () => log.length, onAppend: () => () => {}, find: async () => ok(row) },
      read: async (_, { after, upTo = 0 }) => log.filter(({ seq }) => seq > after && seq <= upTo),
    },
    engine: {
      live: () => () => {},
      state: async () => ({ status, decisions: [] }),
      cancel: async ({ id }, which) => noted(done, ["cancel", id, which], ok({})),
      remove: async ({ id }) => noted(done, ["remove", id], ok(undefined)),
    },
  });
  return { parts, done, clock };
}

const uuid = "00000000-0000-4000-8000-000000000000";

test("a response is read from the log as far as it has come: waiting its turn, being written, over, or waiting for its caller [C5]", async () => {
  const told = async (events: readonly object[], of: { since?: string; status?: "idle" | "waiting" } = {}) => {
    const found = { id: "r", conversation: row, message: { id: "m", seq: 1 }, since: of.since };
    const response = await storedResponse(played(events, of.status).parts, found, asked("getResponse", {}));
    const texts = response.output.flatMap(
      (item) => JSON.stringify(item).match(/"text":"([^"]*)"/)?.[1] ?? Object(item).type,
    );
    return [response.status, ...texts];
  };
  assert.deepEqual(await told([message]), ["queued"]);
  assert.deepEqual(await told([message], { status: "waiting" }), ["queued"], "the turn before it waits, not this one");
  assert.deepEqual(await told([message, started, step]), ["in_progress"]);
  assert.deepEqual(await told([message, started, step, answered("yes"), finished]), ["completed", "yes"]);
  assert.deepEqual(await told([message, { type: "message.withdrawn", id: "m" }]), ["cancelled"]);
  const other = { ...finished, agent: "h" };
  assert.deepEqual(await told([message, started, step, other, answered("yes")]), ["in_progress", "yes"]);
  const asks = [message, started, step, answered("one"), wants(d1)];
  assert.deepEqual(await told(asks, { status: "waiting" }), ["completed", "one", "function_call"]);
  const on = [...asks, made(d1), step, answered("two", 2), wants(d2)];
  assert.deepEqual(await told(on, { status: "waiting" }), ["completed", "one", "function_call"], "up to its results");
  assert.deepEqual(await told(on, { status: "waiting", since: d1 }), ["completed", "two", "function_call"]);
  const over = [...on, made(d2), finished, { ...message, id: "n" }, { ...started, turn: 2, message: "n" }];
  assert.deepEqual(await told(over, { since: d1 }), ["completed", "two", "function_call"]);
});

test("who leaves an answer in the middle stops it, unless they can come back for it or the server ends [C5][L6]", async () => {
  const left = async (of: {
    named?: string;
    once?: { seed: string; isRetry: boolean };
    origin?: "person" | "program";
    closing?: AbortSignal;
    events?: readonly object[];
  }) => {
    const { named, once, origin = "program", closing = never, events = [message, started, step] } = of;
    const { parts, done, clock } = played(events);
    const gone = new AbortController();
    const begun = { conversation: { ...row, origin }, message: { id: "m", seq: 1 }, since: undefined };
    const call = asked("createResponse", { once, closing });
    const about = { owner: localOwner, agent: "general", messages: [], callerPart: {}, previous: undefined };
    const pieces = answerTo(parts, { call, named, ...about, isPassing: false }, begun, gone.signal);
    const reading = (async () => {
      for await (const _ of pieces);
    })();
    for (let turns = 0; turns < 5; turns += 1) await settle();
    gone.abort();
    await reading;
    assert.equal(clock.timers(), 0);
    return done;
  };
  assert.deepEqual(await left({}), [["cancel", "c", { message: "m" }]]);
  const ends = new AbortController();
  ends.abort();
  const others = [
    await left({ named: "c" }),
    await left({ once: { seed: "s", isRetry: false } }),
    await left({ origin: "person" }),
    await left({ closing: ends.signal }),
    await left({ events: [message, started, step, answered("yes"), finished] }),
  ];
  assert.deepEqual(others, [[], [], [], [], []]);
});

test("a response is deleted with what a program began, by its own id, and never with a person's conversation [C5][S7]", async () => {
  const { parts, done } = played([message]);
  const deleting = async (id: string, origin: "person" | "program" = "program") => {
    const found = { ...row, id: "c", origin };
    const { deleteResponse } = openAiHandlers({
      ...parts,
      log: { ...parts.log, find: async () => ok(found as ConversationRow) },
    });
    const caller = { signedIn: localOwner, scopes: ["chat"] } as const;
    const answer = await deleteResponse(asked("deleteResponse", { caller, params: { id } }));
    return [answer.ok ? answer.value : answer.failure.code, ...done.splice(0)];
  };
  const id = responseId({ conversation: "c", message: uuid, since: undefined });
  assert.deepEqual(await deleting(id), [{ id, object: "response", deleted: true }, ["remove", "c"]]);
  assert.deepEqual(await deleting(id, "person"), ["response_in_conversation"]);
  const unknown = responseId({ conversation: "c", message: uuid.replace("4000", "4001"), since: undefined });
  assert.deepEqual(
    [await deleting(unknown), await deleting("resp_x")],
    [["response_not_found"], ["response_not_found"]],
  );
});
