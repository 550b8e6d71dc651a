import { ok, type Result } from "../base/result.ts";
import { receiveUpload } from "../documents/documents.ts";
import { fileChanged, type NewEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** What people do to the files of a conversation, at any time. Each change has its line in the ledger. */
export function openFiles(parts: Parts): Pick<Engine, "files" | "upload" | "removeFile"> {
  const { workspaces } = parts;
  return {
    files: (conversation) => workspaces.ofConversation(conversation),

    async upload(conversation, upload) {
      const workspace = workspaces.ofConversation(conversation);
      const received = await receiveUpload(workspace, { ...upload, folder: "uploads" }, parts.uploads);
      if (!received.ok) return received;
      const { uploaded, change } = received.value;
      const noted = await note(parts, conversation, fileChanged(change, { by: "upload" }));
      return noted.ok ? ok(uploaded) : noted;
    },

    async removeFile(conversation, path) {
      const removed = await workspaces.ofConversation(conversation).remove(path);
      return removed.ok ? note(parts, conversation, fileChanged(removed.value, { by: "person" })) : removed;
    },
  };
}

async function note(
  { log, clock }: Parts,
  { number }: ConversationRow,
  event: NewEvent,
): Promise<Result<void, Failure>> {
  const stored = await log.append(number, [event], { with: { row: { updatedAt: clock.now() } } });
  return stored.ok ? ok(undefined) : stored;
}
