import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger, Tracer } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { SandboxSettings, SessionEnsured, Sessions } from "./sandbox.ts";

/** The platform that has the sessions: this process, or a service elsewhere. `id` is what it calls the session itself. */
export type SessionPort = {
  /** `session_not_found` where there is none; any other failure tells nothing about the session. */
  get(id: string): Promise<Result<SessionSeen, Failure>>;
  /** `session_exists` where somebody else was faster. */
  create(id: string): Promise<Result<SessionSeen, Failure>>;
};

export type SessionSeen = {
  readonly id?: string | undefined;
  readonly status: "pending" | "running" | "stopped" | "error";
};

export type EnsureOptions = {
  readonly sessionId: string;
  readonly user: string;
  readonly agent: string | undefined;
  readonly domain: string | undefined;
  /** How often a session that is not ready yet is looked at, and how long it is left alone in between. */
  readonly retriesMax: number;
  readonly retryIntervalMs: number;
  readonly clock: Pick<Clock, "wait">;
  readonly signal?: AbortSignal | undefined;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly tracer?: Pick<Tracer, "start"> | undefined;
};

export type EnsureFailure = Failure<"sandbox_session_create_failed" | "sandbox_session_not_ready">;
type Ensured = Result<string, EnsureFailure>;

/** What is done about the session, as traces name it. */
type Action = "create_new" | "recover_from_error" | "reuse_existing" | "recreate";

/**
 * A session that runs, for a chat that may need it: asked anew each time, nothing is remembered (SPEC S2). The answer is
 * the session's own id.
 */
export async function ensureSession(port: SessionPort, options: EnsureOptions): Promise<Ensured> {
  const { sessionId, user, agent, domain, tracer } = options;
  const facts = { session_id: sessionId, user_id: user, agent_id: agent, business_domain_id: domain };
  const span = tracer?.start("EnsureSandboxSession", facts);
  try {
    const ensured = await ensure(port, options, (action) => span?.set({ action }));
    if (!ensured.ok) span?.fail(ensured.failure.code);
    return ensured;
  } finally {
    span?.end();
  }
}

/** The same for a user's session in this process. */
export function ensureOwn(sessions: Pick<Sessions, "find" | "create">, options: EnsureOwnOptions): Promise<Ensured> {
  const { owner, agentId, businessDomain, settings } = options;
  const sessionId = `sb-session-${owner}`;
  const port: SessionPort = {
    async get(id) {
      const found = await sessions.find(owner);
      return found === undefined ? failure("session_not_found", { id }) : ok(found);
    },
    // Under the id it had, if it is only to be revived.
    create: () => sessions.create(owner, { dialect: "seed", agentId, businessDomain }),
  };
  const { readyRetriesMax: retriesMax, readyRetryMs: retryIntervalMs } = settings;
  const named = { sessionId, user: owner, agent: agentId, domain: businessDomain };
  return ensureSession(port, { ...options, ...named, retriesMax, retryIntervalMs });
}

type EnsureOwnOptions = SessionEnsured &
  Pick<EnsureOptions, "clock" | "logger" | "tracer"> & {
    readonly owner: OwnerId;
    readonly settings: Pick<SandboxSettings, "readyRetriesMax" | "readyRetryMs">;
  };

/** Of callers who name none. */
export const defaultDomain = "bd_public";

async function ensure(port: SessionPort, options: EnsureOptions, note: (action: Action) => void): Promise<Ensured> {
  const { sessionId, logger } = options;
  const found = await port.get(sessionId);
  if (found.ok && found.value.status === "running") {
    const id = found.value.id ?? sessionId;
    note("reuse_existing");
    logger.info("reuse existing session: {session}", { session: id });
    return ok(id);
  }
  if (found.ok) {
    note("recreate");
    logger.warn("session status is {status}, will recreate: {session}", { session: sessionId, ...found.value });
  } else if (found.failure.code === "session_not_found") {
    note("create_new");
  } else {
    note("recover_from_error");
    logger.warn("get session failed: {code}, will create new session", { code: found.failure.code });
  }
  return createAndWait(port, options);
}

async function createAndWait(port: SessionPort, options: EnsureOptions): Promise<Ensured> {
  const { sessionId, logger } = options;
  const made = await port.create(sessionId);
  if (!made.ok && made.failure.code !== "session_exists") {
    const { code } = made.failure;
    logger.error("create sandbox session failed: {code}", { code, session: sessionId });
    return failure("sandbox_session_create_failed", {});
  }
  // The platform may know it under another id than the one that was wanted.
  const id = made.ok ? (made.value.id ?? sessionId) : sessionId;
  if (made.ok) logger.info("create new sandbox session: {session}", { session: id });
  else logger.info("session already exists: {session}, will wait for ready", { session: id });
  return waitUntilReady(port, { ...options, sessionId: id });
}

async function waitUntilReady(port: SessionPort, options: EnsureOptions): Promise<Ensured> {
  const { sessionId, retryIntervalMs, clock, signal, logger } = options;
  const attemptsMax = Math.max(1, options.retriesMax);
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    const seen = await port.get(sessionId);
    if (!seen.ok) logger.warn("get session failed: {code} (attempt {attempts})", { ...seen.failure, attempts });
    else if (seen.value.status === "running") {
      const id = seen.value.id ?? sessionId;
      logger.info("sandbox session ready: {session} (attempts: {attempts})", { session: id, attempts });
      return ok(id);
    } else if (seen.value.status !== "pending") {
      logger.error("session in invalid state: {status}", { session: sessionId, status: seen.value.status });
      return failure("sandbox_session_create_failed", {});
    }
    if (attempts < attemptsMax && (await clock.wait(retryIntervalMs, signal)) === "aborted") break;
  }
  logger.error("session not ready after retries: {session}", { session: sessionId });
  return failure("sandbox_session_not_ready", {});
}
