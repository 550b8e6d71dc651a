import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Extracted } from "./extracted.ts";
import type { Progress } from "./reading.ts";
import type { Job } from "./threads/job.ts";
import { openPool } from "./threads/pool.ts";
import type { Outcome } from "./threads/thread.ts";

export type { Block, Extracted, Format, Loss, Place, Receipt } from "./extracted.ts";
export type { Progress } from "./reading.ts";

/** Reads documents in threads that have limits and can be ended: no file harms the process. */
export interface Extractor {
  extract(source: DocumentSource, options: ExtractOptions): Promise<Result<Extracted, ExtractFailure>>;
  /** What is being read ends as stopped. */
  close(): Promise<void>;
}

/** A file by `Workspace.openDescriptor`, to be closed after the answer; or its bytes, which are handed over. */
export type DocumentSource = Job;

export type ExtractOptions = {
  readonly signal: AbortSignal;
  /** Page for page, or whatever parts the format has. */
  readonly onProgress?: (progress: Progress) => void;
};

export type ExtractFailure = Failure<
  | "document_locked"
  | "document_damaged"
  | "document_unknown"
  | "document_too_large"
  | "document_too_slow"
  | "document_too_costly"
  | "document_reader_crashed"
  | "document_stopped"
  | "not_a_file"
>;

/** Grows when the same file would give something else: who keeps what was read compares it. */
export const extractorVersion = 1;

const timeMs = 60_000;
const timeMsPerMegabyte = 1_000;
const megabyte = 1024 * 1024;

export function openExtractor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): Extractor {
  const pool = openPool(clock);
  return {
    async extract(source, { signal, onProgress = () => {} }) {
      const limitMs = timeMs + Math.ceil((source.sizeBytes / megabyte) * timeMsPerMegabyte);
      const outcome = await pool.run(source, { timeMs: limitMs, signal, onProgress });
      if (outcome.kind === "crashed")
        logger.error("document.reader_crashed", { name: source.name, error: outcome.error });
      return resultOf(outcome, source.name, Math.ceil(limitMs / 1_000));
    },
    close: pool.close,
  };
}

function resultOf(outcome: Outcome, name: string, seconds: number): Result<Extracted, ExtractFailure> {
  switch (outcome.kind) {
    case "read":
      return ok(outcome.extracted);
    case "late":
      return failure("document_too_slow", { name, seconds });
    case "memory":
      return failure("document_too_costly", { name });
    case "stopped":
      return failure("document_stopped", { name });
    case "crashed":
      return failure("document_reader_crashed", { name });
    case "unread":
      return unread(outcome.why, name);
  }
}

function unread(found: Extract<Outcome, { kind: "unread" }>["why"], name: string): Result<Extracted, ExtractFailure> {
  switch (found.why) {
    case "password":
    case "rights":
      return failure("document_locked", { name, why: found.why });
    case "damaged":
      return failure("document_damaged", { name, type: found.type });
    case "unknown":
      return failure("document_unknown", { name, type: found.type });
    case "memory":
      return failure("document_too_costly", { name });
    case "no_file":
      return failure("not_a_file", { path: name });
    case "too_large":
      return failure("document_too_large", { name, sizeBytes: found.sizeBytes, limitBytes: found.limitBytes });
  }
}
