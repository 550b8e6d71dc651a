import type { Result } from "../base/result.ts";
import type { Extracted, ExtractFailure, ExtractOptions, Place } from "../extract/extract.ts";
import type { Receipt } from "../extract/extracted.ts";
import type { Failure } from "../protocol/failure.ts";
import type { FileView } from "../protocol/file-view-routes.ts";
import type { Found } from "../search/search.ts";
import type { FileFailure, FileStat, Workspace } from "../workspace/workspace.ts";
import type { FileType } from "./file-type.ts";
import type { Indexing, Wanted } from "./library.ts";

export { decodeText } from "../extract/decode.ts";
export type { Extracted, Format, Place } from "../extract/extract.ts";
export type { UploadPolicy } from "../protocol/upload-policy.ts";
export { fileTypeOf, typeOfName } from "./file-type.ts";
export { attachedText, describeAttached } from "./files-in-message.ts";
export { imageBytesMax, isImage, isWholeImage } from "./image.ts";
export { isCode } from "./is-code.ts";
export { fileKind, type Indexing } from "./library.ts";
export { openDocuments } from "./open-documents.ts";
export { receiveUpload } from "./upload.ts";
export { readUploadedZip } from "./uploaded-zip.ts";

/** What is in files: their type, their text, and where something stands in them. */
export interface Documents {
  /**
   * Looks through all below a path (a file or a folder): text is scanned, in a thread that can be stopped; documents are
   * found by their index, which is waited for up to a limit.
   */
  search(
    workspace: Workspace,
    query: SearchQuery,
  ): Promise<Result<SearchResult, FileFailure | Failure<"pattern_invalid">>>;
  /** What a document says, read anew each time, in a thread that can be stopped. */
  extract(
    workspace: Workspace,
    path: string,
    options: ExtractOptions,
  ): Promise<Result<Extracted, FileFailure | ExtractFailure>>;
  /** What a file is, how far its indexing is, and what became of it: that is waited for up to `waitMs`. */
  describe(workspace: Workspace, path: string, options: DescribeOptions): Promise<Result<FileDetails, FileFailure>>;
  /**
   * Takes up all files below a workspace that can be found by their words, texts as well, but for those of `temp/` and of
   * skills. How far each is, is known from then on.
   */
  takeUp(workspace: Workspace, options: TakeUpOptions): Promise<Result<TakenUp, FileFailure>>;
  /** Whether a file is still what a hit of the index was found in; waits for a moment where that is not known yet. */
  isAsFound(workspace: Workspace, path: string, hit: string): Promise<boolean>;
  /** What a file is, by content, then by name. */
  typeOf(workspace: Workspace, path: string): Promise<Result<FileType & { readonly stat: FileStat }, FileFailure>>;
  /** A page of what is in a file, for people. */
  view(workspace: Workspace, path: string, wanted: ViewWanted): Promise<Result<FileView, FileFailure | ExtractFailure>>;
  /** A file has come in: where it is a document it is indexed soon, so that nobody waits for it later. */
  notice(workspace: Workspace, path: string): void;
  /** Removes from the index what nobody points at and what nobody used for 30 days; it is made again when it is wanted. */
  tidy(): Promise<void>;
  /** A file, or a folder with all in it, is gone for good. */
  forget(workspace: Workspace, path: string): void;
  close(): Promise<void>;
}

export type ViewWanted = {
  /** Undefined: the first one. */
  readonly sheet: string | undefined;
  readonly from: number;
  readonly limit: number;
  /** As lines, also where it could be shown as a table. */
  readonly plain: boolean;
};

export type DescribeOptions = { readonly waitMs: number; readonly signal: AbortSignal };

export type TakeUpOptions = { readonly filesMax: number; readonly signal: AbortSignal };

export type TakenUp = {
  readonly files: readonly (Pick<Wanted, "now" | "ended"> & { readonly path: string })[];
  /** There were no more than were wanted. */
  readonly isAll: boolean;
};

export type FileDetails = {
  readonly stat: FileStat;
  /** By content, then by name. */
  readonly type: string;
  /** Undefined of what is no document: texts are scanned. */
  readonly indexing: Pick<Indexing, "state" | "done" | "of"> | undefined;
  /** Of a document or a text; undefined while it is not known. */
  readonly receipt: Receipt | undefined;
  /** Why it cannot be read. */
  readonly failure: Failure | undefined;
};

export type SearchQuery = {
  readonly path: string;
  readonly query: string;
  readonly isRegex: boolean;
  readonly hitsMax: number;
  /** Characters shown on either side of a match. */
  readonly contextCharacters: number;
  readonly signal: AbortSignal;
};

export type SearchHit = LineHit | PassageHit;

/** In a text. */
export type LineHit = {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** Where in the line the match begins, from 1 on, in UTF-16 units; only in lines of more than 2,000. */
  readonly column?: number;
  /** The line with one line either side, `**` around the match, `...` where something is left out. */
  readonly text: string;
};

/** In a document. */
export type PassageHit = {
  readonly path: string;
  /** The same for the same content. */
  readonly id: string;
  /** Where the passage begins and ends. */
  readonly from: Place;
  readonly to: Place;
  readonly headings: readonly string[];
  /** The larger, the better, within one answer; what a pattern finds has none. */
  readonly score?: number;
  readonly text: string;
};

/** A document that was not looked at: it is not ready yet, or cannot be read. */
export type Unsearched = Indexing & { readonly path: string };

export type SearchResult = {
  /** Lines by path, line and place in the line; then passages, the best first, those of a pattern in their order. */
  readonly hits: readonly SearchHit[];
  /**
   * Places in all, `hits` included; at least that many where the search was stopped. A line that matches is one place, and
   * one more for each further match that lies outside of what was shown before it; a passage with a word of the query is one.
   */
  readonly total: number;
  readonly filesSearched: number;
  /** Binary files and those that cannot be read. */
  readonly filesSkipped: number;
  /** The scan did not look at everything, and why. */
  readonly stopped: "time" | "hits" | "size" | undefined;
  readonly unsearched: readonly Unsearched[];
  /** Words that no document has, and those that were taken for others. */
  readonly missing: Found["missing"];
  readonly repaired: Found["repaired"];
};
