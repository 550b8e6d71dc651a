import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked as called, noted, partsWith } from "../routes/handling.testing.ts";
import { type Asked, begin } from "./begin.ts";
import { callId } from "./ids.ts";

// Where what a caller asks is said, and to which turn its results go.

const ann = OwnerId.parse("ann");
const row = { id: "c", number: 7, owner: ann, origin: "program" } as ConversationRow;
const user = (text: string): GivenMessage => ({ role: "user", text });
const result = (decision: string, text = "42", conversation = "c"): GivenMessage => ({
  ...{ role: "tool", text, toolCallId: callId({ conversation, decision }) },
});
const asking = (...decisions: readonly string[]): GivenMessage => ({
  ...{ role: "assistant", text: "" },
  toolCalls: decisions.map((decision) => ({ id: callId({ conversation: "c", decision }), name: "f", arguments: "{}" })),
});
const [d0, d1, d2, d3] = ["d00000000000", "d10000000000", "d20000000000", "d30000000000"] as const;

type Played = {
  readonly decisions?: readonly { readonly id: string; readonly kind: string }[];
  readonly status?: "idle" | "waiting";
  readonly events?: readonly object[];
  readonly received?: number;
  readonly owned?: (id: string) => ConversationRow | undefined;
  readonly decided?: unknown;
  readonly created?: unknown;
};

/** A conversation as far as the test plays it, and all that was done to it. */
function played(of: Played = {}) {
  const { decisions = [], status = "idle", events = [], received, decided = ok({}), created } = of;
  const { owned = () => row } = of;
  const done: unknown[] = [];
  const log = events.map((event, index) => ({ at: 1, ...event, seq: index + 1 }) as LogEvent);
  const parts = partsWith({
    ids: systemIds,
    storage: { received: async () => received },
    log: {
      headOf: async () => log.length,
      read: async (_, { after, upTo = 0 }) => log.filter(({ seq }) => seq > after && seq <= upTo),
      effective: async () => log,
      async find(_, id) {
        const found = owned(id);
        return found === undefined ? failure("conversation_not_found", { id }) : ok(found);
      },
    },
    engine: {
      state: async () => ({ status, decisions, head: log.length }),
      create: async (_, wanted) => noted(done, ["create", wanted], created ?? ok({ ...row, id: "new" })),
      chooseAgent: async (_, { agentId }) => noted(done, ["agent", agentId], ok({})),
      cancel: async ({ id }, which) => noted(done, ["cancel", id, which], ok({})),
      decide: async (_, id, verdict) => noted(done, ["decide", id, verdict], decided),
      branch: async ({ id }, at) => noted(done, ["branch", id, at], ok({ conversation: { ...row, id: "branch" } })),
      send: async ({ id: conversation }, { id: _, ...said }) =>
        noted(done, ["send", conversation, said], ok({ seq: 9 })),
    },
  });
  const ask = async (messages: readonly GivenMessage[], more: Partial<Asked> = {}) => {
    const begun = await begin(parts, {
      ...{ call: called("createResponse", {}), owner: ann, agent: "general", messages, callerPart: {} },
      ...{ named: undefined, previous: undefined, isPassing: false, ...more },
    });
    if (!begun.ok) return begun.failure;
    const { conversation, message, since } = begun.value;
    return [conversation.id, message.seq, since];
  };
  return { ask, done };
}

const said = (text: string, more: object = {}) => ({ mode: "queue", language: "en", text, ...more });
const turn = [
  { type: "message.user", id: "m" },
  { type: "turn.started", turn: 1, message: "m" },
];

test("what is sent begins a conversation of its own, whose last message is said and the others are its history [C5]", async () => {
  const { ask, done } = played();
  const before = [user("a"), { role: "assistant", text: "b" } as const];
  assert.deepEqual(await ask([...before, user("c")], { isPassing: true }), ["new", 9, undefined]);
  const [[what, { id, ...wanted }], sent] = done as [[string, { id: string }], unknown];
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual([what, wanted], ["create", { origin: "program", isPassing: true, agent: { agentId: "general" } }]);
  assert.deepEqual(sent, ["send", "new", said("c", { instead: before })]);
  done.splice(0);
  const callerPart = { instructions: "short" };
  const images = [{ mime: "image/png", base64: "aQ==" }];
  await ask([{ role: "user", text: " ", images }], { callerPart });
  assert.deepEqual(done[1], ["send", "new", said(" ", { images, callerPart })], "a picture says something");
  done.splice(0);
  await ask([user("a"), user(" ")]);
  assert.deepEqual(done[1], ["send", "new", said("", { instead: [user("a"), user(" ")] })], "no words are history");
});

test("what cannot begin an answer is refused, and nothing is made for it [C5]", async () => {
  const { ask, done } = played({ owned: () => undefined });
  assert.deepEqual(await ask([]), makeFailure("message_blank", {}));
  const hint = makeFailure("parameter_unsupported", { parameter: "messages", hint: "last_is_user" });
  assert.deepEqual(await ask([{ role: "assistant", text: "a" }]), hint);
  assert.deepEqual(await ask([], { previous: { id: "r", place: undefined } }), hint);
  assert.deepEqual(
    await ask([user("a")], { previous: { id: "r", place: undefined } }),
    makeFailure("response_not_found", { id: "r" }),
  );
  assert.deepEqual(done, []);
});

