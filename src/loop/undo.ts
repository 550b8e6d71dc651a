import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { EventOf, FileState, LogEvent, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { UndoReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import type { Driver } from "./driver.ts";
import { changed } from "./files.ts";
import { lastText, snippet } from "./finish.ts";
import type { Engine } from "./loop.ts";
import { appendSeen } from "./messages.ts";
import type { Parts } from "./parts.ts";
import { atRest } from "./places.ts";

/**
 * Takes back the last turn: first its files, then the fact. Whoever is interrupted in between does it again, and finds
 * the files as they were before the turn.
 */
export function openUndo(parts: Parts, driver: Driver): Pick<Engine, "undo"> {
  return {
    async undo(conversation) {
      const seen = await atRest(parts, conversation);
      if (!seen.ok) return seen;
      return driver.hold(conversation, async (lease) => {
        const now = await atRest(parts, conversation);
        if (!now.ok) return now;
        // A turn that came and went while the run before it let go is not the one that was meant.
        if (now.value.lastTurn?.turn !== seen.value.lastTurn?.turn) return busy(conversation);
        return takeBack(parts, conversation, lease);
      });
    },
  };
}

function busy({ id }: ConversationRow) {
  return failure("conversation_busy", { id });
}

async function takeBack(
  parts: Parts,
  conversation: ConversationRow,
  lease: { readonly epoch: number },
): Promise<Result<UndoReport, Failure>> {
  const events = await parts.log.effective(conversation.number, Number.MAX_SAFE_INTEGER);
  const start = events.findLastIndex((event) => event.type === "turn.started");
  const started = events[start];
  if (started?.type !== "turn.started") return failure("nothing_to_undo", {});
  const isAnswered = (event: LogEvent) => event.type === "message.user" && event.id === started.message;
  const message = events.find((event): event is EventOf<"message.user"> => isAnswered(event));
  const report: UndoReport = { turn: started.turn, message: message?.text ?? "", restored: [], left: [] };
  const facts: NewEvent[] = [];
  for (const change of changesIn(events.slice(start))) {
    const end = await giveBack(parts, conversation, change);
    if (end === undefined) continue;
    if (end.why !== undefined) report.left.push({ path: change.path, why: end.why });
    else report.restored.push({ path: change.path, now: change.before === undefined ? "removed" : "as_before" });
    if (end.fact !== undefined) facts.push(end.fact);
  }
  // Where the message came directly before, it goes too; one that had waited during another turn is taken back below.
  const newest = events[start - 1];
  const to = (newest !== undefined && isAnswered(newest) ? newest.seq : started.seq) - 1;
  const stored = await rewind(parts, conversation, { to, facts, undone: events.slice(start), ...lease });
  return stored.ok ? ok(report) : stored;
}

/** What the tools of a turn did to one path, all in all. */
type Change = Pick<EventOf<"file.changed">, "workspace" | "path" | "before" | "after" | "lost"> & {
  readonly isFolder: boolean;
};

/** One entry a path, sorted: before the first change and after the last one. */
function changesIn(events: readonly LogEvent[]): Change[] {
  const changes = new Map<string, Change>();
  for (const event of events) {
    if (event.type !== "file.changed" || event.by !== "tool") continue;
    const { workspace, path, before, after, lost } = event;
    const key = `${workspace ?? ""}\n${path}`;
    const earlier = changes.get(key);
    // Somebody else changed it in between: what they put there is what comes back.
    const isNext = earlier !== undefined && isSame(earlier.after, before);
    const isFolder = before === undefined && after === undefined;
    changes.set(key, isNext ? { ...earlier, after } : { workspace, path, before, after, lost, isFolder });
  }
  return [...changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

type End = { readonly why?: UndoReport["left"][number]["why"]; readonly fact?: NewEvent };

/** Undefined where there is nothing to say: a folder that was made stays. */
async function giveBack(parts: Parts, conversation: ConversationRow, change: Change): Promise<End | undefined> {
  const { path, before, after, lost } = change;
  const workspace = await workspaceOf(parts, conversation, change);
  if (!workspace.ok) return left(parts, change, workspace.failure);
  const found = await stateAt(workspace.value, change);
  if (!found.ok) return left(parts, change, found.failure);
  const { value: present } = found;
  if (change.isFolder) return present === undefined ? { why: "not_kept" } : undefined;
  if (isSame(present, before)) return {};
  if (!isSame(present, after)) return { why: "changed_since" };
  if (lost !== undefined) return { why: "not_kept" };
  const restored = await workspace.value.restore(path, before);
  // The kept bytes had to make room for newer ones.
  if (!restored.ok && restored.failure.code === "read_failed") return { why: "not_kept" };
  if (!restored.ok) return left(parts, change, restored.failure);
  return { fact: changed(restored.value, { by: "undo", ...workspaceNamed(change) }) };
}

async function workspaceOf(
  { workspaces }: Parts,
  conversation: ConversationRow,
  { workspace }: Change,
): Promise<Result<Workspace, FileFailure>> {
  if (workspace === undefined) return ok(workspaces.ofConversation(conversation));
  return workspaces.taskOf(conversation, workspace);
}

function workspaceNamed({ workspace }: Change) {
  return workspace === undefined ? {} : { workspace };
}

/** What stands at the path now is no file that we could replace, or the world does not let us. */
function left({ logger }: Parts, { path }: Change, { code }: FileFailure): End {
  if (code === "not_a_file" || code === "not_a_folder" || code === "permission_denied") return { why: "changed_since" };
  logger.warn("a file was not restored", { path, code });
  return { why: "failed" };
}

/** What is at a path now. The bytes are read only where they can be those of the change. */
async function stateAt(
  workspace: Workspace,
  { path, before, after, isFolder }: Change,
): Promise<Result<FileState | undefined, FileFailure>> {
  const stat = await workspace.stat(path);
  if (!stat.ok) return stat.failure.code === "file_not_found" ? ok(undefined) : stat;
  const { type, bytes, mode } = stat.value;
  if (type === "folder" && !isFolder) return failure("not_a_file", { path });
  const isLikely = [before, after].some((state) => state?.hash !== undefined && state.bytes === bytes);
  if (!isLikely) return ok({ bytes, mode });
  const hash = await workspace.hash(path);
  return hash.ok ? ok({ hash: hash.value, bytes, mode }) : hash;
}

/** Very large files have no hash: there the size has to do. */
function isSame(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isHashSame = a.hash === undefined || b.hash === undefined || a.hash === b.hash;
  return isHashSame && a.bytes === b.bytes && a.mode === b.mode;
}

type Rewind = {
  readonly to: number;
  readonly facts: readonly NewEvent[];
  readonly undone: readonly LogEvent[];
  readonly epoch: number;
};

/** One append. What people did meanwhile and has nothing to do with the turn is said again after it. */
async function rewind(
  parts: Parts,
  conversation: ConversationRow,
  { to, facts, undone, epoch }: Rewind,
): Promise<Result<unknown, Failure>> {
  const { number } = conversation;
  const before = await parts.log.history(number, to);
  const row = { lastMessage: snippet(lastText(before)), updatedAt: parts.clock.now() };
  const forgotten = undone.flatMap((event) => (event.type === "checkpoint.deleted" ? [bare(event)] : []));
  return appendSeen(parts, number, ({ turn, queue }) => {
    if (turn !== undefined) return busy(conversation);
    const isIn = (messages: History["queue"], id: string) => messages.some((message) => message.id === id);
    const answered = before.queue.filter(({ id }) => !isIn(queue, id));
    const withdrawn = answered.map(({ id }): NewEvent => ({ type: "message.withdrawn", id }));
    const waiting = queue.filter(({ id }) => !isIn(before.queue, id)).map(bare);
    const rewound: NewEvent = { type: "rewound", to, cause: "undo" };
    return ok({ events: [rewound, ...facts, ...forgotten, ...withdrawn, ...waiting], epoch, with: { row } });
  });
}

function bare({ seq: _, at: __, ...event }: LogEvent): NewEvent {
  return event;
}
