import { unreachable } from "../base/assert.ts";
import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok } from "../base/result.ts";
import type { Homes } from "../homes/homes.ts";
import type { Logger } from "../observe/observe.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ListedExecution, Storage } from "../storage/storage.ts";
import { artifactsMax, artifactsOf } from "./artifacts.ts";
import type { LiveOutput } from "./live-output.ts";
import type { Prepared, Programs } from "./prepare-program.ts";
import type {
  ExecutionRecord,
  Executions,
  ExecutionWanted,
  ProgramPlace,
  ProgramReport,
  SandboxSettings,
} from "./sandbox.ts";
import { keptCode, listedExecution } from "./shortened.ts";
import { executionOf, executionRow, rowFailure } from "./to-rows.ts";

/** The executions, and what only the sandbox itself may do with them. */
export interface OwnExecutions extends Executions {
  /** Resolves when all of this user that are over are written down. */
  settled(owner?: OwnerId): Promise<void>;
  /** Their rows are gone: nothing is known of them any more. */
  forget(owner: OwnerId): void;
  /** From now on one that nobody cancelled and that is stopped was cut off. */
  closing(): void;
  close(): void;
}

export type ExecutionsOptions = {
  readonly storage: Storage;
  readonly homes: Homes;
  readonly programs: Programs;
  readonly settings: Pick<SandboxSettings, "recordsMs">;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Known = {
  record: ExecutionRecord;
  readonly place: ProgramPlace;
  readonly live: LiveOutput;
  readonly controller: AbortController;
  readonly onChanges: ExecutionWanted["onChanges"];
  readonly shownBytesMax: number | undefined;
  /** Resolves when its end is written down. */
  readonly over: Promise<void>;
};

type State = ExecutionsOptions & {
  /** Those of this process that wait or run, and the last ones that are over. */
  readonly known: Map<string, Known>;
  readonly recovered: Promise<void>;
  /** By user: how many ended since their old records were last looked through. */
  readonly ended: Map<OwnerId, number>;
  isClosing: boolean;
  /** Who follows one, and who waits until nobody does. */
  readers: number;
  waiting: (() => void)[];
};

/** So many executions can still be followed after their end. */
const finishedKnownMax = 64;
/** So much output of the last of them is kept whole; of the others, its beginning and its end. */
const finishedBytesMax = 64 * 1024 * 1024;
const recoverAtOnceMax = 50;
const tidyEveryMs = 3_600_000;
/** The records of one user; the oldest go first. */
const recordLimits = { rowsMax: 2000, bytesMax: 64 * 1024 * 1024 };
const trimEvery = 20;
const storeAttemptsMax = 5;
const storeAgainMs = 1000;
/** An execution that is over sooner is written down at its beginning and its end only. */
const runningStoredAfterMs = 500;

/** What is shown of each stream of a running execution, unless the caller says otherwise. */
const soFarBytesMax = 64 * 1024;

/** Begins by closing the records that processes left open which do not live any more; so it does with those that end later. */
export function openExecutions(options: ExecutionsOptions): OwnExecutions {
  const unclosed = "the records of earlier executions could not be closed";
  const closeLost = () => inBackground(options.logger, unclosed, recover(options));
  const recovered = closeLost();
  const deaf = options.homes.onGone(() => void closeLost());
  const state: State = {
    ...{ ...options, recovered, known: new Map(), ended: new Map() },
    ...{ isClosing: false, readers: 0, waiting: [] },
  };
  const stopTimer = tidyNowAndThen(state);
  const knownOf = (owner: OwnerId, id: string) => {
    const known = state.known.get(id);
    return known?.record.owner === owner ? known : undefined;
  };
  const find = async (owner: OwnerId, id: string) => {
    await recovered;
    const known = knownOf(owner, id);
    if (known !== undefined) return withOutput(known);
    const row = await state.storage.findExecution(owner, id);
    return row && executionOf(row);
  };
  return {
    submit: (place, wanted) => submit(state, place, wanted),
    find,
    async list(owner, page) {
      await recovered;
      const { items, total } = await state.storage.listExecutions(owner, page);
      return { items: items.map((row) => listedOf(row, knownOf(owner, row.id))).filter(isReadable), total };
    },
    async wait(owner, id, signal) {
      const known = knownOf(owner, id);
      // Whoever does not wait any longer gets its id.
      if (known !== undefined && !(await isBefore(known.over, signal))) return void (await store(state, known.record));
      const record = await find(owner, id);
      return record?.endedAt === undefined ? undefined : record;
    },
    follow(owner, id, after) {
      const live = knownOf(owner, id)?.live;
      return live && counted(state, live.read(after));
    },
    async quiet() {
      if (!isQuiet(state)) await new Promise<void>((resolve) => state.waiting.push(resolve));
    },
    async cancel(owner, id) {
      const known = knownOf(owner, id);
      if (known === undefined || known.record.endedAt !== undefined) return false;
      known.controller.abort();
      await known.over;
      return known.record.status === "cancelled";
    },
    async settled(owner) {
      const all = [...state.known.values()].filter(({ record }) => owner === undefined || record.owner === owner);
      await Promise.all(all.map(({ over }) => over));
    },
    forget(owner) {
      for (const [id, { record, over, live }] of state.known) {
        if (record.owner !== owner) continue;
        state.known.delete(id);
        void over.then(live.shorten);
      }
    },
    closing() {
      state.isClosing = true;
    },
    close() {
      deaf();
      stopTimer();
    },
  };
}

async function* counted<T>(state: State, output: AsyncIterable<T>): AsyncGenerator<T> {
  state.readers += 1;
  try {
    yield* output;
  } finally {
    state.readers -= 1;
    noticeQuiet(state);
  }
}

function isQuiet({ known, readers }: State): boolean {
  return readers === 0 && ![...known.values()].some(({ record }) => record.endedAt === undefined);
}

function noticeQuiet(state: State): void {
  if (isQuiet(state)) for (const resolve of state.waiting.splice(0)) resolve();
}

function withOutput({ record, live, shownBytesMax = soFarBytesMax }: Known): ExecutionRecord {
  if (record.status !== "running") return record;
  const shown = (stream: "stdout" | "stderr") => ({ ...live[stream].shown(shownBytesMax), path: undefined });
  return { ...record, soFar: { stdout: shown("stdout"), stderr: shown("stderr") } };
}

function listedOf(row: ListedExecution, known: Known | undefined): ExecutionRecord | undefined {
  return known === undefined ? executionOf(row) : listedExecution(known.record);
}

function isReadable(record: ExecutionRecord | undefined): record is ExecutionRecord {
  return record !== undefined;
}

/** True when it is over before the signal fires. */
function isBefore(over: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(false);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    void over.then(() => {
      signal.removeEventListener("abort", giveUp);
      resolve(true);
    });
  });
}

