import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { EventBody } from "../protocol/events.ts";
import { argumentsHash, askedHash, chained, linkOf, madeHash } from "./decision-record.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const asked: EventBody<"decision.asked"> = {
  ...{ turn: 1, id: "d1", call: "c1", kind: "approval", tool: "pay", arguments: '{"b":1,"a":2}', time: 5 },
  always: [{ match: "findings", covers: [{ pattern: "z *", kind: "packages" }] }],
};
const askedText = [
  '{"always":[{"covers":[{"kind":"packages","pattern":"z *"}],"match":"findings"}],',
  '"arguments":"{\\"b\\":1,\\"a\\":2}","call":"c1","id":"d1","kind":"approval","time":5,"tool":"pay","turn":1}',
].join("");
const made = { id: "d1", verdict: "approve", by: "me", argumentsHash: "abc", time: 6 } as const;

test("records that earlier versions wrote hold for ever: the same question and the same answer have the same hash as ever [H2]", () => {
  assert.equal(askedHash(asked), sha256(askedText));
  const text = '{"argumentsHash":"abc","by":"me","id":"d1","previous":"before","time":6,"verdict":"approve"}';
  const hash = sha256(JSON.stringify([sha256(askedText), text]));
  assert.equal(madeHash(askedHash(asked), { ...made, previous: "before" }), hash);
  assert.deepEqual(chained(asked, made, "before"), { ...made, previous: "before", hash });
  assert.equal(argumentsHash("茶"), sha256("茶").slice(0, 32));
});

test("where an event stands, and the hash itself, are no part of what the hash is about; who wrote it down in which order is none either [H2]", () => {
  const { turn, ...rest } = asked;
  const placed = { type: "decision.asked", seq: 9, at: 77, hash: "other", ...rest, turn } as const;
  assert.equal(askedHash(placed), askedHash(asked));
  assert.notEqual(askedHash({ ...asked, time: 6 }), askedHash(asked));
  assert.notEqual(askedHash({ ...asked, agent: "a" }), askedHash(asked));
  const decided = { ...made, previous: "" };
  assert.equal(madeHash("h", { ...decided, hash: "other" }), madeHash("h", decided));
  assert.notEqual(madeHash("h", { ...decided, previous: "x" }), madeHash("h", decided));
  assert.notEqual(madeHash("i", decided), madeHash("h", decided));
  assert.equal(linkOf({ ...decided, hash: "its own" }), "its own");
});
