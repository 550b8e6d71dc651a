import { failed, ok } from "../base/result.ts";
import { type EventOf, fileChanged, type LogEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { FileVersion } from "../protocol/file-view-routes.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** Events read at a time. */
const readMax = 2_000;

type HistoryParts = Pick<Parts, "log" | "clock"> & {
  readonly workspaces: Pick<Parts["workspaces"], "ofConversation">;
  readonly documents: Pick<Parts["documents"], "notice">;
};

/** What became of the files of a conversation, by the ledger's lines, and the way back to an earlier state of one. */
export function openFileHistory(parts: HistoryParts): Pick<Engine, "fileHistory" | "restoreFile"> {
  const { log, workspaces, documents, clock } = parts;
  return {
    async fileHistory(conversation, { path, limit }) {
      const all = await changesOf(parts, conversation);
      const kept = keptHashes(all);
      const versions = all.map((change) => versionOf(change, kept)).reverse();
      if (path !== undefined) return versions.filter((version) => version.path === path).slice(0, limit);
      return [...Map.groupBy(versions, (version) => version.path).values()]
        .flatMap((one) => one.slice(0, 1))
        .slice(0, limit);
    },

    async restoreFile(conversation, { path, seq }) {
      const [event] = await log.read(conversation.number, { after: seq - 1, limit: 1 });
      if (
        event === undefined ||
        !isOwnChange(event) ||
        event.seq !== seq ||
        event.path !== path ||
        event.after === undefined
      )
        return failure("content_not_kept", { path });
      const workspace = workspaces.ofConversation(conversation);
      const restored = await workspace.restore(path, event.after);
      if (!restored.ok && restored.failure.code === "read_failed") return failure("content_not_kept", { path });
      if (!restored.ok) return failed(restored.failure);
      documents.notice(workspace, path);
      const told = fileChanged(restored.value, { by: "person" });
      const stored = await log.append(conversation.number, [told], { with: { row: { updatedAt: clock.now() } } });
      return stored.ok ? ok(restored.value) : stored;
    },
  };
}

type Change = EventOf<"file.changed"> & { readonly turn: number | undefined };

async function changesOf({ log }: Pick<Parts, "log">, { number }: ConversationRow): Promise<Change[]> {
  const changes: Change[] = [];
  let turn: number | undefined;
  for (let after = 0; ; ) {
    const events = await log.read(number, { after, limit: readMax });
    for (const event of events) {
      // Agents that were made for it have turns of their own, which nobody counts.
      if (event.type === "turn.started" && event.agent === undefined) turn = event.turn;
      if (event.type === "turn.finished" && event.agent === undefined) turn = undefined;
      if (isOwnChange(event)) changes.push({ ...event, turn });
    }
    const head = after + readMax;
    after = events.at(-1)?.seq ?? head;
    // A record that cannot be read is left out: fewer events are no sign of the end.
    if (after >= (await log.headOf(number))) return changes;
  }
}

/** Of a file of the conversation's own. */
function isOwnChange(event: LogEvent): event is EventOf<"file.changed"> {
  if (event.type !== "file.changed" || event.workspace !== undefined) return false;
  return event.before !== undefined || event.after !== undefined;
}

/** What was kept when it was replaced; it may have had to make room since. */
function keptHashes(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(
    changes.flatMap(({ before, lost }) => (before?.hash !== undefined && lost === undefined ? [before.hash] : [])),
  );
}

function versionOf(
  { seq, at, path, before, after, by, agent, program, turn }: Change,
  kept: ReadonlySet<string>,
): FileVersion {
  return {
    ...{ seq, at, path, by, turn: turn ?? null },
    change: after === undefined ? "removed" : before === undefined ? "made" : "changed",
    bytes: after?.bytes ?? null,
    ...(agent !== undefined && { agent }),
    ...(program === true && { program }),
    canRestore: after?.hash !== undefined && kept.has(after.hash),
  };
}
