import type { EventOf } from "../protocol/events.ts";

/** What an agent and each other one wrote to each other, as far as the rule about circles asks for it. */
export type Correspondence = {
  /** The newest mails from and to each other agent, by its id, in the order of the log. */
  readonly mails: Map<string, MailSeen[]>;
  /** Where in the log it last did something else than write to another agent. */
  workedAt: number;
  /** Circles of mail that it was part of in the running turn. */
  readonly circles: CircleSeen[];
  /** The other agents of these circles. */
  readonly circledWith: Set<string>;
};

/** `words`: see *agent.mailed*. */
export type MailSeen = { readonly from: string; readonly words: string | undefined; readonly seq: number };
export type CircleSeen = NonNullable<EventOf<"agent.mailed">["failure"]>;

/** The rule about circles asks for no more. */
const mailsKept = 12;

export function noCorrespondence(): Correspondence {
  return { mails: new Map(), workedAt: 0, circles: [], circledWith: new Set() };
}

/** Only what one agent says to another: how its work ended, and what we say ourselves, goes to and fro with nobody. */
export function noteMail(kept: Correspondence, self: string, event: EventOf<"agent.mailed">): void {
  const { agent: from = "root", to, kind = "message", words, seq } = event;
  const other = from === self ? to : from;
  if (kind === "circle") kept.circledWith.add(other);
  if (kind !== "message") return;
  const mails = [...(kept.mails.get(other) ?? []), { from, words, seq }].toSorted((a, b) => a.seq - b.seq);
  kept.mails.set(other, mails.slice(-mailsKept));
}

export function noteWork(kept: Correspondence, seq: number): void {
  kept.workedAt = Math.max(kept.workedAt, seq);
}

export function noteCircle(kept: Correspondence, failure: CircleSeen | undefined): void {
  if (failure?.code === "mail_in_circles") kept.circles.push(failure);
}

/** With the turn that they were part of. */
export function forgetMails(kept: Correspondence): void {
  kept.mails.clear();
  kept.circles.length = 0;
  kept.circledWith.clear();
}

export function moveMails(kept: Correspondence, moved: (seq: number) => number): void {
  for (const [other, mails] of kept.mails)
    kept.mails.set(
      other,
      mails.map((mail) => ({ ...mail, seq: moved(mail.seq) })),
    );
  kept.workedAt = moved(kept.workedAt);
}