async function recover({ storage, clock, logger }: ExecutionsOptions): Promise<void> {
  for (;;) {
    const rows = await storage.openExecutions(recoverAtOnceMax);
    for (const row of rows) {
      const endedAt = clock.now();
      const record = executionOf(row);
      const crashed = { status: "crashed", endedAt, wasCutOff: true } as const;
      // One that cannot be read is closed as it is.
      const closed = record === undefined ? { ...row, endedAt } : executionRow({ ...record, ...crashed });
      const stored = await storage.putExecution(closed);
      if (!stored.ok) return logger.warn("a record of an execution could not be closed", { code: stored.failure.code });
    }
    if (rows.length < recoverAtOnceMax) return;
  }
}

function tidyNowAndThen({ storage, settings, clock, logger }: State): () => void {
  let isClosed = false;
  const tidy = async () => {
    const dropped = await storage.dropExecutions(clock.now() - settings.recordsMs);
    if (!dropped.ok) logger.warn(undropped, { code: dropped.failure.code });
  };
  const tidyInTheBackground = () =>
    void inBackground(logger, undropped, tidy()).then(() => {
      if (!isClosed) stopTimer = clock.after(tidyEveryMs, tidyInTheBackground);
    });
  let stopTimer = clock.after(tidyFirstMs, tidyInTheBackground);
  return () => {
    isClosed = true;
    stopTimer();
  };
}

const undropped = "old records of executions could not be dropped";
const unrecorded = "an execution could not be recorded";
/** Not at once: a start has better things to do. */
const tidyFirstMs = 60_000;

async function submit(state: State, place: ProgramPlace, wanted: ExecutionWanted): ReturnType<Executions["submit"]> {
  await state.recovered;
  const controller = new AbortController();
  const prepared = await state.programs.prepare(place, { ...wanted, signal: controller.signal });
  if (!prepared.ok) return prepared;
  const { id, session, timeoutMs, live } = prepared.value;
  const { language, conversationId, onChanges, shownBytesMax } = wanted;
  const record: ExecutionRecord = {
    ...{ id, owner: place.owner, session: session.id, conversationId, status: "pending", language, timeoutMs },
    ...keptCode(wanted.code),
    ...{ createdAt: state.clock.now(), startedAt: undefined, endedAt: undefined },
    ...{ failure: undefined, wasCutOff: false, report: undefined, artifacts: [] },
  };
  // Written down first: whatever happens from here on, somebody can ask what became of it. Where nobody has its id yet,
  // the disk is waited for only when they get it: with its end, or with the word that it runs.
  // One whose id was known before is looked for by it after a crash.
  const isOnDisk = wanted.isWaitedFor !== true || wanted.id !== undefined;
  const stored = await state.storage
    .putExecution(executionRow(record), { isOnDisk, server: state.homes.server })
    .catch((error) => {
      prepared.value.abandon();
      throw error;
    });
  if (!stored.ok) {
    prepared.value.abandon();
    return rowFailure(stored.failure);
  }
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const known: Known = { record, place, live, controller, onChanges, shownBytesMax, over };
  state.known.set(id, known);
  void execute(state, known, prepared.value)
    .catch((error) => closeBroken(state, known, error))
    .then(() => {
      resolve();
      dropFinished(state);
      noticeQuiet(state);
    });
  return ok(record);
}