test("a message that was stored by an earlier try is followed, and not said twice [C5][C6]", async () => {
  const retry = { call: called("createResponse", { once: { seed: "s", isRetry: true } }) };
  const exists = failure("conversation_exists", { id: "new" });
  const known = played({ received: 5, created: exists });
  assert.deepEqual(await known.ask([user("a")], retry), ["c", 5, undefined]);
  assert.deepEqual(
    known.done.map((one) => Object(one)[0]),
    ["create"],
  );
  const first = { call: called("createResponse", { once: { seed: "s", isRetry: false } }) };
  assert.deepEqual(await played({ received: 5, created: exists }).ask([user("a")], first), exists.failure);
  assert.deepEqual(await played({ received: 5 }).ask([user("a")], first), ["new", 9, undefined]);
});

test("in a conversation that is named a person's decision goes first, and what waits for the caller alone is given up [C5][H2]", async () => {
  const named = { named: "c" };
  const f = { id: d1, kind: "function" };
  const waits = { status: "waiting", events: turn } as const;
  const onlyOurs = played({ ...waits, decisions: [f, { ...f, id: d2 }] });
  assert.deepEqual(await onlyOurs.ask([user("a")], named), ["c", 9, undefined]);
  assert.deepEqual(onlyOurs.done, [
    ["agent", "general"],
    ["cancel", "c", { decision: d1 }],
    ["send", "c", said("a")],
  ]);
  const person = played({ ...waits, decisions: [f, { id: d2, kind: "approval" }] });
  assert.deepEqual(await person.ask([user("a")], named), ["c", 1, 2], "its turn is told from here on");
  assert.deepEqual(person.done, [["agent", "general"]]);
  const runs = played({ ...waits, status: "idle", decisions: [{ id: d2, kind: "approval" }] });
  assert.deepEqual(await runs.ask([user("a")], named), ["c", 9, undefined], "something else goes on meanwhile");
});

test("results go to the turn that waits for them, each once, and only in the conversation that is meant [C5]", async () => {
  const open = [
    { id: d1, kind: "function" },
    { id: d2, kind: "function" },
    { id: d3, kind: "approval" },
  ];
  const waiting = { decisions: open, events: turn };
  const given = [user("a"), asking(d0, d1, d2, d3), result(d1), result(d2, "43"), result(d3), result(d0)];
  const all = played(waiting);
  assert.deepEqual(await all.ask(given), ["c", 1, d2]);
  assert.deepEqual(all.done, [
    ["decide", d1, { verdict: "answer", answer: "42", by: ann }],
    ["decide", d2, { verdict: "answer", answer: "43", by: ann }],
  ]);
  const late = played({ ...waiting, decided: failure("decision_already_made", { id: d1, verdict: "answer" }) });
  assert.deepEqual(await late.ask([asking(d1), result(d1)]), ["c", 1, d1], "somebody was faster");
  const full = makeFailure("storage_full", {});
  assert.deepEqual(await played({ ...waiting, decided: failed(full) }).ask([asking(d1), result(d1)]), full);
  const place = { conversation: "x", message: "m", since: undefined };
  const others: readonly Partial<Asked>[] = [{ named: "x" }, { previous: { id: "r", place } }];
  for (const other of others) {
    const elsewhere = played({ ...waiting, owned: (id) => (id === "c" ? row : undefined) });
    await elsewhere.ask([asking(d1), result(d1)], other);
    assert.equal(JSON.stringify(elsewhere.done).includes("decide"), false);
  }
  const mixed = played(waiting);
  await mixed.ask([asking(d1), result(d1), result(d2, "42", "x")]);
  assert.equal(JSON.stringify(mixed.done).includes("decide"), false, "results of two conversations are of none");
});

test("results that are sent again go on where they went on before, unless they had to begin anew then [C5][C6]", async () => {
  const events = [...turn, { type: "decision.made", id: d1 }, { type: "decision.made", id: d2 }];
  const retry = { call: called("createResponse", { once: { seed: "s", isRetry: true } }) };
  const given = [user("a"), asking(d1, d2), result(d1), result(d2)];
  const again = played({ events, owned: (id) => (id === "c" ? row : undefined) });
  assert.deepEqual([await again.ask(given, retry), again.done], [["c", 1, d2], []]);
  const first = played({ events, owned: (id) => (id === "c" ? row : undefined) });
  assert.deepEqual(await first.ask(given), ["new", 9, undefined], "who says it for the first time begins anew");
  const anew = played({ events, created: failure("conversation_exists", { id: "new" }) });
  assert.deepEqual(Object(await anew.ask(given, retry))[2], undefined);
});

test("who says something else than the results gives up the turn that waits for them, where a program began it [C5]", async () => {
  const left = played();
  await left.ask([asking(d1), user("no")]);
  assert.deepEqual(left.done[0], ["cancel", "c", { decision: d1 }]);
  for (const found of [undefined, { ...row, origin: "person" } as ConversationRow]) {
    const kept = played({ owned: () => found });
    await kept.ask([asking(d1), user("no")]);
    assert.deepEqual(Object(kept.done[0])[0], "create");
  }
});

test("after an earlier answer it goes on in its conversation, or in a branch where that has gone on since [C5]", async () => {
  const place = { conversation: "c", message: "m", since: undefined };
  const previous = { id: "r", place };
  const finished = { type: "turn.finished", turn: 1, outcome: "done" };
  const newest = played({ events: [...turn, finished], received: 1 });
  assert.deepEqual(await newest.ask([user("a")], { previous }), ["c", 9, undefined]);
  const later = [
    { type: "message.user", id: "n" },
    { type: "turn.started", turn: 2, message: "n" },
  ];
  const gone = played({ events: [...turn, { ...finished, agent: "h" }, finished, ...later], received: 1 });
  assert.deepEqual(await gone.ask([user("a")], { previous }), ["branch", 9, undefined]);
  assert.deepEqual(gone.done[0], ["branch", "c", 4]);
  const unknown = played({ events: turn });
  assert.deepEqual(await unknown.ask([user("a")], { previous }), makeFailure("response_not_found", { id: "r" }));
});
