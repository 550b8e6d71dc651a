import { OwnerId } from "./ids.ts";

const anybodysSession = "sess-agent-default";

/** The user inside `sb-session-{user}` or `sess-{user}`; `sess-agent-default` is anybody's name for their own session. */
export function userOfSession(sessionId: string): OwnerId | undefined {
  if (sessionId === anybodysSession) return undefined;
  return OwnerId.safeParse(/^(?:sb-session|sess)-(.*)$/.exec(sessionId)?.[1]).data;
}

/** Another name for somebody's session, or the name it has unless they give it one. */
export function isAlias(sessionId: string): boolean {
  return sessionId === anybodysSession || userOfSession(sessionId) !== undefined;
}

/** Whether a user means their own session by this id. `found` is the session they have, if any. */
export function isOwnSession(owner: OwnerId, sessionId: string, found: { readonly id: string } | undefined): boolean {
  return sessionId === anybodysSession || userOfSession(sessionId) === owner || sessionId === found?.id;
}
