import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import type { Logger, Tracer } from "../observe/observe.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { Storage } from "../storage/storage.ts";
import type { Words } from "../words/words.ts";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import type { EnsureFailure } from "./ensure-session.ts";
import type { NetworkRules } from "./network/allowed.ts";
import type { Lookup } from "./network/lookup.ts";
import type { InstalledPackage, Package } from "./package-programs.ts";
import type { ExecutionMetrics, GuestLimits, Lack, Probe, SandboxProvider } from "./provider.ts";

export type { InstalledPackage, Package } from "./package-programs.ts";
export type { ExecutionMetrics, Lack, LackAbout, LackName, Probe, SandboxProvider } from "./provider.ts";
export { executionLimits, fitsGuest } from "./provider.ts";
export { openSandbox } from "./service.ts";

/** Where the code of agents and users runs: one session a user, one guest a workspace, executions in it. */
export interface Sandbox {
  /** What this machine can do; remembered, unless asked anew. */
  probe(options?: { fresh?: boolean }): Promise<Probe>;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly packages: Packages;
  /** Starts the guest that a program at this place will need, so that the model's thinking hides the cost. Never fails. */
  prewarm(place: Place, language?: Language): void;
  /** Runs a program as soon as there is room for it. It ends with the caller's signal. */
  run(place: Place, wanted: RunWanted): Promise<Result<Run, RunFailure>>;
  /** Forgets the agent's Python. */
  reset(place: Place): Promise<void>;
  /** Ends what programs left running in the background, and tells what they did to files since. */
  endTurn(place: Place): Promise<readonly FileChange[]>;
  /** Ends the guests of a conversation; before its files are moved or removed. */
  leave(conversation: number): Promise<void>;
  /** Does now what is otherwise done by and by: ends sessions past their time and what dead processes left behind. */
  sweep(): Promise<{ readonly processes: number; readonly groups: number; readonly mounts: number }>;
  /** Executions and guests by state, for health and metrics. */
  load(): SandboxLoad;
  close(): Promise<void>;
}

export type Language = "python" | "bash" | "javascript";

/** Whose program it is and what it sees. Without a workspace no conversation is mounted. */
export type Place = {
  readonly owner: OwnerId;
  /** The number of the conversation that the workspace belongs to. */
  readonly conversation: number | undefined;
  readonly workspace: Workspace | undefined;
  /** Whose Python state it uses: `root`, or the id of another agent. */
  readonly agent: string;
};

export type RunWanted = {
  /** A new one unless said otherwise. */
  readonly id?: string | undefined;
  readonly language: Language;
  readonly code: string;
  readonly timeoutMs: number;
  /** Below the workspace; its root unless said otherwise. */
  readonly folder?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** JSON: if the code defines `handler(event)`, it is called with this, and its value comes back in the report. */
  readonly event?: string | undefined;
  readonly stdin?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How much of each stream stands in the report: its beginning and its end. All of it goes to a file in temp/. */
  readonly shownBytesMax?: number | undefined;
};

export type Run = {
  readonly id: string;
  /** As it comes, decoded; ends with the program. Who does not read it loses nothing of the report. */
  readonly output: AsyncIterable<RunOutput>;
  /** Never rejects. */
  readonly report: Promise<RunReport>;
  kill(): void;
};

/** Before `text` so many bytes of the stream are left out: they are not kept. `at`: how far both have come with it. */
export type RunOutput = {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  readonly cutBytes: number;
  readonly at: OutputPlace;
};

/** Bytes of each stream. */
export type OutputPlace = { readonly stdout: number; readonly stderr: number };

export type RunReport = {
  readonly how: "done" | "timeout" | "cancelled" | "killed" | "out_of_memory" | "disk_full" | "lost";
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: ShownOutput;
  readonly stderr: ShownOutput;
  /** The value of the last expression, as text. */
  readonly value: string | undefined;
  /** JSON, what `handler(event)` returned. */
  readonly returned: string | undefined;
  /** Paths below the workspace of figures that were drawn. */
  readonly figures: readonly string[];
  /** What it did to files, by path. */
  readonly changes: readonly FileChange[];
  /** It ended by itself and left more in the workspace than may be there. */
  readonly isOverLimit?: true | undefined;
  /** The agent's Python was started for it: there is nothing of earlier programs in it. */
  readonly isPythonNew?: true | undefined;
  /** The agent's Python ended with it: its variables are gone. */
  readonly isPythonLost?: true | undefined;
  /** Other programs ran in the same files at the same time: some of the changes may be theirs. */
  readonly hadCompany?: true | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly metrics: ExecutionMetrics;
};

