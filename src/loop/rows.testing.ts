import { ConversationId, localOwner } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";

/** A conversation as the list has it. */
export function conversationRow(id: string, number = 1): ConversationRow {
  return {
    ...{ number, owner: localOwner, id: ConversationId.parse(id), title: "", lastMessage: "", turns: 1 },
    ...{ origin: "person", isPassing: false, agentId: undefined, appKey: undefined, readIndex: 0 },
    ...{ isPinned: false, seenAt: undefined, createdAt: 0, updatedAt: 0, deletedAt: undefined, cursor: "" },
  };
}
