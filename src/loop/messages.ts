import { ok } from "../base/result.ts";
import type { History, OpenTurn } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { Driver } from "./driver.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** What people do to a turn: say something, take it back, stop, go on. Each is a fact first; then the conversation is woken. */
export function openMessages(parts: Parts, driver: Driver): Pick<Engine, "send" | "withdraw" | "cancel" | "resume"> {
  const { log, ids } = parts;
  return {
    async send(conversation, { id = ids.uuid(), text, images, mode, slot }) {
      const event: NewEvent = {
        type: "message.user",
        ...{ id, text, mode },
        ...(images === undefined ? {} : { images: [...images] }),
        ...(slot === undefined ? {} : { slot }),
      };
      const stored = await log.append(conversation.number, [event], { with: { received: id, ...soon(parts) } });
      if (!stored.ok) return stored;
      driver.wake(conversation);
      return ok({ message: id, seq: stored.value.lastSeq });
    },

    async withdraw(conversation, message) {
      const { queue } = await historyOf(parts, driver, conversation.number);
      if (!queue.some((queued) => queued.id === message)) return failure("message_not_found", { id: message });
      const stored = await log.append(conversation.number, [{ type: "message.withdrawn", id: message }]);
      return stored.ok ? ok(undefined) : stored;
    },

    async cancel(conversation) {
      const turn = await turnToStop(parts, driver, conversation.number);
      if (turn === undefined) return failure("turn_not_running", {});
      const event: NewEvent = { type: "cancel.asked", turn: turn.turn };
      const stored = await log.append(conversation.number, [event], { with: soon(parts) });
      if (!stored.ok) return stored;
      driver.running(conversation.number)?.stop("cancel");
      driver.wake(conversation);
      return ok({ turn: turn.turn });
    },

    async resume(conversation) {
      const { turn } = await historyOf(parts, driver, conversation.number);
      driver.wake(conversation);
      return ok({ turn: turn?.turn ?? null });
    },
  };
}

const turnStartMsMax = 1_000;
const turnStartPauseMs = 5;

/** A person may stop what they have only just sent: the turn is then about to start. */
async function turnToStop(parts: Parts, driver: Driver, number: number): Promise<OpenTurn | undefined> {
  for (let waitedMs = 0; ; waitedMs += turnStartPauseMs) {
    const { turn, queue } = await historyOf(parts, driver, number);
    if (turn !== undefined || queue.length === 0 || waitedMs >= turnStartMsMax) return turn;
    await parts.clock.wait(turnStartPauseMs);
  }
}

/** The history of the run that has the conversation, or a fresh fold. */
export async function historyOf(parts: Parts, driver: Driver, number: number): Promise<History> {
  const run = driver.running(number);
  return run === undefined ? parts.log.history(number) : run.settledHistory();
}

/** Written with a fact that asks for work: found again after a crash. */
export function soon(parts: Parts): { wake: { notBefore: number } } {
  return { wake: { notBefore: parts.clock.now() } };
}
