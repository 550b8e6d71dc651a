import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventOf } from "../protocol/events.ts";
import { forgetMails, moveMails, noCorrespondence, noteCircle, noteMail, noteWork } from "./fold-mail.ts";

const mail = (seq: number, more: Partial<EventOf<"agent.mailed">> = {}): EventOf<"agent.mailed"> => ({
  ...{ type: "agent.mailed", seq, at: 0, to: "b", id: `m${seq}`, text: "words", words: `w${seq}`, ...more },
});
const circle = { code: "mail_in_circles", params: {} } as const;

test("of the mail with each other agent the newest twelve are kept, in the order of the log [R1][A1]", () => {
  const kept = noCorrespondence();
  for (const seq of [2, 1, ...Array.from({ length: 11 }, (_, index) => index + 3)]) noteMail(kept, "root", mail(seq));
  noteMail(kept, "root", mail(20, { agent: "c", to: "root" }));
  noteMail(kept, "root", mail(21, { kind: "silence" }));
  assert.deepEqual(
    [...kept.mails].map(([other, mails]) => [other, mails.map(({ from, words, seq }) => `${from} ${words} ${seq}`)]),
    [
      ["b", Array.from({ length: 12 }, (_, index) => `root w${index + 2} ${index + 2}`)],
      ["c", ["c w20 20"]],
    ],
  );
});

test("a circle of mail is kept with whom it was, until the turn is over [R1][A1]", () => {
  const kept = noCorrespondence();
  noteMail(kept, "b", mail(1, { agent: "a", to: "b", kind: "circle" }));
  noteCircle(kept, undefined);
  noteCircle(kept, circle);
  assert.deepEqual([[...kept.circledWith], kept.circles, kept.mails.size], [["a"], [circle], 0]);
  noteMail(kept, "b", mail(2, { agent: "a", to: "b" }));
  forgetMails(kept);
  assert.deepEqual(kept, noCorrespondence());
});

test("other work is noted where it was last, and moves along with the mail [R1][L2]", () => {
  const kept = noCorrespondence();
  noteWork(kept, 5);
  noteWork(kept, 3);
  noteMail(kept, "root", mail(2));
  moveMails(kept, (seq) => seq * 10);
  assert.deepEqual([kept.workedAt, kept.mails.get("b")?.map(({ seq }) => seq)], [50, [20]]);
});
