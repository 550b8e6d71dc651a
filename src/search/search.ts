import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import type { Extracted } from "../extract/extracted.ts";
import type { Failure } from "../protocol/failure.ts";
import type { Found, PlainHit } from "./find.ts";
import type { Having, HavingQuery } from "./having.ts";
import type { MeaningOptions, MeaningState } from "./meaning.ts";
import type { Stopped } from "./scan.ts";
import type { Scope } from "./sqlite/bounds.ts";
import type { Pointer } from "./sqlite/pointers.ts";
import type { Followed, Gap, NewEntries, Series } from "./sqlite/series.ts";
import type { Segmentation } from "./text/segment.ts";

export type { Found, Hit, PlainHit } from "./find.ts";
export type { EntryHit, Having } from "./having.ts";
export type { MeaningState } from "./meaning.ts";
export { findSegmenter, openSearch } from "./open-search.ts";
export { patternIn } from "./pattern.ts";
export type { Stopped } from "./scan.ts";
export type { Scope } from "./sqlite/bounds.ts";
export type { Pointer } from "./sqlite/pointers.ts";
export type { Followed, Series, SeriesEntry } from "./sqlite/series.ts";
export { openPassageMaker } from "./text/passages.ts";
export { type Features, totalOf, type Weights, weights } from "./text/rank.ts";
export type { Segmentation } from "./text/segment.ts";

/**
 * What documents say, found by words and patterns. The index is a cache beside the data: losing it costs only time. A
 * document is known by a key (the hash of its bytes and the version of what read it) and is in the index once, however many
 * owners have it under however many names; each owner finds only what is theirs.
 */
export interface Search {
  /** Whether there is an index: nobody opens one only to take something out of it. */
  isMade(): boolean;
  /** Whether a hit was found in the content with this key. */
  isOfKey(hit: string, key: string): boolean;
  /** Whether the document need not be read again: `point` is enough. */
  isIndexed(key: string): Promise<Result<boolean, SearchFailure>>;
  /** What was to be kept with a document. */
  noteOf(key: string): Promise<Result<string | undefined, SearchFailure>>;
  /** Indexes a document and makes it its owner's; what they had there before is found until this is through. */
  put(
    pointer: Pointer,
    key: string,
    extracted: Pick<Extracted, "blocks">,
    options?: PutOptions,
  ): Promise<Result<Indexed, SearchFailure>>;
  /** Makes a document that is in the index its owner's; false where it is not there any more. */
  point(pointer: Pointer, key: string): Promise<Result<boolean, SearchFailure>>;
  /** Takes a document from its owner; the last one takes it with them. Answers how many there were. */
  drop(pointer: Pointer): Promise<Result<number, SearchFailure>>;
  /** The same for all places that begin so. */
  dropBelow(pointer: Pointer): Promise<Result<number, SearchFailure>>;
  /** Adds what was said to a series, with the mark how far it was followed: all of it, or nothing. */
  follow(series: Series, more: NewEntries): Promise<Result<undefined, SearchFailure>>;
  /** How far each series of an owner was followed. Those that nobody asks for for 30 days are removed. */
  followed(owner: string): Promise<Result<readonly Followed[], SearchFailure>>;
  /** Takes some entries out: they no longer count. */
  cutGap(series: Series, gap: Gap): Promise<Result<undefined, SearchFailure>>;
  /** Takes a series out as a whole. */
  unfollow(series: Series): Promise<Result<undefined, SearchFailure>>;
  /** Entries with all words as they are written, newest first. */
  having(query: HavingQuery): Promise<Result<Having, SearchFailure>>;
  /** By words, the best first. */
  find(
    query: string,
    scope: Scope,
    limits?: Partial<FindOptions>,
  ): Promise<Result<Found, SearchFailure | QueryFailure>>;
  /** By a regular expression, in the order of the documents; guarded against patterns that never end. */
  match(
    pattern: string,
    scope: Scope,
    limits?: Partial<FindOptions>,
  ): Promise<Result<Matched, SearchFailure | QueryFailure>>;
  /** How far the second ranking is with what is an owner's; undefined where there is none. */
  meaning(owner: string): Promise<Result<MeaningState | undefined, SearchFailure>>;
  /** Removes what nobody points at and what nobody used for 30 days. Answers how many documents. */
  sweep(): Promise<Result<number, SearchFailure>>;
  close(): Promise<void>;
}

export type SearchFailure = Failure<"index_unavailable">;
export type QueryFailure = Failure<"pattern_invalid">;

export type PutOptions = {
  /** Kept with the document, for whoever asks by its key. */
  readonly note?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The share that is done, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
};

export type Indexed = { readonly passages: number };

export type FindOptions = {
  readonly hitsMax: number;
  readonly snippetCharacters: number;
  readonly signal: AbortSignal;
};

export type Matched = {
  readonly hits: readonly PlainHit[];
  /** Not everything was looked through, and why: `time` is also said of a pattern that got lost. */
  readonly stopped: Stopped;
};

export type SearchOptions = {
  /** In the data directory. Made where it is not there. */
  readonly file: string;
  readonly clock: Clock;
  readonly segmentation?: Segmentation | undefined;
  /** Adds a second ranking, by what passages mean. */
  readonly meaning?: MeaningOptions | undefined;
};
