import type { Result } from "../base/result.ts";
import type { Extracted, ExtractFailure, ExtractOptions } from "../extract/extract.ts";
import type { Failure } from "../protocol/failure.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";

export { decodeText } from "../extract/decode.ts";
export type { Extracted, Format, Place } from "../extract/extract.ts";
export type { UploadPolicy } from "../protocol/upload-policy.ts";
export { fileTypeOf, typeOfName } from "./file-type.ts";
export { attachedText, describeAttached } from "./files-in-message.ts";
export { imageBytesMax, isImage, isWholeImage } from "./image.ts";
export { isCode } from "./is-code.ts";
export { openDocuments } from "./open-documents.ts";
export { receiveUpload } from "./upload.ts";

/** What is in files: their type, their text, and where something stands in them. */
export interface Documents {
  /** Scans text files below a path (a file or a folder) in a thread that can be stopped. */
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
  close(): Promise<void>;
}

export type SearchQuery = {
  readonly path: string;
  readonly query: string;
  readonly isRegex: boolean;
  readonly hitsMax: number;
  /** Characters shown on either side of a match. */
  readonly contextCharacters: number;
  readonly signal: AbortSignal;
};

export type SearchHit = {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** Where in the line the match begins, from 1 on, in UTF-16 units; only in lines of more than 2,000. */
  readonly column?: number;
  /** The line with one line either side, `**` around the match, `...` where something is left out. */
  readonly text: string;
};

export type SearchResult = {
  /** Ordered by path, then by line, then by place in the line. */
  readonly hits: readonly SearchHit[];
  /**
   * Places in all, `hits` included; at least that many where the scan was stopped. A line that matches is one place, and
   * one more for each further match that lies outside of what was shown before it.
   */
  readonly total: number;
  readonly filesSearched: number;
  /** Binary files and those that cannot be read. */
  readonly filesSkipped: number;
  /** The scan did not look at everything, and why. */
  readonly stopped: "time" | "hits" | "size" | undefined;
};
