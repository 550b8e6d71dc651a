import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { ConversationId, localOwner, OwnerId, shownId } from "../protocol/ids.ts";
import { userOfSession } from "../protocol/session-names.ts";
import type { Storage } from "../storage/storage.ts";
import { type Language, languageOf } from "../words/words.ts";
import type { Caller } from "./door.ts";

/** Without sign-in the request names the user; of nobody named the routes make the local owner. */
export function actsAsNamed(id: string | undefined): Result<OwnerId | undefined, Failure<"bad_request">> {
  return id === undefined ? ok(undefined) : userNamed(id, "x-account-id");
}

function userNamed(id: string, where: string): Result<OwnerId, Failure<"bad_request">> {
  const user = OwnerId.safeParse(id);
  return user.success ? ok(user.data) : failure("bad_request", { what: where, rule: "user_id" });
}

/** Whose request it is where nothing but `x-account-id` names anybody; who is signed in is nobody else. */
export function ownerOf(
  { signedIn }: Pick<Caller, "signedIn">,
  actsAs: OwnerId | undefined,
): Result<OwnerId, Failure<"user_unknown">> {
  if (signedIn === undefined) return ok(actsAs ?? localOwner);
  if (actsAs === undefined || actsAs === signedIn) return ok(signedIn);
  return failure("user_unknown", { id: actsAs, as: signedIn });
}

/** Everything in a request that can say who is calling. */
export type Named = {
  /** Who is signed in, if anybody: then the rest may name nobody else. */
  readonly caller: Pick<Caller, "signedIn">;
  /** `user_id` of the body. */
  readonly userId?: string | undefined;
  readonly actsAs?: OwnerId | undefined;
  /** As it was spelled, an alias for one. */
  readonly sessionId?: string | undefined;
  /** Who has the conversation or the execution that is named. */
  readonly owners?: readonly OwnerId[] | undefined;
};

/** Of a conversation: two are as good as many, since then nobody is named. */
const ownersMax = 2;

/** What a request names, whose caller may be told by a conversation or an execution alone. */
export type NamedBy = Omit<Named, "owners"> & {
  readonly conversationId?: string | undefined;
  readonly executionId?: string | undefined;
};

type OwnerRows = Pick<Storage, "ownersOfConversation" | "ownerOfExecution">;

export async function callerOf(
  { storage }: { readonly storage: OwnerRows },
  named: NamedBy,
): Promise<Result<OwnerId, Failure>> {
  if (namesSomebody(named)) return callerNamed(named);
  const { conversationId, executionId } = named;
  const id = ConversationId.safeParse(conversationId);
  const owners = id.success ? await storage.ownersOfConversation(id.data, ownersMax) : [];
  const owner = executionId === undefined ? undefined : await storage.ownerOfExecution(executionId);
  return callerNamed({ ...named, owners: owner === undefined ? owners : [...owners, owner] });
}

/** Who is calling: who is signed in, else the first that is named [S7]. */
export function callerNamed(
  named: Named,
): Result<OwnerId, Failure<"bad_request" | "session_not_found" | "user_unknown">> {
  const { userId, actsAs, sessionId = "", owners = [], caller: known } = named;
  const user = userId === undefined ? ok(actsAs) : userNamed(userId, "body.user_id");
  if (!user.ok) return user;
  const signedIn = known.signedIn === undefined ? ok(user.value) : ownerOf(known, user.value);
  if (!signedIn.ok) return signedIn;
  const inSession = userOfSession(sessionId);
  const caller = signedIn.value ?? inSession ?? (owners.length === 1 ? owners[0] : undefined) ?? localOwner;
  if (inSession === undefined || inSession === caller) return ok(caller);
  return failure("session_not_found", { id: shownId(sessionId) });
}

/** Whether it is of no use to look who has the conversation. */
function namesSomebody({ caller, userId, actsAs, sessionId = "" }: Named): boolean {
  return (caller.signedIn ?? userId ?? actsAs ?? userOfSession(sessionId)) !== undefined;
}

/** The caller's own id for the request where it is well-formed: it goes into answers and logs. */
export function requestIdOf(given: string | undefined, ids: Ids): string {
  return given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : ids.uuid();
}

/** `fr, zh-CN;q=0.9, en;q=0.8` → zh: the best liked of the languages we have. */
export function languageWanted(header: string | undefined): Language {
  const wanted = (header ?? "")
    .split(",")
    .map((entry) => {
      const [tag = "", ...options] = entry.split(";").map((part) => part.trim());
      const weight = options.find((option) => option.startsWith("q="));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ tag, weight }) => /^(en|zh)\b/i.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return languageOf(wanted[0]?.tag);
}
