import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Documents, TakenUp, Unsearched } from "../documents/documents.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import { patiently } from "./patiently.ts";

type Parts = {
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly workspaces: Pick<Workspaces, "lookInto">;
  readonly documents: Pick<Documents, "takeUp" | "isAsFound">;
};

/** One search looks at so many files; those of the conversations that were used last come first. */
const filesMax = 5_000;
/** Files that are named because they could not be searched. */
const unsearchedMax = 20;

type Taken = {
  /** What is to be said of those that are not in the index now. */
  readonly unsearched: readonly (Unsearched & { readonly conversation: string })[];
  readonly isPartial: boolean;
};

/** Brings the files of conversations into the index. Looking at them is no use of them: what nobody uses is cleaned up. */
export function openFileTaking({ workspaces, documents, clock, closing }: Parts) {
  const walking = new Set<Promise<unknown>>();

  const walk = async (rows: readonly ConversationRow[], taken: Map<ConversationRow, TakenUp>): Promise<boolean> => {
    let left = filesMax;
    for (const row of rows) {
      if (closing.aborted || left <= 0) return false;
      const workspace = await workspaces.lookInto(row);
      if (workspace === undefined) continue;
      const files = await documents.takeUp(workspace, { filesMax: left, signal: closing });
      if (!files.ok) continue;
      taken.set(row, files.value);
      left -= files.value.files.length;
      if (!files.value.isAll) return false;
    }
    return true;
  };

  return {
    async takeUp(rows: readonly ConversationRow[], signal: AbortSignal): Promise<Taken> {
      const taken = new Map<ConversationRow, TakenUp>();
      let isAll = false;
      const work = walk(rows, taken).then(async (isWhole) => {
        isAll = isWhole;
        await Promise.all([...taken.values()].flatMap(({ files }) => files.map(({ ended }) => ended)));
      });
      walking.add(work);
      void whenOver(work).then(() => walking.delete(work));
      await patiently(work, { clock, signal });
      return { isPartial: !isAll, unsearched: unsearchedIn(taken).take(unsearchedMax).toArray() };
    },
    async isAsFound(conversation: ConversationRow, path: string, hit: string): Promise<boolean> {
      const workspace = await workspaces.lookInto(conversation);
      return workspace !== undefined && documents.isAsFound(workspace, path, hit);
    },
    settled: () => Promise.all(Array.from(walking, whenOver)),
  };
}

function* unsearchedIn(taken: ReadonlyMap<ConversationRow, TakenUp>) {
  for (const [{ id: conversation }, { files }] of taken)
    for (const { path, now } of files) {
      const { state, done, of, failure } = now();
      if (state !== "indexed") yield { conversation, path, state, done, of, failure };
    }
}