async function execute(state: State, known: Known, prepared: Prepared): Promise<void> {
  const { clock } = state;
  const run = await prepared.start();
  if (!run.ok) return close(state, known, { status: "failed", endedAt: clock.now(), failure: run.failure });
  if (!run.value.hasBegun) {
    const end = wasCutOff(state, known) ? crashed : ({ status: "cancelled" } as const);
    return close(state, known, { ...end, endedAt: clock.now() });
  }
  const running: ExecutionRecord = { ...known.record, status: "running", startedAt: clock.now() };
  known.record = running;
  // Each row that is written waits for the disk; one that is over in a moment was never seen running.
  let stored = Promise.resolve();
  const stopTimer = clock.after(runningStoredAfterMs, () => {
    stored = inBackground(state.logger, unrecorded, store(state, running), { execution: running.id });
  });
  const report = await run.value.report;
  stopTimer();
  await stored;
  await known.onChanges?.(report.changes);
  const artifacts = await artifactsOf(known.place.workspace, report.changes);
  const isCutOff = report.how === "cancelled" && wasCutOff(state, known);
  const changes = report.changes.slice(0, artifactsMax);
  await close(state, known, {
    ...{ startedAt: report.startedAt, endedAt: report.endedAt, artifacts },
    ...(isCutOff ? crashed : { status: statusOf(report) }),
    report: { ...report, changes, ...(isCutOff && { how: "lost" }) },
  });
}

/** Nobody wanted it to stop: the server went. */
function wasCutOff({ isClosing }: State, { controller }: Known): boolean {
  return isClosing && !controller.signal.aborted;
}

const crashed = { status: "crashed", wasCutOff: true } as const;

/** A mistake of ours: nobody may wait for ever because of it. */
async function closeBroken(state: State, known: Known, error: unknown): Promise<void> {
  const { clock, logger } = state;
  const execution = known.record.id;
  logger.error(unrecorded, { execution, error });
  if (known.record.endedAt !== undefined) return;
  const broken = { status: "crashed", endedAt: clock.now() } as const;
  await inBackground(logger, unrecorded, close(state, known, broken), { execution });
}

/** Known as over before it is written: where storage fails, this process can still tell. */
async function close(state: State, known: Known, end: Partial<ExecutionRecord>): Promise<void> {
  known.record = { ...known.record, ...end };
  await store(state, known.record);
  void inBackground(state.logger, undropped, trim(state, known.record.owner));
}

/** Now and then: in between there are a few more. */
async function trim({ storage, logger, ended }: State, owner: OwnerId): Promise<void> {
  const count = (ended.get(owner) ?? 0) + 1;
  ended.set(owner, count % trimEvery);
  if (count < trimEvery) return;
  const trimmed = await storage.trimExecutions(owner, recordLimits);
  if (!trimmed.ok) logger.warn(undropped, { code: trimmed.failure.code });
}

async function store({ storage, clock, logger }: State, record: ExecutionRecord): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const stored = await storage.putExecution(executionRow(record));
    if (stored.ok) return;
    const { code } = stored.failure;
    if (attempt === storeAttemptsMax)
      return logger.error("an execution could not be recorded", { execution: record.id, code });
    await clock.wait(storeAgainMs);
  }
}

function statusOf({ how, exitCode }: ProgramReport): ExecutionRecord["status"] {
  switch (how) {
    case "done":
      return exitCode === 0 ? "completed" : "failed";
    case "timeout":
    case "cancelled":
      return how;
    case "killed":
    case "out_of_memory":
    case "disk_full":
      return "failed";
    case "lost":
      return "crashed";
    default:
      return unreachable(how);
  }
}

/** The newest stays whole, however long it is: somebody may be reading it just now. */
function dropFinished({ known }: State): void {
  const finished = [...known].filter(([, { record }]) => record.endedAt !== undefined).toReversed();
  let bytes = 0;
  for (const [index, [id, { live }]] of finished.entries()) {
    bytes += live.keptBytes();
    if (index >= finishedKnownMax) known.delete(id);
    // Also where it is forgotten: a reader who does not read would hold on to all of it.
    if (index >= finishedKnownMax || (index > 0 && bytes > finishedBytesMax)) live.shorten();
  }
}
