import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { failed } from "../base/result.ts";
import { FileState } from "../protocol/events.ts";
import { type Failure, storedFailure } from "../protocol/failure.ts";
import { programFailures, storageFailures } from "../protocol/program-failures.ts";
import type { ExecutionRow, ListedExecution, SessionRow, StorageFailure } from "../storage/storage.ts";
import { fitsGuest } from "./provider.ts";
import type { ExecutionRecord, ProgramReport } from "./sandbox.ts";
import { listedExecution } from "./shortened.ts";

const text = z.string();
const count = z.number();

const manager = z.enum(["pip", "npm"]);
const AskedPackages = z.array(z.object({ manager, name: text, version: text.optional() })).readonly();
const Packages = z.object({
  status: z.enum(["installing", "completed", "failed"]),
  requested: AskedPackages,
  current: AskedPackages,
  installed: z.array(z.object({ manager, name: text, version: text })).readonly(),
  error: text.optional(),
  startedAt: count,
  endedAt: count.optional(),
});

const SessionBody = z.object({
  status: z.enum(["running", "stopped"]),
  dialect: z.enum(["seed", "public"]),
  createdAt: count,
  updatedAt: count,
  endedAt: count.optional(),
  generation: count,
  agentId: text.optional(),
  businessDomain: text.optional(),
  templateId: text.optional(),
  uploads: z.object({ fileBytesMax: count, filesMax: count, types: z.array(text).readonly() }).partial(),
  limits: z
    .object({
      memoryBytes: count,
      processesMax: count,
      cpus: count,
      fileBytesMax: count,
      tmpBytesMax: count,
      outputBytesMax: count,
    })
    .partial(),
  env: z.record(text, text).refine(fitsGuest),
  executionTimeoutMs: count.optional(),
  packages: Packages.optional(),
});

/** A session as it is kept: what its user asked for. What counts is that within the configuration of the day. */
export type KeptSession = Pick<SessionRow, "owner" | "id" | "usedAt"> & Readonly<z.infer<typeof SessionBody>>;

export function sessionRow({ owner, id, usedAt, ...body }: KeptSession): SessionRow {
  return { owner, id, usedAt, body: JSON.stringify(body) };
}

/** Undefined for a row that cannot be read: its user gets a new session. */
export function sessionOf({ body, ...row }: SessionRow): KeptSession | undefined {
  const parsed = SessionBody.safeParse(parsedJson(body));
  return parsed.success ? { ...row, ...parsed.data } : undefined;
}

const Shown = z.object({ text, cutBytes: count, path: text.optional(), keptBytes: count.optional() });

const Report = z.object({
  how: z.enum(["done", "timeout", "cancelled", "killed", "out_of_memory", "disk_full", "lost"]),
  exitCode: count.optional(),
  signal: text.optional(),
  stdout: Shown,
  stderr: Shown,
  value: text.optional(),
  returned: text.optional(),
  figures: z.array(text),
  changes: z.array(
    z.object({
      path: text,
      before: FileState.optional(),
      after: FileState.optional(),
      lost: z.enum(["too_large", "quota", "unreadable"]).optional(),
    }),
  ),
  isOverLimit: z.literal(true).optional(),
  isPythonNew: z.literal(true).optional(),
  isPythonLost: z.literal(true).optional(),
  hadCompany: z.literal(true).optional(),
  startedAt: count,
  endedAt: count,
  metrics: z.object({ durationMs: count, cpuMs: count, memoryPeakBytes: count, readBytes: count, writtenBytes: count }),
});

const ExecutionBody = z.object({
  session: text,
  conversationId: text.optional(),
  status: z.enum(["pending", "running", "completed", "failed", "timeout", "crashed", "cancelled"]),
  language: z.enum(["python", "bash", "javascript"]),
  code: text,
  codeCutBytes: count,
  timeoutMs: count,
  startedAt: count.optional(),
  failure: z
    .object({ code: z.enum([...programFailures, ...storageFailures]), params: z.record(text, z.unknown()) })
    .optional(),
  wasCutOff: z.boolean(),
  report: Report.optional(),
  artifacts: z.array(z.object({ path: text, bytes: count, hash: text.optional(), type: text, modifiedAt: count })),
});

export function executionRow(record: ExecutionRecord): ExecutionRow {
  const { id, owner, createdAt, endedAt } = record;
  const [body, full] = [bodyOf(listedExecution(record)), bodyOf(record)];
  return { id, owner, createdAt, endedAt, body, full: full === body ? undefined : full };
}

function bodyOf({ id: _, owner: _owner, createdAt: _createdAt, endedAt: _endedAt, ...body }: ExecutionRecord): string {
  return JSON.stringify(body);
}

/** Undefined for a row that cannot be read. */
export function executionOf({
  body,
  full,
  ...row
}: ListedExecution & { readonly full?: string | undefined }): ExecutionRecord | undefined {
  const parsed = ExecutionBody.safeParse(parsedJson(full ?? body));
  if (!parsed.success) return undefined;
  const { conversationId, startedAt, failure, report, artifacts, ...rest } = parsed.data;
  const why = failure && storedFailure(failure.code, failure.params);
  const optional = { conversationId, startedAt, failure: why, report: report && withUnset(report) };
  return {
    ...row,
    ...rest,
    ...optional,
    artifacts: artifacts.map((artifact) => ({ ...artifact, hash: artifact.hash })),
  };
}

/** JSON leaves out what is undefined; a record has every field, so that two of them can be compared. */
function withUnset({ exitCode, signal, value, returned, ...report }: z.infer<typeof Report>): ProgramReport {
  const shown = (said: z.infer<typeof Shown>) => ({ ...said, path: said.path });
  return {
    ...{ ...report, exitCode, signal, value, returned },
    stdout: shown(report.stdout),
    stderr: shown(report.stderr),
    changes: report.changes.map(({ path, before, after, lost }) => ({ path, before, after, lost })),
  };
}

export type RowFailure = Failure<
  "storage_busy" | "storage_full" | "storage_broken" | "storage_read_only" | "database_away"
>;

/** The log's own failures never come from rows like these. */
export function rowFailure(fault: StorageFailure): { readonly ok: false; readonly failure: RowFailure } {
  switch (fault.code) {
    case "storage_busy":
    case "storage_full":
    case "storage_read_only":
    case "storage_broken":
    case "database_away":
      return failed(fault);
    default:
      throw new Error(`rows of the sandbox were answered with ${fault.code}`);
  }
}
