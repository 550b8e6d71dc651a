import { failed, ok, type Result } from "../base/result.ts";
import type { ConversationRow, WorkspaceRow } from "../storage/storage.ts";
import { type FilesOptions, type HostPlace, openFiles } from "./files.ts";
import { asFileFailure, type Places } from "./folders.ts";
import { type InUse, nameOf, type WorkspaceKey } from "./in-use.ts";
import type { FileFailure, Workspace } from "./one-workspace.ts";

/** Files as somebody works with them. All views of the same folder share what they must agree on. */
export type Views = {
  ofConversation(conversation: ConversationRow): Workspace;
  ofTask(row: WorkspaceRow): Workspace;
  /** For looking after a folder: neither a use nor a write that others wait for. */
  unnoticed(row: WorkspaceRow): Workspace;
};

export type ViewsOptions = Omit<FilesOptions, "id" | "kind" | "owner" | "name" | "place"> & {
  readonly places: Places;
  readonly inUse: InUse;
};

type Whose = WorkspaceKey & Pick<WorkspaceRow, "owner">;

export function openViews({ places, inUse, ...options }: ViewsOptions): Views {
  const open = (whose: Whose, place: () => Promise<Result<HostPlace, FileFailure>>) => {
    const { id, kind, owner } = whose;
    return openFiles({ ...options, id, kind, owner, name: nameOf(whose), place });
  };

  return {
    ofConversation(conversation) {
      const key: Whose = { ...conversation, kind: "conversation" };
      const files = open(key, async () => {
        const place = await places.ofConversation(conversation);
        return place.ok ? place : failed(asFileFailure(place.failure, "root"));
      });
      return inUse.watch(key, files);
    },
    ofTask(row) {
      const files = open(row, async () => places.ofRow(row));
      return inUse.watch(row, files);
    },
    unnoticed: (row) =>
      open(row, async () => {
        const place = places.ofRow(row);
        return place.ok ? ok({ ...place.value, used: () => {} }) : place;
      }),
  };
}
