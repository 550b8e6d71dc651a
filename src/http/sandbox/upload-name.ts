import { failed } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { parsePath, shownPath } from "../../workspace/workspace.ts";

/** Why a file cannot be stored under this name. Told before a conversation is adopted or a byte is taken for it. */
export function nameFault(name: string) {
  const path = shownPath(name);
  if (name.includes("..")) return failure("path_traversal_blocked", { path });
  if (name.includes("/")) return failure("path_invalid", { path, why: "slash" });
  if (name.trim() === "" || name === ".") return failure("path_invalid", { path, why: "no_name" });
  const parsed = parsePath(name);
  return parsed.ok ? undefined : failed(parsed.failure);
}
