import { ok, type Result } from "../../base/result.ts";
import { fileChanged, type NewEvent } from "../../protocol/events.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { FileChange, FileFailure, Workspace } from "../../workspace/workspace.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";

/** Of one hand-over, either way. */
const filesMax = 500;

/** Copies files of the conversation into a task's workspace, to the same paths. A folder stands for what is in it. */
export async function handOver(
  from: Workspace,
  to: Workspace,
  paths: readonly string[],
): Promise<Result<readonly string[], Failure>> {
  const files = new Set<string>();
  for (const path of paths) {
    const below = await filesAt(from, path);
    if (!below.ok) return below;
    for (const file of below.value) files.add(file);
  }
  if (files.size > filesMax) return failure("hand_over_too_many", { count: files.size, max: filesMax });
  for (const path of files) {
    const copied = await copyFile(from, to, { path, as: path });
    if (!copied.ok) return copied;
  }
  return ok([...files]);
}

type Collected = {
  /** Below the conversation's workspace; undefined where there was nothing to collect. */
  readonly folder: string | undefined;
  readonly events: NewEvent[];
  readonly leftOut: number;
};

/** Where the files are. */
export type FileParts = { readonly workspaces: Pick<Parts["workspaces"], "ofConversation" | "taskOf"> };

const nothing: Collected = { folder: undefined, events: [], leftOut: 0 };

/**
 * Puts what a task has made into `outputs/{name}/` of the conversation: what lies in its own `outputs/`, or where there is
 * none everything but its scratch and what it was given and left as it was. Done again after a crash it is the same.
 */
export async function collectFiles({ history, conversation }: Run, parts: FileParts): Promise<Collected> {
  const { self } = history;
  if (self?.mode !== "task" || self.parent !== "root") return nothing;
  const task = await parts.workspaces.taskOf(conversation, self.id);
  if (!task.ok) return nothing;
  const own = parts.workspaces.ofConversation(conversation);
  const found = await madeIn(task.value, own);
  const taken = found.files.slice(0, filesMax);
  if (taken.length === 0) return nothing;
  const folder = `outputs/${self.name}`;
  const events: NewEvent[] = [];
  let leftOut = found.files.length - taken.length;
  for (const path of taken) {
    const copied = await copyFile(task.value, own, { path, as: `${folder}/${path.slice(found.below.length)}` });
    if (copied.ok) events.push(fileChanged(copied.value, { by: "tool", agent: self.id }));
    else leftOut += 1;
  }
  return { folder: events.length === 0 ? undefined : folder, events, leftOut };
}

async function madeIn(task: Workspace, own: Workspace): Promise<{ readonly below: string; readonly files: string[] }> {
  const outputs = await filesAt(task, "outputs");
  if (outputs.ok && outputs.value.length > 0) return { below: "outputs/", files: outputs.value };
  const all = await filesAt(task, ".");
  const files: string[] = [];
  for (const path of all.ok ? all.value : [])
    if (!path.startsWith("temp/") && !(await isSame(task, own, path))) files.push(path);
  return { below: "", files };
}

/** The conversation has the very same file: it was handed over from there. */
async function isSame(task: Workspace, own: Workspace, path: string): Promise<boolean> {
  const [mine, its] = [await own.stat(path), await task.stat(path)];
  if (!mine.ok || !its.ok || mine.value.type !== "file" || mine.value.bytes !== its.value.bytes) return false;
  const [one, other] = [await own.hash(path), await task.hash(path)];
  return one.ok && other.ok && one.value === other.value;
}

/** Regular files at a path or below it, sorted. */
async function filesAt(workspace: Workspace, path: string): Promise<Result<string[], FileFailure>> {
  const stat = await workspace.stat(path);
  if (!stat.ok) return stat;
  if (stat.value.type === "file") return ok([stat.value.path]);
  const entries = await workspace.walk(path);
  if (!entries.ok) return entries;
  const files: string[] = [];
  for await (const entry of entries.value)
    if (entry.type === "file" && !entry.path.startsWith("skills/")) files.push(entry.path);
  return ok(files.toSorted());
}

async function copyFile(
  from: Workspace,
  to: Workspace,
  { path, as }: { readonly path: string; readonly as: string },
): Promise<Result<FileChange, FileFailure>> {
  const source = await from.stream(path);
  if (!source.ok) return source;
  const written = await to.write(as, source.value.chunks, { mode: source.value.stat.mode });
  await source.value.chunks.return();
  return written;
}
