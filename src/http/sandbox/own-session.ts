import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type OwnerId, shownId } from "../../protocol/ids.ts";
import { isOwnSession } from "../../protocol/session-names.ts";
import type { Session } from "../../sandbox/sandbox.ts";
import { callerOf, type NamedBy } from "../caller.ts";
import type { Parts } from "../handler.ts";

/** Who means their own session by the id in the path, and that session, if they have one. */
export async function ownSession(
  parts: Pick<Parts, "storage" | "sandbox">,
  named: NamedBy & { readonly sessionId: string },
): Promise<Result<{ readonly owner: OwnerId; readonly session: Session | undefined }, Failure>> {
  const owner = await callerOf(parts, named);
  if (!owner.ok) return owner;
  const session = await parts.sandbox.sessions.find(owner.value);
  if (!isOwnSession(owner.value, named.sessionId, session)) return sessionNotFound(named.sessionId);
  return ok({ owner: owner.value, session });
}

export function sessionNotFound(id: string) {
  return failure("session_not_found", { id: shownId(id) });
}