/** `text` has its middle taken out when `cutBytes` is more than none; then all that was kept is in the file at `path`. */
export type ShownOutput = {
  readonly text: string;
  readonly cutBytes: number;
  readonly path: string | undefined;
  /** Where more was said than the limit: only so many bytes of the beginning are in the file. */
  readonly keptBytes?: number | undefined;
};

export type RunFailure = Failure<
  | "sandbox_unavailable"
  | "sandbox_start_failed"
  | "sandbox_full"
  | "sandbox_busy"
  | "code_too_long"
  | "workspace_not_assigned"
  | "write_failed"
  | "quota_exceeded"
  | "path_invalid"
  | "path_traversal_blocked"
  // A run makes or brings back the row of the caller's session, and that can fail.
  | "storage_busy"
  | "storage_full"
  | "storage_broken"
  | "storage_read_only"
>;

/** One session a user: policy, limits, time to live. Its end ends programs, never files. */
export interface Sessions {
  /** `session_exists` while one is alive; one that is stopped or in error is revived under its id. */
  create(owner: OwnerId, wanted: NewSession): Promise<Result<Session, SessionFailure>>;
  find(owner: OwnerId): Promise<Session | undefined>;
  list(owner: OwnerId): Promise<readonly Session[]>;
  /** How many there are of each status, over all users. */
  count(): Promise<Readonly<Record<string, number>>>;
  /** The session of a user who is about to use it: made or revived by itself, its time to live begins anew. */
  use(owner: OwnerId): Promise<Result<Session, SessionFailure>>;
  /** One that runs, for a chat that may need it; the answer is its id. Asked anew each time [S2]. */
  ensure(owner: OwnerId, wanted: SessionEnsured): Promise<Result<string, EnsureFailure>>;
  /** Ends its guests. Idempotent. `forget`: the row goes too, with its executions. */
  stop(owner: OwnerId, options?: { forget?: boolean }): Promise<Result<Session | undefined, SessionFailure>>;
}

