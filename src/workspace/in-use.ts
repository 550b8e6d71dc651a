import type { WorkspaceRow } from "../storage/storage.ts";
import type { Workspace } from "./one-workspace.ts";

/** Which workspace: the conversation's own, or a task's of it. */
export type WorkspaceKey = Pick<WorkspaceRow, "number" | "kind" | "id">;

/** Who is writing right now. A write holds its folder open: moved away under it, what it writes would go along. */
export type InUse = {
  has(key: WorkspaceKey): boolean;
  /** The same files, whose changes are counted while they run. */
  watch(key: WorkspaceKey, files: Workspace): Workspace;
};

export function openInUse(): InUse {
  const writing = new Map<string, number>();

  async function during<T>(name: string, work: () => Promise<T>): Promise<T> {
    writing.set(name, (writing.get(name) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const others = (writing.get(name) ?? 1) - 1;
      if (others === 0) writing.delete(name);
      else writing.set(name, others);
    }
  }

  return {
    has: (key) => writing.has(nameOf(key)),
    watch(key, files) {
      const name = nameOf(key);
      return {
        ...files,
        write: (...given) => during(name, () => files.write(...given)),
        remove: (...given) => during(name, () => files.remove(...given)),
        empty: (...given) => during(name, () => files.empty(...given)),
        restore: (...given) => during(name, () => files.restore(...given)),
        guestFolder: () => during(name, () => files.guestFolder()),
      };
    },
  };
}

export function nameOf({ number, kind, id }: WorkspaceKey): string {
  return kind === "conversation" ? `${number}` : `${number}@${id}`;
}
