import type { Result } from "../base/result.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { FileChange } from "../workspace/workspace.ts";
import type {
  Language,
  OutputPlace,
  ProgramFailure,
  ProgramOutput,
  ProgramPlace,
  ProgramReport,
  ProgramWanted,
} from "./sandbox.ts";
import type { SessionFailure } from "./session.ts";

/** Executions that are asked for over HTTP: each has a row that tells what became of it, whatever happens. */
export interface Executions {
  /** Stored first, then run; answered at once. */
  submit(
    place: ProgramPlace,
    wanted: ExecutionWanted,
  ): Promise<Result<ExecutionRecord, ProgramFailure | SessionFailure>>;
  find(owner: OwnerId, id: string): Promise<ExecutionRecord | undefined>;
  /** Newest first, long texts and lists shortened; `total` counts all of them. */
  list(
    owner: OwnerId,
    page: { limit: number; offset: number },
  ): Promise<{ readonly items: readonly ExecutionRecord[]; readonly total: number }>;
  /** Resolves with the record when it is over; undefined when `signal` fired before. */
  wait(owner: OwnerId, id: string, signal: AbortSignal): Promise<ExecutionRecord | undefined>;
  /** What it says from there (its beginning) on, then live; undefined when it is not known or its output is gone. */
  follow(owner: OwnerId, id: string, after?: OutputPlace): AsyncIterable<ProgramOutput> | undefined;
  /** False: it was over already, or never was. */
  cancel(owner: OwnerId, id: string): Promise<boolean>;
  /** Resolves when none waits or runs and nobody follows one. */
  quiet(): Promise<void>;
}

export type ExecutionWanted = Omit<ProgramWanted, "signal"> & {
  /** The conversation's id as the caller knows it, for the record. */
  readonly conversationId: string | undefined;
  /** Whoever submits it waits for its end and learns its id only then, or when it has run for a while. */
  readonly isWaitedFor?: boolean | undefined;
  /** Told all that it did to files, for the ledger, before its end is written down; the record holds a part of it. */
  readonly onChanges?: ((changes: readonly FileChange[]) => Promise<void>) | undefined;
};

/** One state machine: pending, running, then exactly one of the others, for ever. */
export type ExecutionRecord = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly session: string;
  readonly conversationId: string | undefined;
  readonly status: "pending" | "running" | "completed" | "failed" | "timeout" | "crashed" | "cancelled";
  readonly language: Language;
  /** The program; of a long one, its beginning and its end. */
  readonly code: string;
  readonly codeCutBytes: number;
  readonly timeoutMs: number;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Why there was no program: there was no room for one, or no way to start it. */
  readonly failure: ProgramFailure | undefined;
  /** The server ended while it waited or ran. */
  readonly wasCutOff: boolean;
  /** What it has said so far, while it runs. */
  readonly soFar?: Pick<ProgramReport, "stdout" | "stderr"> | undefined;
  readonly report: ProgramReport | undefined;
  readonly artifacts: readonly Artifact[];
};

/** A file that an execution made or changed. */
export type Artifact = {
  readonly path: string;
  readonly bytes: number;
  readonly hash: string | undefined;
  readonly type: string;
  readonly modifiedAt: number;
};
