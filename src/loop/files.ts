import { ok, type Result } from "../base/result.ts";
import { receiveUpload } from "../documents/documents.ts";
import { fileChanged, type NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { shownId } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

type FilesParts = Pick<Parts, "log" | "clock" | "uploads"> & {
  readonly workspaces: Pick<Parts["workspaces"], "ofConversation" | "ofAgent">;
  readonly documents: Pick<Parts["documents"], "notice" | "forget">;
};

/** What people do to the files of a conversation, at any time. Each change has its line in the ledger. */
export function openFiles(
  parts: FilesParts,
): Pick<Engine, "files" | "agentFiles" | "upload" | "removeFile" | "emptyFolder" | "noteChanges"> {
  const { workspaces, documents } = parts;
  return {
    files: (conversation) => workspaces.ofConversation(conversation),

    async agentFiles(conversation, agent) {
      const files = await workspaces.ofAgent(conversation, agent);
      return files.ok ? files : failure("agent_unknown", { name: shownId(agent) });
    },

    async upload(conversation, { folder = "uploads", policy = parts.uploads, server, ...upload }) {
      const workspace = workspaces.ofConversation(conversation);
      const received = await receiveUpload(workspace, { ...upload, folder }, policy);
      if (!received.ok) return received;
      const { uploaded, change } = received.value;
      documents.notice(workspace, uploaded.path);
      const who = { by: "upload", ...(server !== undefined && { server }) } as const;
      const noted = await note(parts, conversation, [fileChanged(change, who)]);
      return noted.ok ? ok(uploaded) : noted;
    },

    async removeFile(conversation, path) {
      const workspace = workspaces.ofConversation(conversation);
      const removed = await workspace.remove(path, { keeps: true });
      if (!removed.ok) return removed;
      documents.forget(workspace, removed.value.path);
      return note(parts, conversation, [fileChanged(removed.value, { by: "person" })]);
    },

    async emptyFolder(conversation, path) {
      const workspace = workspaces.ofConversation(conversation);
      const emptied = await workspace.empty(path);
      if (!emptied.ok) return emptied;
      documents.forget(workspace, path);
      const all = { path, before: undefined, after: undefined, lost: undefined };
      return note(parts, conversation, [fileChanged(all, { by: "person" })]);
    },

    async noteChanges(conversation, changes) {
      const events = changes.map((change) => fileChanged(change, { by: "person", program: true }));
      return events.length === 0 ? ok(undefined) : note(parts, conversation, events);
    },
  };
}

async function note(
  { log, clock }: Pick<Parts, "log" | "clock">,
  { number }: ConversationRow,
  events: readonly NewEvent[],
): Promise<Result<void, Failure>> {
  const stored = await log.append(number, events, { with: { row: { updatedAt: clock.now() } } });
  return stored.ok ? ok(undefined) : stored;
}
