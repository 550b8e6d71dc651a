import { ok, type Result } from "../base/result.ts";
import { isCode } from "../documents/documents.ts";
import { type EventOf, type LogEvent, type NewEvent, ownWordsOf } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { looksMax, soon } from "./append-seen.ts";
import type { Driver } from "./driver.ts";
import { lastText, snippet } from "./last-text.ts";
import type { Engine, SaidAgain } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { hasCode, selectFiles } from "./selected.ts";
import { atRest } from "./whole-conversation.ts";

type Said = EventOf<"message.user">;

/** Goes back to before a message and says it again: the way back and the message are one append. */
export function openSayAgain(parts: Parts, driver: Driver): Pick<Engine, "sayAgain"> {
  return {
    async sayAgain(conversation, message, wanted) {
      const { id } = wanted;
      const seq = id === undefined ? undefined : await parts.storage.received(conversation.number, id);
      // Done before: what was said since must not be undone by it.
      if (seq !== undefined) return ok({ message, seq });
      for (let looks = 1; ; looks += 1) {
        const stored = await goBackAndSay(parts, conversation, message, wanted);
        if (stored.ok) {
          driver.wake(conversation);
          return ok({ message, seq: stored.value.lastSeq });
        }
        if (stored.failure.code !== "log_moved" || looks === looksMax) return stored;
      }
    },
  };
}

/** All of it follows from the log as it is now: `log_moved` when it is another one by the end. */
async function goBackAndSay(
  parts: Parts,
  conversation: ConversationRow,
  message: string,
  wanted: SaidAgain,
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  const { log, clock } = parts;
  const { number } = conversation;
  const resting = await atRest(parts, conversation);
  if (!resting.ok) return resting;
  const { head: expectedHead } = resting.value;
  const place = await placeBefore(parts, conversation, message);
  if (!place.ok) return place;
  const { said, to } = place.value;
  const again = await anew(parts, conversation, said, wanted);
  if (!again.ok) return again;
  const before = await log.history(number, to);
  // What waited for its turn back then was answered or withdrawn since: it must not start a turn now.
  const withdrawn = before.queue.map(({ id }): NewEvent => ({ type: "message.withdrawn", id }));
  const events: NewEvent[] = [{ type: "rewound", to, cause: wanted.cause }, ...withdrawn, again.value];
  const row = { lastMessage: snippet(lastText(before)), updatedAt: clock.now() };
  return log.append(number, events, { expectedHead, with: { row, received: wanted.id, ...soon } });
}

/** The message, and the last event that stays: a turn that ran while it waited stays whole. */
async function placeBefore(
  { log }: Parts,
  { number }: ConversationRow,
  id: string,
): Promise<Result<{ readonly said: Said; readonly to: number }, Failure>> {
  const events = await log.effective(number, Number.MAX_SAFE_INTEGER);
  const start = events.findLastIndex(
    (event) => event.type === "turn.started" && event.agent === undefined && event.message === id,
  );
  const isSaid = (event: LogEvent): event is Said => event.type === "message.user" && event.id === id;
  const said = start < 0 ? undefined : events.slice(0, start).findLast(isSaid);
  const started = events[start];
  if (said === undefined || started === undefined) return failure("message_not_found", { id });
  const isDirectlyBefore = events[start - 1] === said;
  return ok({ said, to: (isDirectlyBefore ? said.seq : started.seq) - 1 });
}

/** The message as it was, but for what is to be another. */
async function anew(
  { workspaces }: Parts,
  conversation: ConversationRow,
  { seq: _, at: __, hints: ___, run: ____, selected: before, ...said }: Said,
  { text = ownWordsOf(said), selected: names, run }: SaidAgain,
): Promise<Result<NewEvent, Failure>> {
  const chosen =
    names === undefined ? ok(before) : await selectFiles(workspaces.ofConversation(conversation), conversation, names);
  if (!chosen.ok) return chosen;
  const { value: selected } = chosen;
  const isAboutCode =
    said.files?.some(({ type }) => isCode(type)) === true || (selected !== undefined && hasCode(selected));
  return ok({
    ...said,
    text: text + (said.own === undefined ? "" : said.text.slice(said.own)),
    mode: "queue",
    ...(said.own === undefined ? {} : { own: text.length }),
    ...(run === undefined ? {} : { run }),
    ...(selected === undefined ? {} : { selected }),
    ...(isAboutCode ? { hints: ["code"] } : {}),
  });
}
