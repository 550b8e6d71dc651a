import type { Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { EnsureFailure } from "./ensure-session.ts";
import type { InstalledPackage, Package } from "./package-programs.ts";
import type { GuestLimits, Lack } from "./provider.ts";

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
  | "database_away"
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
  | "database_away"
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
