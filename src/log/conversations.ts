import { ok, type Result } from "../base/result.ts";
import type { NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { ConversationId, type OwnerId, shownId } from "../protocol/ids.ts";
import type { ConversationRow, EncodedEvent, NewConversation } from "../storage/storage.ts";
import type { LogOptions } from "./log.ts";

/** Whose conversations there are. Every look-up takes the owner: another's conversation does not exist. */
export interface Conversations {
  createConversation(owner: OwnerId, options: NewConversationOptions): Promise<Result<ConversationRow, Failure>>;
  find(owner: OwnerId, id: string): Promise<Result<ConversationRow, Failure<"conversation_not_found">>>;
  /** By the beginning of an id; several candidates are a failure that names them. */
  findByPrefix(
    owner: OwnerId,
    prefix: string,
  ): Promise<Result<ConversationRow, Failure<"conversation_not_found" | "conversation_ambiguous">>>;
  list(
    owner: OwnerId,
    page: { limit: number; before?: string | undefined; isPinned?: boolean | undefined },
  ): Promise<ConversationRow[]>;
  rename(conversation: ConversationRow, title: string): Promise<Result<ConversationRow, Failure>>;
  /** What its owner marks; that is no change of the conversation. */
  mark(conversation: ConversationRow, marks: Marks): Promise<Result<ConversationRow, Failure>>;
  /** Notes how far a person has read; that is no change of the conversation. */
  markRead(conversation: ConversationRow, index: number): Promise<Result<void, Failure>>;
}

export type Marks = { readonly isPinned?: boolean | undefined; readonly seenAt?: number | undefined };

export type NewConversationOptions = Pick<NewConversation, "title" | "origin" | "isPassing" | "agentId" | "appKey"> & {
  readonly id?: string | undefined;
  readonly events?: readonly NewEvent[];
  /** The number of the conversation whose blobs the events name: they are copied. */
  readonly blobsOf?: number;
};

const candidatesMax = 10;
type Encode = (event: NewEvent, now: number) => EncodedEvent;

export function openConversations({ storage, clock, ids, onAppended }: LogOptions, encoded: Encode): Conversations {
  return {
    async createConversation(owner, { id = ids.uuid(), events = [], ...wanted }) {
      const checked = ConversationId.safeParse(id);
      if (!checked.success) {
        const shown = JSON.stringify(shownId(id));
        return failure("bad_request", {
          what: `the id ${shown} is not made of letters, digits and . _ - (64 at the most)`,
        });
      }
      const at = clock.now();
      const encodedEvents = events.map((event) => encoded(event, at));
      const created = await storage.createConversation({
        ...{ ...wanted, owner, id: checked.data, at },
        events: encodedEvents,
      });
      // What a branch brings along happened in another conversation, and was told then.
      const chosen = events.filter(({ type }) => type === "agent.chosen");
      if (created.ok && chosen.length > 0) onAppended?.(created.value.number, chosen, at);
      return created;
    },

    async find(owner, id) {
      const checked = ConversationId.safeParse(id);
      const row = checked.success ? await storage.findConversation(owner, checked.data) : undefined;
      if (row === undefined || row.deletedAt !== undefined) {
        return failure("conversation_not_found", { id: shownId(id) });
      }
      return ok(row);
    },

    async findByPrefix(owner, prefix) {
      const exact = await this.find(owner, prefix);
      if (exact.ok || prefix === "") return exact;
      const rows = await storage.findByPrefix(owner, prefix, candidatesMax);
      const [first, ...others] = rows;
      if (first === undefined) return exact;
      if (others.length === 0) return ok(first);
      return failure("conversation_ambiguous", { prefix, candidates: rows.map((row) => row.id).join(", ") });
    },

    list: (owner, page) => storage.listConversations(owner, page),

    async rename(conversation, title) {
      const updatedAt = clock.now();
      const events = [encoded({ type: "conversation.renamed", title }, updatedAt)];
      // Their own title is nothing new to whoever had looked at all the rest.
      const isSeen = (conversation.seenAt ?? 0) >= conversation.updatedAt;
      const row = { title, updatedAt, ...(isSeen && { seenAt: updatedAt }) };
      const stored = await storage.append({ number: conversation.number, events, with: { row } });
      return stored.ok ? ok({ ...conversation, ...row }) : stored;
    },

    async mark({ owner, id, number }, { isPinned, seenAt }) {
      // Nobody has looked at what is still to come.
      const seen = seenAt === undefined ? {} : { seenAt: Math.min(seenAt, clock.now()) };
      const row = { ...(isPinned === undefined ? {} : { isPinned }), ...seen };
      const stored = await storage.append({ number, events: [], with: { row } });
      return stored.ok ? this.find(owner, id) : stored;
    },

    async markRead({ number }, readIndex) {
      const stored = await storage.append({ number, events: [], with: { row: { readIndex } } });
      return stored.ok ? ok(undefined) : stored;
    },
  };
}
