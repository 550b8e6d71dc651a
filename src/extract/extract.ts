import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { Extracted } from "./extracted.ts";
import type { Progress } from "./reading.ts";
import type { Job } from "./threads/job.ts";
import { openPool } from "./threads/pool.ts";
import { type ExtractFailure, resultOf } from "./threads/result-of.ts";

export type { Extracted, Format, Place } from "./extracted.ts";
export type { Progress } from "./reading.ts";
export type { ExtractFailure } from "./threads/result-of.ts";

/** Reads documents in threads that have limits and can be ended: no file harms the process. */
export interface Extractor {
  /** Grows when the same file would give something else: who keeps what was read compares it. */
  readonly version: number;
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

const version = 3;

const timeMs = 60_000;
const timeMsPerMegabyte = 1_000;
const megabyte = 1024 * 1024;

export function openExtractor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): Extractor {
  const pool = openPool({ clock, logger });
  return {
    version,
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
