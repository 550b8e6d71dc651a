import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type FileFailure, parsePath } from "../../workspace/workspace.ts";

/** What a request says about where a file is, in whichever way it says it. */
export type PlaceWanted = {
  readonly conversationId?: string | undefined;
  readonly subdir?: string | undefined;
  readonly path?: string | undefined;
};

/** Which conversation is meant, and what below its folder; `.` is all of it. */
export type FilePlace = { readonly conversationId: string; readonly path: string };

type Misplaced = FileFailure | Failure<"bad_request" | "conversation_not_named">;

/** Where uploads over HTTP go. */
export const temparea = "uploads/temparea";
const writableFolders = ["uploads", "outputs", "temp"];
const ownFolders = [...writableFolders, "skills"];

/**
 * The place of a file in one of the ways that the two dialects have: a path as programs in the sandbox see it, from the
 * conversation's id on; or a path below a conversation that is named beside it, where a name alone is one in its temparea.
 */
export function filePlace({ conversationId, subdir, path }: PlaceWanted): Result<FilePlace, Misplaced> {
  const folder = folderNamed(subdir);
  if (!folder.ok) return folder;
  if (path === undefined)
    return conversationId === undefined
      ? failure("conversation_not_named", {})
      : ok({ conversationId, path: folder.value });
  const names = parseShown(path);
  if (!names.ok) return names;
  const [first, ...below] = names.value;
  if (conversationId === undefined) {
    if (first === undefined || ownFolders.includes(first)) return failure("conversation_not_named", {});
    return ok({ conversationId: first, path: below.join("/") || "." });
  }
  if (first === undefined) return ok({ conversationId, path: subdir === undefined ? "." : folder.value });
  if (first === conversationId) return ok({ conversationId, path: below.join("/") || "." });
  const isOwn = subdir === undefined && ownFolders.includes(first);
  if (path.startsWith("/") && !isOwn) return failure("bad_request", { what: "path, conversation_id" });
  const inside = names.value.join("/");
  return ok({ conversationId, path: isOwn ? inside : `${folder.value}/${inside}` });
}

/** A name without folders, which may be looked for in every conversation of its user. */
export function isBareName(path: string): boolean {
  return path !== "" && path !== "." && !path.includes("/");
}

/** `/workspace` is where the sandbox has all this. */
function parseShown(path: string) {
  return parsePath(path.replace(/^\/workspace(\/+|$)/, ""));
}

function folderNamed(subdir = "temparea"): Result<string, Misplaced> {
  const names = parseShown(subdir);
  if (!names.ok) return names;
  const [first = "", ...below] = names.value;
  if (first === "temparea") return ok([temparea, ...below].join("/"));
  if (!writableFolders.includes(first)) return failure("bad_request", { what: "subdir" });
  return ok(names.value.join("/"));
}
