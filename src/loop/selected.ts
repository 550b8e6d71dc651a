import { ok, type Result } from "../base/result.ts";
import { isCode, typeOfName } from "../documents/documents.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Selection } from "../protocol/given.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { parsePath, shownPath, type Workspace } from "../workspace/workspace.ts";

const temparea = "uploads/temparea";
/** What a conversation's own paths begin with. */
const ownFolders: readonly string[] = ["uploads", "outputs", "temp"];

/**
 * The files that were selected, by the paths that programs see; each once. Undefined where none was. Every one must be
 * there, and in this conversation.
 */
export async function selectFiles(
  workspace: Workspace,
  { id, owner }: ConversationRow,
  names: readonly string[] | undefined,
): Promise<Result<Selection | undefined, Failure>> {
  const files = new Set<string>();
  for (const name of names ?? []) {
    const path = await findSelected(workspace, id, name);
    if (!path.ok) return path;
    files.add(`/workspace/${id}/${path.value}`);
  }
  if (files.size === 0) return ok(undefined);
  return ok({ root: `/workspace/${id}/${temparea}/`, session: `sess-${owner}`, files: [...files] });
}

/** A program is among them, so that a model for code should look at it. */
export function hasCode({ files }: Selection): boolean {
  return files.some((path) => isCode(typeOfName(path.slice(path.lastIndexOf("/") + 1))));
}

async function findSelected(workspace: Workspace, id: string, name: string): Promise<Result<string, Failure>> {
  const places = placesOf(id, name);
  if (!places.ok) return places;
  for (const path of places.value) {
    const found = await workspace.stat(path);
    if (found.ok && found.value.type === "file") return ok(path);
  }
  return failure("selected_file_missing", { name: shownPath(name) });
}

/** Where a spelling may mean: the path below the workspace, or for a name alone the folders for uploads. */
function placesOf(id: string, name: string): Result<readonly string[], Failure> {
  const isShown = /^\/workspace(\/|$)/.test(name);
  const parsed = parsePath(name.replace(/^\/workspace(\/+|$)/, ""));
  if (!parsed.ok) return parsed;
  const [first = "", ...below] = parsed.value;
  const isNamed = below.length > 0 && (first === id || first === `conversation-${id}`);
  const inside = isNamed ? below : parsed.value;
  if (inside.length > 1 && ownFolders.includes(inside[0] ?? "")) return ok([inside.join("/")]);
  // A path that begins with a conversation, and not with this one.
  const isOfAnother = below.length > 1 && ownFolders.includes(below[0] ?? "");
  if (isShown || isNamed || isOfAnother) return failure("selected_file_elsewhere", { name: shownPath(name) });
  const path = inside.join("/");
  return ok(path === "" ? [] : [`${temparea}/${path}`, `uploads/${path}`]);
}
