import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import type { Homes } from "../homes/homes.ts";
import type { Logger, Tracer } from "../observe/observe.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { programFailures } from "../protocol/program-failures.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { Storage, StorageFailure } from "../storage/storage.ts";
import type { Lookup, NetworkRules } from "../web/web.ts";
import type { Words } from "../words/words.ts";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import type { Executions } from "./execution.ts";
import type { ExecutionMetrics, GuestLimits, Probe, SandboxProvider } from "./provider.ts";
import type { Packages, Sessions } from "./session.ts";

export { defaultDomain } from "./ensure-session.ts";
export type * from "./execution.ts";
export type { ExecutionMetrics, Lack, Probe, SandboxProvider } from "./provider.ts";
export { executionLimits, fitsGuest } from "./provider.ts";
export { openSandbox } from "./service.ts";
export type * from "./session.ts";

/** Where the code of agents and users runs: one session a user, one guest a workspace, executions in it. */
export interface Sandbox {
  /** What this machine can do; remembered, unless asked anew. */
  probe(options?: { fresh?: boolean }): Promise<Probe>;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly packages: Packages;
  /** Starts the guest that a program at this place will need, so that the model's thinking hides the cost. Never fails. */
  prewarm(place: ProgramPlace, language?: Language): void;
  /** Runs a program as soon as there is room for it. It ends with the caller's signal. */
  run(place: ProgramPlace, wanted: ProgramWanted): Promise<Result<RunningProgram, ProgramFailure>>;
  /** Forgets the agent's Python. */
  reset(place: ProgramPlace): Promise<void>;
  /** Ends what programs left running in the background, and tells what they did to files since. */
  endTurn(place: ProgramPlace): Promise<readonly FileChange[]>;
  /** Ends the guests of a conversation; before its files are moved or removed. */
  leave(conversation: number): Promise<void>;
  /** Ends the guest at one place: its files stay, and nobody uses it any more. */
  leavePlace(place: ProgramPlace): Promise<void>;
  /** Does now what is otherwise done by and by: ends sessions past their time and what dead processes left behind. */
  sweep(): Promise<{ readonly processes: number; readonly groups: number; readonly mounts: number }>;
  /** Executions and guests by state, for health and metrics. */
  load(): SandboxLoad;
  close(): Promise<void>;
}

export type Language = "python" | "bash" | "javascript";

/** Whose program it is and what it sees. Without a workspace no conversation is mounted. */
export type ProgramPlace = {
  readonly owner: OwnerId;
  /** The number of the conversation that the workspace belongs to. */
  readonly conversation: number | undefined;
  readonly workspace: Workspace | undefined;
  /** Whose Python state it uses: `root`, or the id of another agent. */
  readonly agent: string;
};

export type ProgramWanted = {
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

export type RunningProgram = {
  readonly id: string;
  /** As it comes, decoded; ends with the program. Who does not read it loses nothing of the report. */
  readonly output: AsyncIterable<ProgramOutput>;
  /** Never rejects. */
  readonly report: Promise<ProgramReport>;
  kill(): void;
};

/** Before `text` so many bytes of the stream are left out: they are not kept. `at`: how far both have come with it. */
export type ProgramOutput = {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  readonly cutBytes: number;
  readonly at: OutputPlace;
};

/** Bytes of each stream. */
export type OutputPlace = { readonly stdout: number; readonly stderr: number };

export type ProgramReport = {
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

/** A run makes or brings back the row of the caller's session, and that can fail. */
export type ProgramFailure = Failure<(typeof programFailures)[number]> | StorageFailure;

export type SandboxLoad = { readonly guests: number; readonly running: number; readonly waiting: number };

export type SandboxOptions = {
  readonly provider: SandboxProvider;
  readonly storage: Storage;
  /** Which server has what, where several share the storage; this one unless it is given. */
  readonly homes?: Homes | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** In the language of the operator: for the lines in records of executions. */
  readonly words: Words;
  /** May be changed by its owner: what it says counts from the next use on. */
  readonly settings: SandboxSettings;
  /** As `settings`: what it says counts from the next connection on. Nobody and nowhere unless it is given. */
  readonly network?: NetworkSettings | undefined;
  /** At which this process listens itself: no program reaches it there. May grow. */
  readonly ownPorts?: ReadonlySet<number> | undefined;
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
