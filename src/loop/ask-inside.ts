import { ok } from "../base/result.ts";
import { askedHash } from "../log/log.ts";
import type { EventBody, EventOf, LogEvent } from "../protocol/events.ts";
import { readForm } from "../protocol/form.ts";
import type { FormAnswer, FormAsked, Tool } from "../tools/tools.ts";
import { appendSeen } from "./append-seen.ts";
import { askedBy } from "./ask-person.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

const decisionCharacters = 12;

/**
 * Asks a person in the middle of a call, as one more decision of the inbox, and waits for the answer. It is asked by what
 * runs now: after a crash nobody waits for it any more, and the call is left to its class.
 */
export async function askInside(
  run: Run,
  parts: Parts,
  asked: { readonly call: string; readonly tool: Tool; readonly form: FormAsked; readonly signal: AbortSignal },
): Promise<FormAnswer> {
  const { call, tool, form, signal } = asked;
  const { number } = run.conversation;
  const { turn } = run.history;
  if (turn === undefined || signal.aborted) return { action: "cancel" };
  const body: EventBody<"decision.asked"> = {
    ...askedBy(run.history.self),
    ...{ turn: turn.turn, id: parts.ids.hex(decisionCharacters), call, tool: tool.name, kind: "elicitation" },
    ...{ question: form.question, fields: [...form.fields], time: parts.clock.now() },
    ...(form.context === undefined ? {} : { context: form.context }),
  };
  const event = { type: "decision.asked", ...body, hash: askedHash(body) } as const;
  const row = { decision: body.id, body: JSON.stringify(event) };
  const stored = await appendSeen(parts, number, () => ok({ events: [event], with: { asked: [row] } }));
  if (!stored.ok) return { action: "cancel" };
  const made = await whenMade(parts, { number, id: body.id, after: stored.value.lastSeq, signal });
  if (made === undefined) return { action: "cancel" };
  if (made.verdict !== "answer") return { action: "decline" };
  const content = readForm(form.fields, made.answer ?? "");
  return content.ok ? { action: "accept", content: content.value } : { action: "cancel" };
}

type Awaited = {
  readonly number: number;
  readonly id: string;
  readonly after: number;
  readonly signal: AbortSignal;
};

const readMax = 1_000;

/** What was decided; undefined when the call ends before. */
async function whenMade(
  { log }: Parts,
  { number, id, after, signal }: Awaited,
): Promise<EventOf<"decision.made"> | undefined> {
  let wake = () => {};
  const unlisten = log.onAppend(number, () => wake());
  const stop = () => wake();
  signal.addEventListener("abort", stop);
  try {
    for (let seen = after; ; ) {
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const events: LogEvent[] = await log.read(number, { after: seen, limit: readMax });
      const made = events.find((event) => event.type === "decision.made" && event.id === id);
      if (made?.type === "decision.made") return made;
      if (signal.aborted) return undefined;
      seen = events.at(-1)?.seq ?? seen;
      if (events.length < readMax) await next;
    }
  } finally {
    unlisten();
    signal.removeEventListener("abort", stop);
  }
}
