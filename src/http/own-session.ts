import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { ConversationId, type OwnerId } from "../protocol/ids.ts";
import type { Session } from "../sandbox/sandbox.ts";
import { callerNamed, isOwnSession, type Named, namesSomebody } from "./caller.ts";
import type { Parts } from "./handler.ts";

/** Two are as good as many: then nobody is named. */
const ownersMax = 2;
const idCharactersShown = 80;

/** What a request names, whose caller may be told by a conversation or an execution alone. */
export type NamedBy = Omit<Named, "owners"> & {
  readonly conversationId?: string | undefined;
  readonly executionId?: string | undefined;
};

export async function callerOf({ storage }: Pick<Parts, "storage">, named: NamedBy): Promise<Result<OwnerId, Failure>> {
  if (namesSomebody(named)) return callerNamed(named);
  const { conversationId, executionId } = named;
  const id = ConversationId.safeParse(conversationId);
  const owners = id.success ? await storage.ownersOfConversation(id.data, ownersMax) : [];
  const owner = executionId === undefined ? undefined : await storage.ownerOfExecution(executionId);
  return callerNamed({ ...named, owners: owner === undefined ? owners : [...owners, owner] });
}

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
  return failure("session_not_found", { id: id.slice(0, idCharactersShown) });
}
