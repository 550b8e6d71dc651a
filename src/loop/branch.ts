import { ok } from "../base/result.ts";
import { type FileState, fileChanged, type LogEvent, type NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { agentAgain, rowOf } from "./agents.ts";
import { rechained } from "./copied-decisions.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** A conversation of its own that shares the history of another one up to a place. */
export function openBranch({ log, ids, workspaces, logger }: Parts): Pick<Engine, "branch"> {
  return {
    async branch(conversation, at, id = ids.uuid()) {
      const history = await log.history(conversation.number);
      const { checkpoints, guides, budget } = history;
      const point = at === undefined ? checkpoints.at(-1) : checkpoints.find(({ seq }) => seq === at);
      if (point === undefined && at !== undefined) return failure("checkpoint_not_found", { checkpoint: at });
      const counting = point === undefined ? [] : await log.effective(conversation.number, point.seq);
      const chosen = agentAgain(history);
      // Whose it is stands first, as in every conversation that was made for an agent.
      const whose = chosen === undefined ? [] : [chosen];
      const copied = rechained(copiedEvents(counting, 1 + whose.length));
      const copiedUpTo = 1 + whose.length + copied.length;
      const branched: NewEvent = { type: "branched", parent: conversation.id, place: point?.seq ?? 0, copiedUpTo };
      const first = [branched, ...whose];
      const { owner, title } = conversation;
      // The files are those of now, and so are the limits.
      const uploaded = [...guides].map(([path, { state }]) => uploadedAgain(path, state));
      const limited: NewEvent[] = budget.set === undefined ? [] : [{ type: "budget.set", ...budget.set }];
      const events = [...first, ...copied, ...limited, ...uploaded];
      const about = { id, title, origin: conversation.origin, ...(chosen && rowOf(chosen)) };
      const created = await log.createConversation(owner, { ...about, events, blobsOf: conversation.number });
      const exists = !created.ok && created.failure.code === "conversation_exists";
      const made = exists ? await log.find(owner, id) : created;
      if (!made.ok) return made;
      const copy = await workspaces.copy(conversation, made.value, copied.flatMap(givenBackByUndo));
      if (!copy.ok) logger.error(`the files of ${conversation.id} were not copied`, { code: copy.failure.code });
      const leftOut = copy.ok ? copy.value.leftOut : ["."];
      return ok({ conversation: made.value, leftOut });
    },
  };
}

function uploadedAgain(path: string, after: FileState): NewEvent {
  return fileChanged({ path, before: undefined, after, lost: undefined }, { by: "upload" });
}

/** The events of the parent under their new numbers, behind so many others: places named inside them move along. */
function copiedEvents(events: readonly LogEvent[], before: number): NewEvent[] {
  const dropped = new Set<LogEvent["type"]>(["rewound", "branched", "agent.chosen", "budget.set"]);
  const taken = new Set(events.flatMap(takenUp));
  const kept = events.filter(
    (event) => !dropped.has(event.type) && isForRoot(event) && (event.type !== "message.user" || taken.has(event.id)),
  );
  const placeOf = new Map(kept.map((event, index) => [event.seq, before + 1 + index]));
  // A message that was given with another one stands before the log.
  const placeNow = (seq: number) => (seq < 0 ? seq : (placeOf.get(seq) ?? 1));
  return kept.map(({ seq: _, at: __, ...event }) => {
    if (event.type === "checkpoint.deleted") return { ...event, checkpoint: placeNow(event.checkpoint) };
    if (event.type === "compaction.undone") return { ...event, compacted: placeNow(event.compacted) };
    if (event.type !== "compacted") return event;
    const trims = event.trims?.map(({ seq, ...trim }) => ({ ...trim, seq: placeNow(seq) }));
    return { ...event, upTo: placeNow(event.upTo), ...(trims === undefined ? {} : { trims }) };
  });
}

/** Other agents have ended by then: a branch has what they left to the main agent, and what they did to its files. */
function isForRoot(event: LogEvent): boolean {
  if (event.type === "agent.mailed") return event.to === "root" || event.agent === undefined;
  if (event.type === "file.changed") return event.workspace === undefined;
  return !("agent" in event) || event.agent === undefined;
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
