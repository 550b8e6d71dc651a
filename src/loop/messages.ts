import { ok, type Result } from "../base/result.ts";
import { attachedText, describeAttached, isCode } from "../documents/documents.ts";
import type { History, QueuedMessage } from "../log/log.ts";
import { type NewEvent, ownWordsOf } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { appendSeen, soon } from "./append-seen.ts";
import type { Driver } from "./driver.ts";
import type { ChatPart, Engine, OutgoingMessage, TurnNamed } from "./loop.ts";
import { unknownIn } from "./mentions.ts";
import type { Parts } from "./parts.ts";
import { hasCode, selectFiles } from "./selected.ts";

type Names = "checkSelected" | "send" | "withdraw" | "cancel" | "resume";

/** What people do to a turn: say something, withdraw it, stop, go on. Each is an event first; then the conversation is woken. */
export function openMessages(parts: Parts, driver: Driver): Pick<Engine, Names> {
  const { log, ids, workspaces } = parts;
  return {
    async checkSelected(conversation, names) {
      const chosen = await selectFiles(workspaces.ofConversation(conversation), conversation, names);
      return chosen.ok ? ok(undefined) : chosen;
    },

    async send(conversation, { id = ids.uuid(), ...message }) {
      const hasFiles = [message.files, message.selected].some((files) => (files?.length ?? 0) > 0);
      // Sent before: its files may have changed since, and nobody looks at them again.
      let seq = hasFiles ? await parts.storage.received(conversation.number, id) : undefined;
      if (seq === undefined) {
        const event = await userMessage(parts, conversation, { id, ...message });
        if (!event.ok) return event;
        const stored = await log.append(conversation.number, [event.value], { with: { received: id, ...soon } });
        if (!stored.ok) return stored;
        driver.wake(conversation);
        seq = stored.value.lastSeq;
      }
      const unknownMentions = await unknownIn(ownWordsOf(message), conversation, parts);
      return ok({ message: id, seq, ...(unknownMentions.length > 0 && { unknownMentions }) });
    },

    async withdraw(conversation, message) {
      const stored = await appendSeen(parts, conversation.number, ({ queue }) => {
        const isWaiting = queue.some((queued) => isSaid(queued) && queued.id === message);
        if (!isWaiting) return failure("message_not_found", { id: message });
        return ok({ events: [{ type: "message.withdrawn", id: message }] });
      });
      return stored.ok ? ok(undefined) : stored;
    },

    async cancel(conversation, which) {
      if (which === undefined) await turnToStop(parts, conversation.number);
      const stopped: { turn: number | null } = { turn: null };
      const stored = await appendSeen(parts, conversation.number, (history) => {
        const said = history.queue.filter(isSaid);
        const waits = said.find(({ id }) => which?.turn === undefined && id === which?.message);
        stopped.turn = waits === undefined ? turnMeant(history, which) : null;
        if (waits !== undefined) return ok({ events: [{ type: "message.withdrawn", id: waits.id }] });
        if (stopped.turn === null) return failure("turn_not_running", {});
        return ok({ events: [{ type: "cancel.asked", turn: stopped.turn }], with: soon });
      });
      if (!stored.ok || stopped.turn === null) return stored.ok ? ok(stopped) : stored;
      const run = driver.running(conversation.number);
      if (run?.history.turn?.turn === stopped.turn) run.stop();
      driver.wake(conversation);
      return ok(stopped);
    },

    async resume(conversation) {
      const { turn } = await log.history(conversation.number);
      driver.wake(conversation);
      return ok({ turn: turn?.turn ?? null });
    },
  };
}

/** By a person: what another agent wrote waits here, too, and is nobody's to see or to withdraw. */
export function isSaid({ from }: Pick<QueuedMessage, "from">): boolean {
  return from === undefined;
}

/** The message as the model reads it: files are named at its end, small texts and images put into it. */
async function userMessage(
  { workspaces, marks }: Parts,
  conversation: ConversationRow,
  message: OutgoingMessage & { readonly id: string },
): Promise<Result<NewEvent, Failure>> {
  const { id, text, images = [], mode, slot, budget, files = [], language = "en" } = message;
  const workspace = workspaces.ofConversation(conversation);
  const described = await describeAttached(workspace, files);
  if (!described.ok) return described;
  const chosen = await selectFiles(workspace, conversation, message.selected);
  if (!chosen.ok) return chosen;
  const { value: selected } = chosen;
  const attached = described.value;
  const pictures = [...images, ...attached.flatMap(({ image }) => image ?? [])];
  const stored = attached.map(({ path, name, type, bytes, hash }) => ({
    ...{ path, name, type, bytes },
    ...(hash === undefined ? {} : { hash }),
  }));
  const own = Math.min(message.own ?? text.length, text.length);
  const isOthers = own < text.length;
  const isAboutCode = attached.some(({ type }) => isCode(type)) || (selected !== undefined && hasCode(selected));
  return ok({
    type: "message.user",
    ...{ id, mode },
    text: attached.length === 0 ? text : text + attachedText(attached, language, marks.wrap),
    ...(pictures.length === 0 ? {} : { images: pictures }),
    ...(slot === undefined ? {} : { slot }),
    ...(budget === undefined ? {} : { budget }),
    ...(isAboutCode ? { hints: ["code"] } : {}),
    ...(stored.length === 0 ? {} : { files: stored }),
    ...(stored.length > 0 || isOthers ? { own } : {}),
    ...(isOthers ? { untrusted: true } : {}),
    ...(selected === undefined ? {} : { selected }),
    ...chatPart(message),
  });
}

/** What callers add, as it is stored. */
function chatPart({ reply, run, instead, inputs, callerPart }: ChatPart) {
  return {
    ...(reply === undefined ? {} : { reply }),
    ...(run === undefined ? {} : { run }),
    ...(instead === undefined ? {} : { instead: [...instead] }),
    ...(inputs === undefined || Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(callerPart === undefined ? {} : { program: callerPart }),
  };
}

/** The turn that runs, if it is the one that is named. */
function turnMeant({ turn, decisions }: History, { message, turn: number, decision }: TurnNamed = {}): number | null {
  if (turn === undefined) return null;
  const asked = decision === undefined ? undefined : decisions.get(decision);
  const isWaiting = asked !== undefined && asked.made === undefined;
  if (decision !== undefined && !isWaiting) return null;
  return (message ?? turn.message.id) === turn.message.id && (number ?? turn.turn) === turn.turn ? turn.turn : null;
}

const turnStartMsMax = 1_000;
const turnStartPauseMs = 5;

/** A person may stop what they have only just sent: the turn is then about to start. */
async function turnToStop({ log, clock }: Parts, number: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < turnStartMsMax; waitedMs += turnStartPauseMs) {
    const { turn, queue } = await log.history(number);
    if (turn !== undefined || queue.length === 0) return;
    await clock.wait(turnStartPauseMs);
  }
}
