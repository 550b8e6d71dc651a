import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import { type FileState, fileChanged, type LogEvent, type NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { rechained } from "./copied-decisions.ts";
import type { Driver } from "./driver.ts";
import { prewarmOpened, rootPlace } from "./guests.ts";
import type { Engine } from "./loop.ts";
import { appendSeen } from "./messages.ts";
import type { Parts } from "./parts.ts";

/** The whole conversation: begin it, open it, forget it, share it, delete it. */
export function openPlaces(
  parts: Parts,
  driver: Driver,
): Pick<Engine, "create" | "open" | "reset" | "branch" | "remove"> {
  const { log, clock, ids, workspaces, sandbox, logger, sweepSoon } = parts;
  return {
    async create(owner, wanted) {
      const created = await log.createConversation(owner, wanted);
      if (!created.ok) return created;
      const { value: conversation } = created;
      const made = await workspaces.create(conversation);
      // Without folders one can still talk; they are made by the first write.
      if (!made.ok) logger.error(`${conversation.id} has no folders yet`, { code: made.failure.code });
      else sandbox.prewarm(rootPlace(parts, conversation));
      return created;
    },

    open(conversation) {
      void prewarmOpened(parts, conversation).catch((error) =>
        logger.error(`the sandbox of ${conversation.id} could not be prewarmed`, { error }),
      );
    },

    async reset(conversation) {
      const seen = await atRest(parts, conversation);
      if (!seen.ok) return seen;
      return driver.hold(conversation, async () => {
        const stored = await appendAtRest(parts, conversation, [{ type: "rewound", to: 0, cause: "reset" }]);
        if (!stored.ok) return stored;
        await sandbox.reset(rootPlace(parts, conversation));
        const emptied = await workspaces.ofConversation(conversation).empty("temp");
        if (!emptied.ok) logger.warn(`temp/ of ${conversation.id} was not emptied`, { code: emptied.failure.code });
        return ok(undefined);
      });
    },

    async branch(conversation, at) {
      const { checkpoints, guides } = await log.history(conversation.number);
      const point = at === undefined ? checkpoints.at(-1) : checkpoints.find(({ seq }) => seq === at);
      if (point === undefined && at !== undefined) return failure("checkpoint_not_found", { checkpoint: at });
      const counting = point === undefined ? [] : await log.effective(conversation.number, point.seq);
      const copied = rechained(copiedEvents(counting));
      const branched: NewEvent = { type: "branched", parent: conversation.id, place: point?.seq ?? 0 };
      const { owner, title } = conversation;
      // The files are those of now, and so is whose they are.
      const uploaded = [...guides].map(([path, { state }]) => uploadedAgain(path, state));
      const events = [branched, ...copied, ...uploaded];
      const made = await log.createConversation(owner, { id: ids.uuid(), title, events, blobsOf: conversation.number });
      if (!made.ok) return made;
      const copy = await workspaces.copy(conversation, made.value, copied.flatMap(givenBackByUndo));
      if (!copy.ok) logger.error(`the files of ${conversation.id} were not copied`, { code: copy.failure.code });
      const leftOut = copy.ok ? copy.value.leftOut : ["."];
      return ok({ conversation: made.value, leftOut });
    },

    async remove(conversation) {
      await driver.stop(conversation.number);
      const event: NewEvent = { type: "conversation.deleted", by: conversation.owner };
      const stored = await log.append(conversation.number, [event], { with: { deleted: { at: clock.now() } } });
      if (!stored.ok) return stored;
      // The answer waits neither for the programs nor for the files: who removes these waits for those. None is begun any
      // more, for the conversation is gone.
      void sandbox
        .leave(conversation.number)
        .catch((error) => logger.error(`programs of ${conversation.id} could not be ended`, { error }));
      sweepSoon();
      return ok(undefined);
    },
  };
}

function uploadedAgain(path: string, after: FileState): NewEvent {
  return fileChanged({ path, before: undefined, after, lost: undefined }, { by: "upload" });
}

/** Appends between turns only: a running turn must not lose the ground it stands on, nor a message that waits its turn. */
export async function appendAtRest(
  parts: Parts,
  conversation: ConversationRow,
  events: readonly NewEvent[],
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  return appendSeen(parts, conversation.number, (history) => {
    const resting = restingOr(history, conversation);
    return resting.ok ? ok({ events, with: { row: { updatedAt: parts.clock.now() } } }) : resting;
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

/** The events of the parent under their new numbers: places named inside them move along. */
function copiedEvents(events: readonly LogEvent[]): NewEvent[] {
  const dropped = new Set<LogEvent["type"]>(["rewound", "branched", "checkpoint.deleted"]);
  const taken = new Set(events.flatMap(takenUp));
  const kept = events.filter(
    (event) => !dropped.has(event.type) && (event.type !== "message.user" || taken.has(event.id)),
  );
  const placeOf = new Map(kept.map((event, index) => [event.seq, index + 2]));
  const placeNow = (seq: number) => placeOf.get(seq) ?? 1;
  return kept.map(({ seq: _, at: __, ...event }) => {
    if (event.type === "compaction.undone") return { ...event, compacted: placeNow(event.compacted) };
    if (event.type !== "compacted") return event;
    const trims = event.trims?.map(({ seq, text }) => ({ seq: placeNow(seq), text }));
    return { ...event, upTo: placeNow(event.upTo), ...(trims === undefined ? {} : { trims }) };
  });
}

/** The content that undo would give back; of a task's files a branch has none. */
function givenBackByUndo(event: NewEvent): FileState[] {
  const isOwn = event.type === "file.changed" && event.by === "tool" && event.workspace === undefined;
  return isOwn && event.before !== undefined ? [event.before] : [];
}

/** Messages that this event brings into the history; others still waited when the turn ended. */
function takenUp(event: LogEvent): readonly string[] {
  if (event.type === "turn.started") return [event.message];
  return event.type === "step.started" ? (event.joined ?? []) : [];
}
