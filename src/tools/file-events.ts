import { fileChanged, type NewEvent } from "../protocol/events.ts";
import type { FileChange } from "../workspace/workspace.ts";
import type { ToolContext } from "./tool.ts";

/** The agent has seen this content of the file, or a part of it. */
export function knownEvent(
  context: ToolContext,
  { path, hash, isWhole = true }: { path: string; hash: string; isWhole?: boolean },
): NewEvent {
  return { type: "file.known", ...whoseFile(context), path, hash, ...(isWhole ? {} : { part: true }) };
}

/** The ledger's line for what a tool did, by itself or with a program. */
export function changedEvent(context: ToolContext, change: FileChange, by: { program?: true } = {}): NewEvent {
  return fileChanged(change, { ...whoseFile(context), call: context.call, by: "tool", ...by });
}

function whoseFile({ agent, workspace }: ToolContext): { agent?: string; workspace?: string } {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(workspace.kind === "task" ? { workspace: workspace.id } : {}),
  };
}

/** A path as it is listed and as events name it; one that cannot be used stays as useless as it is. */
export function listedPath(path: string): string {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}
