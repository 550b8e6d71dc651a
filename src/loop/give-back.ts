import { failed, ok, type Result } from "../base/result.ts";
import { type EventOf, type FileState, fileChanged, type LogEvent, type NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { UndoReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import type { Parts } from "./parts.ts";

/** What became of the files, and the ledger's lines about it. */
export type GivenBack = Pick<UndoReport, "restored" | "left"> & { readonly events: NewEvent[] };

/** What it takes to find the files of a conversation. */
type FileParts = {
  readonly workspaces: Pick<Parts["workspaces"], "ofConversation" | "taskOf" | "cleanedAt" | "trash">;
};

/**
 * Makes the files as they were before these events, as far as tools changed them and nobody else did since. Fails where
 * it can be tried again: what a full disk or a limit refused, or files that lie in the trash.
 */
export async function giveBackFiles(
  parts: FileParts,
  conversation: ConversationRow,
  events: readonly LogEvent[],
): Promise<Result<GivenBack, Failure>> {
  const changes = changesIn(events);
  if (changes.length > 0 && (await isInTrash(parts, conversation))) return failure("files_in_trash", {});
  // What was made goes first: it may stand where something else was.
  const [made, others] = [changes.filter(({ before }) => !before), changes.filter(({ before }) => before)];
  const ends: (Change & { readonly end: Done })[] = [];
  for (const change of [...made, ...others]) {
    const end = await giveBack(parts, conversation, change);
    if (end === undefined) continue;
    // What was given back so far is found as it was before when this is asked again.
    if ("hindrance" in end) return failed(end.hindrance);
    ends.push({ ...change, end });
  }
  return ok(reportOf(byPath(ends)));
}

function reportOf(ends: readonly (Change & { readonly end: Done })[]): GivenBack {
  const done: GivenBack = { restored: [], left: [], events: [] };
  for (const { path, before, end } of ends) {
    if (end.why !== undefined) done.left.push({ path, why: end.why });
    else done.restored.push({ path, now: before === undefined ? "removed" : "as_before" });
    if (end.event !== undefined) done.events.push(end.event);
  }
  return done;
}

function byPath<T extends { readonly path: string }>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function isInTrash({ workspaces }: FileParts, conversation: ConversationRow): Promise<boolean> {
  if ((await workspaces.cleanedAt(conversation)) === undefined) return false;
  return (await workspaces.trash(conversation.owner)).some((entry) => entry.conversation === conversation.id);
}

/** What tools did to one path, all in all. */
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
  return byPath([...changes.values()]);
}

type Done = { readonly why?: UndoReport["left"][number]["why"]; readonly event?: NewEvent };
type End = Done | { readonly hindrance: FileFailure };

/** Undefined where there is nothing to say: a folder that was made stays. */
async function giveBack(parts: FileParts, conversation: ConversationRow, change: Change): Promise<End | undefined> {
  const { path, before, after, lost } = change;
  const workspace = await workspaceOf(parts, conversation, change);
  if (!workspace.ok) return leftFor(workspace.failure);
  const found = await stateAt(workspace.value, change);
  if (!found.ok) return leftFor(found.failure);
  const { value: present } = found;
  if (change.isFolder) return present === undefined ? { why: "not_kept" } : undefined;
  // Of a file that was too large to be kept nobody knows whether the same size means the same bytes.
  const isUnsure = lost !== undefined && before !== undefined && before.hash === undefined;
  if (isSame(present, before) && !isUnsure) return {};
  if (!isSame(present, after)) return { why: "changed_since" };
  if (lost !== undefined) return { why: "not_kept" };
  // Only what was just looked at is replaced.
  const restored = await workspace.value.restore(path, before, {
    expected: present === undefined ? null : present.hash,
  });
  // The kept bytes had to make room for newer ones.
  if (!restored.ok && restored.failure.code === "read_failed") return { why: "not_kept" };
  if (!restored.ok) return leftFor(restored.failure);
  return { event: fileChanged(restored.value, { by: "undo", ...workspaceNamed(change) }) };
}

async function workspaceOf(
  { workspaces }: FileParts,
  conversation: ConversationRow,
  { workspace }: Change,
): Promise<Result<Workspace, FileFailure>> {
  if (workspace === undefined) return ok(workspaces.ofConversation(conversation));
  return workspaces.taskOf(conversation, workspace);
}

function workspaceNamed({ workspace }: Change) {
  return workspace === undefined ? {} : { workspace };
}

/** What stands at the path now is no file that we could replace; or the world does not let us, this time. */
function leftFor(reason: FileFailure): End {
  const { code } = reason;
  // Programs may choose names that nobody else can use.
  if (code === "path_invalid" || code === "path_traversal_blocked") return { why: "not_kept" };
  const isOther = code === "not_a_file" || code === "not_a_folder" || code === "permission_denied";
  return isOther || code === "conflict" ? { why: "changed_since" } : { hindrance: reason };
}

/** What is at a path now. The bytes are read only where they can be those of the change. */
async function stateAt(
  workspace: Workspace,
  { path, before, after, isFolder }: Change,
): Promise<Result<FileState | undefined, FileFailure>> {
  const stat = await workspace.stat(path);
  // Nor is anything there where a file stands in the place of a folder above it.
  if (!stat.ok) return isAbsent.has(stat.failure.code) ? ok(undefined) : stat;
  const { type, bytes, mode } = stat.value;
  if (type === "folder" && !isFolder)
    return before !== undefined && (await removeBare(workspace, path))
      ? ok(undefined)
      : failure("not_a_file", { path });
  const isLikely = [before, after].some((state) => state?.hash !== undefined && state.bytes === bytes);
  if (!isLikely) return ok({ bytes, mode });
  const hash = await workspace.hash(path);
  // A program took away the right to read it: its size and mode have to do.
  if (!hash.ok && hash.failure.code === "permission_denied") return ok({ bytes, mode });
  return hash.ok ? ok({ hash: hash.value, bytes, mode }) : hash;
}

const isAbsent: ReadonlySet<FileFailure["code"]> = new Set(["file_not_found", "not_a_folder"]);

/** A folder in the place of a file, in which no file is left. */
async function removeBare(workspace: Workspace, path: string): Promise<boolean> {
  const entries = await workspace.walk(path, { hidden: true });
  if (!entries.ok) return false;
  for await (const { type } of entries.value) if (type === "file") return false;
  return (await workspace.remove(path)).ok;
}

/** Very large files have no hash: there the size has to do. */
function isSame(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isHashSame = a.hash === undefined || b.hash === undefined || a.hash === b.hash;
  return isHashSame && a.bytes === b.bytes && a.mode === b.mode;
}
