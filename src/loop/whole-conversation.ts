import { inBackground } from "../base/background.ts";
import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { agentChosen, rowOf } from "./agents.ts";
import { appendSeen } from "./append-seen.ts";
import type { Driver } from "./driver.ts";
import { prewarmOpened, rootPlace } from "./guests.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** The whole conversation: begin it, open it, forget it, delete it. */
export function openWhole(parts: Parts, driver: Driver): Pick<Engine, "create" | "open" | "reset" | "remove"> {
  const { log, clock, workspaces, documents, lookup, sandbox, logger, sweepSoon } = parts;
  return {
    async create(owner, wanted) {
      const { agent, ...about } = wanted;
      const chosen = agentChosen(parts, agent);
      const begun = chosen === undefined ? {} : { ...rowOf(chosen), events: [chosen] };
      const created = await log.createConversation(owner, { ...about, ...begun });
      if (!created.ok) return created;
      const { value: conversation } = created;
      const made = await workspaces.create(conversation);
      // Without folders one can still talk; they are made by the first write.
      if (!made.ok) logger.error(`${conversation.id} has no folders yet`, { code: made.failure.code });
      else sandbox.prewarm(rootPlace(parts, conversation));
      return created;
    },

    open(conversation) {
      const what = `the sandbox of ${conversation.id} could not be prewarmed`;
      void inBackground(logger, what, prewarmOpened(parts, conversation));
    },

    async reset(conversation) {
      const seen = await atRest(parts, conversation);
      if (!seen.ok) return seen;
      return driver.hold(conversation, async ({ epoch }) => {
        const stored = await appendAtRest(parts, conversation, [{ type: "rewound", to: 0, cause: "reset" }], { epoch });
        if (!stored.ok) return stored;
        await sandbox.reset(rootPlace(parts, conversation));
        const emptied = await workspaces.ofConversation(conversation).empty("temp");
        if (!emptied.ok) logger.warn(`temp/ of ${conversation.id} was not emptied`, { code: emptied.failure.code });
        return ok(undefined);
      });
    },

    async remove(conversation) {
      await driver.stop(conversation.number);
      const event: NewEvent = { type: "conversation.deleted", by: conversation.owner };
      const stored = await log.append(conversation.number, [event], { with: { deleted: { at: clock.now() } } });
      if (!stored.ok) return stored;
      // The answer waits neither for the programs nor for the files: who removes these waits for those. None is begun any
      // more, for the conversation is gone.
      const what = `programs of ${conversation.id} could not be ended`;
      void inBackground(logger, what, sandbox.leave(conversation.number));
      documents.forget(workspaces.ofConversation(conversation), ".");
      lookup.forget(conversation);
      sweepSoon();
      return ok(undefined);
    },
  };
}

/** Appends between turns only: a running turn must not lose the ground it stands on, nor a message that waits its turn. */
export async function appendAtRest(
  parts: Parts,
  conversation: ConversationRow,
  events: readonly NewEvent[],
  { received, ...fence }: { readonly received?: string | undefined; readonly epoch?: number },
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  return appendSeen(parts, conversation.number, (history) => {
    const resting = restingOr(history, conversation);
    return resting.ok ? ok({ events, with: { received, row: { updatedAt: parts.clock.now() } }, ...fence }) : resting;
  });
}

/** The history of a conversation in which no turn runs or is about to. */
export async function atRest({ log }: Parts, conversation: ConversationRow): Promise<Result<History, Failure>> {
  return restingOr(await log.history(conversation.number), conversation);
}

function restingOr(history: History, { id }: ConversationRow): Result<History, Failure> {
  const isResting = history.turn === undefined && history.queue.length === 0;
  return isResting ? ok(history) : failure("conversation_busy", { id });
}
