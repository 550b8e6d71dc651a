import { failed } from "../base/result.ts";
import type { FileFailure, Workspace } from "./one-workspace.ts";

/** Stands where an agent has no files: whatever is asked of it is answered with the reason. */
export function noWorkspace(id: string, reason: FileFailure): Workspace {
  const refuse = async () => failed(reason);
  return {
    id,
    kind: "task",
    owner: "",
    name: "",
    stat: refuse,
    read: refuse,
    stream: refuse,
    hash: refuse,
    list: refuse,
    walk: refuse,
    info: refuse,
    write: refuse,
    remove: refuse,
    empty: refuse,
    restore: refuse,
    observe: refuse,
    lookAhead: refuse,
    measure: refuse,
    guestFolder: refuse,
    openDescriptor: refuse,
  };
}