/** For whom and for what it is made, if it is not there. */
export type SessionEnsured = {
  readonly agentId?: string | undefined;
  readonly businessDomain?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type SessionFailure = Failure<
  | "session_exists"
  | "sandbox_unavailable"
  | "sandbox_start_failed"
  | "storage_busy"
  | "storage_full"
  | "storage_broken"
  | "storage_read_only"
>;

/** What is installed for the programs of a session: code of strangers, which is fetched and built in a guest, too. */
export interface Packages {
  /** Why these cannot be installed here at all; undefined when it is worth a try. */
  refusal(wanted: PackagesWanted): { readonly ok: false; readonly failure: PackagesFailure } | undefined;
  /** Together with those that the session has; all of them or none. Resolves when programs can use them. */
  install(owner: OwnerId, wanted: PackagesWanted): Promise<Result<Session, PackagesFailure>>;
}

export type PackagesWanted = {
  readonly packages: readonly Package[];
  /** The one that the caller means; refused when it is another than the configured one. */
  readonly index?: string | undefined;
  readonly timeoutMs: number;
  readonly allowsConflicts: boolean;
};

export type PackagesFailure = Failure<
  | "packages_not_configured"
  | "packages_installing"
  | "packages_failed"
  | "package_index_refused"
  | "installer_missing"
  | "sandbox_unavailable"
  | "sandbox_start_failed"
  | "sandbox_full"
  | "storage_busy"
  | "storage_full"
  | "storage_broken"
  | "storage_read_only"
>;

/** The last installation of a session, and what came of those before it. */
export type SessionPackages = {
  readonly status: "installing" | "completed" | "failed";
  /** What was to be there after it. */
  readonly requested: readonly Package[];
  /** What was asked for and is there. */
  readonly current: readonly Package[];
  /** With all that they need themselves. */
  readonly installed: readonly InstalledPackage[];
  readonly error: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
};

export type NewSession = {
  /** As the caller spelled it; `sb-session-{owner}` unless it was given. */
  readonly id?: string | undefined;
  /** Whose words its answers have: the chat platform's, or those of the public sandbox service. */
  readonly dialect: "seed" | "public";
  readonly agentId?: string | undefined;
  readonly businessDomain?: string | undefined;
  readonly templateId?: string | undefined;
  /** May only tighten the configured policy. */
  readonly uploads?: Partial<UploadPolicy> | undefined;
  /** May only tighten the configured limits. */
  readonly limits?: Partial<GuestLimits> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly executionTimeoutMs?: number | undefined;
};

export type Session = {
  readonly id: string;
  readonly owner: OwnerId;
  readonly status: "pending" | "running" | "stopped" | "error";
  /** Why it is in error, as a failure's code. */
  readonly error: string | undefined;
  readonly dialect: "seed" | "public";
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly usedAt: number;
  readonly endedAt: number | undefined;
  readonly ttlMs: number;
  /** Counts up each time it is revived. */
  readonly generation: number;
  readonly agentId: string | undefined;
  readonly businessDomain: string | undefined;
  readonly templateId: string | undefined;
  readonly uploads: UploadPolicy;
  readonly limits: GuestLimits;
  readonly env: Readonly<Record<string, string>>;
  readonly executionTimeoutMs: number;
  /** Undefined: nothing was ever installed for it. */
  readonly packages: SessionPackages | undefined;
  /** What isolation and limits it has: told, never assumed. */
  readonly degraded: readonly Lack[];
};

/** Executions that are asked for over HTTP: each has a row that tells what became of it, whatever happens. */
export interface Executions {
  /** Stored first, then run; answered at once. */
  submit(place: Place, wanted: ExecutionWanted): Promise<Result<ExecutionRecord, RunFailure | SessionFailure>>;
  find(owner: OwnerId, id: string): Promise<ExecutionRecord | undefined>;
  /** Newest first, long texts and lists shortened; `total` counts all of them. */
  list(
    owner: OwnerId,
    page: { limit: number; offset: number },
  ): Promise<{ readonly items: readonly ExecutionRecord[]; readonly total: number }>;
  /** Resolves with the record when it is over; undefined when `signal` fired before. */
  wait(owner: OwnerId, id: string, signal: AbortSignal): Promise<ExecutionRecord | undefined>;
  /** What it says from there (its beginning) on, then live; undefined when it is not known or its output is gone. */
  follow(owner: OwnerId, id: string, after?: OutputPlace): AsyncIterable<RunOutput> | undefined;
  /** False: it was over already, or never was. */
  cancel(owner: OwnerId, id: string): Promise<boolean>;
  /** Resolves when none waits or runs and nobody follows one. */
  quiet(): Promise<void>;
}

export type ExecutionWanted = Omit<RunWanted, "signal"> & {
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
  readonly failure: RunFailure | undefined;
  /** The server ended while it waited or ran. */
  readonly wasCutOff: boolean;
  /** What it has said so far, while it runs. */
  readonly soFar?: Pick<RunReport, "stdout" | "stderr"> | undefined;
  readonly report: RunReport | undefined;
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

export type SandboxLoad = { readonly guests: number; readonly running: number; readonly waiting: number };

export type SandboxOptions = {
  readonly provider: SandboxProvider;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** In the language of whoever runs this installation: for the lines in records of executions. */
  readonly words: Words;
  /** May be changed by its owner: what it says counts from the next use on. */
  readonly settings: SandboxSettings;
  /** As `settings`: what it says counts from the next connection on. Nobody and nowhere unless it is given. */
  readonly network?: NetworkSettings | undefined;
  /** Where installed packages are kept on this machine; without it none can be. */
  readonly packagesDir?: string | undefined;
  /** Hears how sessions are made ready. */
  readonly tracer?: Pick<Tracer, "start"> | undefined;
  /** Another one in tests. */
  readonly lookup?: Lookup | undefined;
};

/** Whom programs may reach, and where packages come from. */
export type NetworkSettings = NetworkRules & {
  readonly packageIndex: string | undefined;
  readonly npmRegistry: string | undefined;
};

export type SandboxSettings = {
  readonly limits: GuestLimits;
  readonly uploads: UploadPolicy;
  readonly ttlMs: number;
  /** Guests that live at the same time: of one user, and on this machine. */
  readonly guestsPerOwnerMax: number;
  readonly guestsMax: number;
  /** Executions at the same time: of one user, and on this machine; and those that wait for room. */
  readonly executionsPerOwnerMax: number;
  readonly executionsMax: number;
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** An agent's Python that nobody used for so long is dropped; then the guest. Files stay. */
  readonly kernelIdleMs: number;
  readonly guestIdleMs: number;
  readonly executionTimeoutMsMax: number;
  /** How often a session that is not ready yet is looked at for a chat, and how long it is left alone in between. */
  readonly readyRetriesMax: number;
  readonly readyRetryMs: number;
  /** How long records of executions are kept. */
  readonly recordsMs: number;
  /** Modules that an agent's Python has ready when they are installed. */
  readonly modules: readonly string[];
};
