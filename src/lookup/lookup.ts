import type { Result } from "../base/result.ts";
import type { Unsearched } from "../documents/documents.ts";
import type { Place } from "../extract/extract.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { EntryHit, Found, MeaningState, QueryFailure, SearchFailure } from "../search/search.ts";
import type { ConversationRow } from "../storage/storage.ts";

export { openLookup } from "./open-lookup.ts";
export { type Said, saidIn } from "./said.ts";

/**
 * One search over everything of a user: what was said in all conversations, and the files of all of them, texts too. It
 * decides by the logs and files as they are now: what is new is brought into the index first.
 */
export interface Lookup {
  find(owner: OwnerId, wanted: LookupQuery): Promise<Result<LookedUp, SearchFailure | QueryFailure>>;
  /** What was said, and what tools found, with all words as they are written; newest first. Not in `except`. */
  said(owner: OwnerId, wanted: SaidQuery): Promise<Result<FoundSaid, SearchFailure>>;
  /** A conversation was deleted: what was said in it leaves the index. */
  forget(conversation: ConversationRow): void;
  close(): Promise<void>;
}

export type LookupQuery = {
  readonly query: string;
  readonly in: "files" | "messages" | "all";
  /** Only there. */
  readonly conversation?: ConversationRow | undefined;
  readonly hitsMax: number;
  readonly signal: AbortSignal;
};

export type LookedUp = Pick<Found, "total" | "missing" | "repaired"> & {
  /** The best first. */
  readonly hits: readonly LookupHit[];
  /** Conversations whose messages are not all in the index yet. */
  readonly conversationsBehind: number;
  /** Files that could not be searched, or not yet; the first ones. */
  readonly unsearched: readonly (Unsearched & { readonly conversation: string })[];
  /** More files than one search looks at: those of the conversations that were used last were taken. */
  readonly isPartial: boolean;
  /** How far the ranking by meaning is; undefined where words alone decide. */
  readonly meaning: MeaningState | undefined;
};

export type LookupHit = {
  readonly conversation: ConversationRow;
  /** With `**` around what was found and `...` where it is cut. */
  readonly snippet: string;
  /** The larger, the better, within one answer, files and messages alike. */
  readonly score: number;
} & (
  | { readonly kind: "message"; readonly seq: number; readonly at: number; readonly who: "user" | "agent" }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly from: Place;
      readonly to: Place;
      readonly headings: readonly string[];
    }
);

export type SaidQuery = {
  readonly words: readonly string[];
  readonly except: ConversationRow;
  readonly hitsMax: number;
  readonly signal: AbortSignal;
};

export type FoundSaid = {
  readonly hits: readonly (Pick<EntryHit, "at" | "text"> & {
    readonly conversation: ConversationRow;
    readonly who: "user" | "agent" | { readonly tool: string };
  })[];
  readonly total: number;
  /** That were looked through, the one that is left out not among them. */
  readonly conversations: number;
  /** Not everything was looked at. */
  readonly isStopped: boolean;
};
