import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger, Tracer } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { SandboxSettings, SessionEnsured, Sessions } from "./sandbox.ts";

export type EnsureOptions = SessionEnsured & {
  readonly owner: OwnerId;
  readonly settings: Pick<SandboxSettings, "readyRetriesMax" | "readyRetryMs">;
  readonly clock: Pick<Clock, "wait">;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly tracer?: Pick<Tracer, "start"> | undefined;
};

export type EnsureFailure = Failure<"sandbox_session_create_failed" | "sandbox_session_not_ready">;
type Ensured = Result<string, EnsureFailure>;
type Found = Pick<Sessions, "find" | "create">;

/** What is done about the session, as traces name it. */
type Action = "create_new" | "reuse_existing" | "recreate";

/** The domain of callers who name none. */
export const defaultDomain = "bd_public";

/** A session that runs, for a chat that may need it: asked anew each time, nothing is remembered. The answer is its id. */
export async function ensureSession(sessions: Found, options: EnsureOptions): Promise<Ensured> {
  const { owner, agentId, businessDomain, tracer } = options;
  const about = { session_id: idOf(owner), user_id: owner, agent_id: agentId, business_domain_id: businessDomain };
  const span = tracer?.start("EnsureSandboxSession", about);
  try {
    const ensured = await ensure(sessions, options, (action) => span?.set({ action }));
    if (!ensured.ok) span?.fail(ensured.failure.code);
    return ensured;
  } finally {
    span?.end();
  }
}

async function ensure(sessions: Found, options: EnsureOptions, note: (action: Action) => void): Promise<Ensured> {
  const { owner, agentId, businessDomain, logger } = options;
  const found = await sessions.find(owner);
  if (found?.status === "running") {
    note("reuse_existing");
    logger.info("reuse existing session: {session}", { session: found.id });
    return ok(found.id);
  }
  const session = found?.id ?? idOf(owner);
  note(found === undefined ? "create_new" : "recreate");
  if (found !== undefined) logger.warn("session status is {status}, will recreate: {session}", { ...found, session });
  // Under the id it had, if it is only to be revived.
  const made = await sessions.create(owner, { dialect: "seed", agentId, businessDomain });
  if (made.ok) logger.info("create new sandbox session: {session}", { session: made.value.id });
  else if (made.failure.code === "session_exists")
    logger.info("session already exists: {session}, will wait for ready", { session });
  else {
    logger.error("create sandbox session failed: {code}", { code: made.failure.code, session });
    return failure("sandbox_session_create_failed", {});
  }
  return whenReady(sessions, session, options);
}

/** Somebody else may be making it, or may have ended it meanwhile: it is looked at until it runs, or was seen to fail. */
async function whenReady(sessions: Found, session: string, options: EnsureOptions): Promise<Ensured> {
  const { owner, settings, clock, signal, logger } = options;
  const attemptsMax = Math.max(1, settings.readyRetriesMax);
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    const seen = await sessions.find(owner);
    if (seen?.status === "running") {
      logger.info("sandbox session ready: {session} (attempts: {attempts})", { session: seen.id, attempts });
      return ok(seen.id);
    }
    if (seen !== undefined && seen.status !== "pending") {
      logger.error("session in invalid state: {status}", { session, status: seen.status });
      return failure("sandbox_session_create_failed", {});
    }
    if (attempts < attemptsMax && (await clock.wait(settings.readyRetryMs, signal)) === "aborted") break;
  }
  logger.error("session not ready after retries: {session}", { session });
  return failure("sandbox_session_not_ready", {});
}

/** As a session is called that nobody has given a name. */
function idOf(owner: OwnerId): string {
  return `sb-session-${owner}`;
}
