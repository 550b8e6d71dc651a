import { ok, type Result } from "../base/result.ts";
import { attachedText, describeAttached, isCode } from "../documents/documents.ts";
import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow, SideRows } from "../storage/storage.ts";
import type { Driver } from "./driver.ts";
import type { Engine, OutgoingMessage } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** What people do to a turn: say something, take it back, stop, go on. Each is a fact first; then the conversation is woken. */
export function openMessages(parts: Parts, driver: Driver): Pick<Engine, "send" | "withdraw" | "cancel" | "resume"> {
  const { log, ids } = parts;
  return {
    async send(conversation, { id = ids.uuid(), ...message }) {
      const hasFiles = (message.files?.length ?? 0) > 0;
      const seq = hasFiles ? await parts.storage.received(conversation.number, id) : undefined;
      // Sent before: its files may have changed since, and nobody looks at them again.
      if (seq !== undefined) return ok({ message: id, seq });
      const event = await userMessage(parts, conversation, { id, ...message });
      if (!event.ok) return event;
      const stored = await log.append(conversation.number, [event.value], { with: { received: id, ...soon } });
      if (!stored.ok) return stored;
      driver.wake(conversation);
      return ok({ message: id, seq: stored.value.lastSeq });
    },

    async withdraw(conversation, message) {
      const stored = await appendSeen(parts, conversation.number, ({ queue }) => {
        if (!queue.some((queued) => queued.id === message)) return failure("message_not_found", { id: message });
        return ok({ events: [{ type: "message.withdrawn", id: message }] });
      });
      return stored.ok ? ok(undefined) : stored;
    },

    async cancel(conversation) {
      await turnToStop(parts, conversation.number);
      let stopped = 0;
      const stored = await appendSeen(parts, conversation.number, ({ turn }) => {
        if (turn === undefined) return failure("turn_not_running", {});
        stopped = turn.turn;
        return ok({ events: [{ type: "cancel.asked", turn: stopped }], with: soon });
      });
      if (!stored.ok) return stored;
      const run = driver.running(conversation.number);
      if (run?.history.turn?.turn === stopped) run.stop("cancel");
      driver.wake(conversation);
      return ok({ turn: stopped });
    },

    async resume(conversation) {
      const { turn } = await log.history(conversation.number);
      driver.wake(conversation);
      return ok({ turn: turn?.turn ?? null });
    },
  };
}

/** The message as the model reads it: files are named at its end, small texts and images put into it. */
async function userMessage(
  { workspaces, marks }: Parts,
  conversation: ConversationRow,
  { id, text, images = [], mode, slot, files = [], language = "en" }: OutgoingMessage & { readonly id: string },
): Promise<Result<NewEvent, Failure>> {
  const described = await describeAttached(workspaces.ofConversation(conversation), files);
  if (!described.ok) return described;
  const attached = described.value;
  const pictures = [...images, ...attached.flatMap(({ image }) => image ?? [])];
  const stored = attached.map(({ path, name, type, bytes, hash }) => ({
    ...{ path, name, type, bytes },
    ...(hash === undefined ? {} : { hash }),
  }));
  return ok({
    type: "message.user",
    ...{ id, mode },
    text: attached.length === 0 ? text : text + attachedText(attached, language, marks.wrap),
    ...(pictures.length === 0 ? {} : { images: pictures }),
    ...(slot === undefined ? {} : { slot }),
    ...(attached.some(({ type }) => isCode(type)) ? { hints: ["code"] } : {}),
    ...(stored.length === 0 ? {} : { files: stored, own: text.length }),
  });
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

type Planned = { readonly events: readonly NewEvent[]; readonly epoch?: number; readonly with?: SideRows };

/** Tries until the log stood still for a moment: a running turn moves it on with every step. */
const looksMax = 50;

/**
 * Appends what follows from the history as it is in the log, and only if the log has not moved since it was read: what
 * is acknowledged is then true. Looks again when it has moved.
 */
export async function appendSeen(
  { log }: Parts,
  number: number,
  plan: (history: History) => Result<Planned, Failure>,
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  for (let looks = 1; ; looks += 1) {
    const history = await log.history(number);
    const planned = plan(history);
    if (!planned.ok) return planned;
    const { events, ...options } = planned.value;
    const stored = await log.append(number, events, { expectedHead: history.head, ...options });
    if (stored.ok || stored.failure.code !== "log_moved" || looks === looksMax) return stored;
  }
}

/** Written with a fact that asks for work: found again after a crash, whatever the clock says then. */
export const soon: SideRows = { wake: { notBefore: 0 } };
