import { ok } from "../../src/base/result.ts";
import type { createApp } from "../../src/http/http.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { OwnerId } from "../../src/protocol/ids.ts";
import type { ExecutionRecord, NewSession, RunReport, Session } from "../../src/sandbox/sandbox.ts";

// The sandbox as the door sees it, for tests of the door alone: sessions in memory, and programs whose part is played.

type Parts = Parameters<typeof createApp>[0];
type Sandbox = Parts["sandbox"];
type Submitted = Parameters<Sandbox["executions"]["submit"]>;

export type PlayedSandbox = {
  readonly parts: Pick<Parts, "sandbox" | "sandboxSettings">;
  /** Where and what was to be run. */
  readonly submitted: Submitted[];
  readonly ownerOfExecution: (id: string) => OwnerId | undefined;
};

const playedLimits = {
  ...{ memoryBytes: 1024 ** 3, processesMax: 128, cpus: 1, fileBytesMax: 2 * 1024 ** 3 },
  ...{ tmpBytesMax: 256 * 1024 ** 2, outputBytesMax: 16 * 1024 ** 2 },
};
const playedUploads = { fileBytesMax: 100 * 1024 ** 2, filesMax: 50, types: ["csv"] };
const at = 1_700_000_000_000;
const said = (text: string) => ({ text, cutBytes: 0, path: undefined });

const playedReport: RunReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: said("said\n"), stderr: said("") },
  ...{ value: undefined, returned: undefined, figures: [], changes: [], startedAt: at + 1, endedAt: at + 3 },
  metrics: { durationMs: 2, cpuMs: 1, memoryPeakBytes: 3 * 1024 ** 2, readBytes: 4, writtenBytes: 5 },
};

/** `play` says what becomes of a program; it is over before anybody asks. */
export function playedSandbox(play: (submitted: Submitted) => Partial<ExecutionRecord> = () => ({})): PlayedSandbox {
  const sessions = new Map<OwnerId, Session>();
  const records: ExecutionRecord[] = [];
  const submitted: Submitted[] = [];
  const find = (owner: OwnerId, id: string) => records.find((one) => one.owner === owner && one.id === id);
  const sandbox: Sandbox = {
    probe: async () => ({ missing: [], degraded: [] }),
    reset: async () => {},
    sweep: async () => ({ processes: 0, groups: 0, mounts: 0 }),
    load: () => ({ guests: 0, running: 0, waiting: 0 }),
    sessions: {
      async create(owner, wanted) {
        const old = sessions.get(owner);
        if (old?.status === "running") return failure("session_exists", { id: old.id });
        sessions.set(owner, sessionOf(owner, wanted, (old?.generation ?? 0) + 1));
        return ok(sessions.get(owner) ?? sessionOf(owner, wanted, 1));
      },
      find: async (owner) => sessions.get(owner),
      list: async (owner) => [...sessions.values()].filter((one) => one.owner === owner),
      use: async (owner) => ok(sessions.get(owner) ?? sessionOf(owner, { dialect: "seed" }, 1)),
      count: async () => ({}),
      ensure: async (owner) => ok(`sb-session-${owner}`),
      async stop(owner, { forget = false } = {}) {
        const old = sessions.get(owner);
        if (old !== undefined) sessions.set(owner, { ...old, status: "stopped", endedAt: at + 9 });
        const stopped = sessions.get(owner);
        if (forget) sessions.delete(owner);
        return ok(stopped);
      },
    },
    packages: {
      refusal: () => failure("packages_not_configured", { setting: "sandbox.package_index" }),
      install: async () => failure("packages_not_configured", { setting: "sandbox.package_index" }),
    },
    executions: {
      async submit(...wanted) {
        submitted.push(wanted);
        const record = { ...recordOf(wanted, records.length + 1), ...play(wanted) };
        records.push(record);
        return ok({ ...record, status: "pending" });
      },
      find: async (owner, id) => find(owner, id),
      async list(owner, { limit, offset }) {
        const own = records.filter((one) => one.owner === owner).toReversed();
        return { items: own.slice(offset, offset + limit), total: own.length };
      },
      wait: async (owner, id) => find(owner, id),
      follow: (owner, id) => (find(owner, id) === undefined ? undefined : spoken(find(owner, id))),
      quiet: async () => {},
      cancel: async () => false,
    },
  };
  return {
    parts: {
      sandbox,
      sandboxSettings: () => ({ limits: playedLimits, uploads: playedUploads, executionTimeoutMsMax: 3_600_000 }),
    },
    submitted,
    ownerOfExecution: (id) => records.find((one) => one.id === id)?.owner,
  };
}

function sessionOf(owner: OwnerId, wanted: NewSession, generation: number): Session {
  return {
    ...{ id: wanted.id ?? `sb-session-${owner}`, owner, status: "running", error: undefined, dialect: wanted.dialect },
    ...{ codeCutBytes: 0, createdAt: at, updatedAt: at, usedAt: at, endedAt: undefined, ttlMs: 7_200_000, generation },
    ...{ agentId: wanted.agentId, businessDomain: wanted.businessDomain, templateId: wanted.templateId },
    uploads: { ...playedUploads, ...wanted.uploads },
    limits: { ...playedLimits, ...wanted.limits },
    env: wanted.env ?? {},
    executionTimeoutMs: wanted.executionTimeoutMs ?? 300_000,
    packages: undefined,
    degraded: [],
  };
}

function recordOf([place, wanted]: Submitted, number: number): ExecutionRecord {
  const { language, code, timeoutMs, conversationId } = wanted;
  return {
    ...{ id: `e${number}`, owner: place.owner, session: `sb-session-${place.owner}`, conversationId },
    ...{ status: "completed", language, code, timeoutMs, createdAt: at, startedAt: at + 1, endedAt: at + 3 },
    ...{ codeCutBytes: 0, failure: undefined, wasCutOff: false, report: playedReport, artifacts: [] },
  };
}

async function* spoken(record: ExecutionRecord | undefined) {
  const at = { stdout: 0, stderr: 0 };
  for (const stream of ["stdout", "stderr"] as const) {
    const text = record?.report?.[stream].text ?? "";
    at[stream] = Buffer.byteLength(text);
    if (text !== "") yield { stream, text, cutBytes: 0, at: { ...at } };
  }
}
