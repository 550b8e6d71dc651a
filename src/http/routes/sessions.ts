import { ok } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { callerOf } from "../caller.ts";
import type { Call, Handlers, Parts } from "../handler.ts";
import { ownSession, sessionNotFound } from "../sandbox/own-session.ts";
import { toSession } from "../sandbox/session-answer.ts";
import { firstPackages, packagesWanted, withPackages } from "../sandbox/session-packages.ts";
import { sessionNamed, sessionWanted } from "../sandbox/session-wanted.ts";

type Names =
  | "createSession"
  | "listSessions"
  | "getSession"
  | "deleteSession"
  | "terminateSession"
  | "resetSession"
  | "installDependencies";

const sessionsPageMax = 200;

export function sessionHandlers(parts: Parts): Pick<Handlers, Names> {
  return { ...beginning(parts), ...living(parts), ...ending(parts) };
}

function beginning(parts: Parts): Pick<Handlers, "createSession" | "installDependencies"> {
  const { sessions } = parts.sandbox;
  return {
    async createSession(call) {
      const { actsAs, caller, body, query, language } = call;
      const userId = body.user_id ?? undefined;
      const owner = await callerOf(parts, { caller, userId, actsAs, sessionId: sessionNamed(body) });
      if (!owner.ok) return caller.signedIn === undefined ? ofAnother(owner, userId ?? actsAs) : owner;
      const wanted = sessionWanted(call);
      if (!wanted.ok) return wanted;
      await parts.freshen();
      const packages = firstPackages(body);
      const refused = packages && parts.sandbox.packages.refusal(packages);
      if (refused !== undefined && body.fail_on_dependency_error) return refused;
      const made = await sessions.create(owner.value, wanted.value);
      if (made.ok && packages !== undefined) return withPackages(parts, { ...call, owner: owner.value }, packages);
      if (made.ok) return ok(toSession(made.value, language));
      const found = made.failure.code === "session_exists" ? await sessions.find(owner.value) : undefined;
      if (found === undefined) return made;
      // An earlier try of this very call has made it.
      if (call.once?.isRetry === true) return ok(toSession(found, language));
      if (query.if_exists === "return") return { ...ok(toSession(found, language)), status: 200 };
      return { ...made, beside: { session: toSession(found, language) } };
    },
    async installDependencies(call) {
      const found = await existing(parts, call);
      if (!found.ok) return found;
      await parts.freshen();
      const installed = await parts.sandbox.packages.install(found.value.owner, packagesWanted(call.body));
      return installed.ok ? ok(toSession(installed.value, call.language)) : installed;
    },
  };
}

/** Who creates a session is not told that there is none. */
function ofAnother(refused: { readonly ok: false; readonly failure: Failure }, user = "") {
  const { code, params } = refused.failure;
  return code === "session_not_found" ? failure("session_of_another", { id: params.id, user }) : refused;
}

function living(parts: Parts): Pick<Handlers, "listSessions" | "getSession" | "resetSession"> {
  const { sandbox, workspaces } = parts;
  return {
    async listSessions({ owner, query, language }) {
      const limit = Math.min(Math.max(query.limit, 1), sessionsPageMax);
      const { offset, status, template_id: template } = query;
      const all = (await sandbox.sessions.list(owner)).map((session) => ({
        shown: toSession(session, language),
        session,
      }));
      const fitting = all.filter(
        ({ shown, session }) =>
          (status === undefined || status === shown.status || status === session.status) &&
          (template === undefined || shown.template_id === template),
      );
      const items = fitting.slice(offset, offset + limit).map(({ shown }) => shown);
      return ok({ items, total: fitting.length, limit, offset, has_more: offset + items.length < fitting.length });
    },
    async getSession(call) {
      const found = await existing(parts, call);
      return found.ok ? ok(toSession(found.value.session, call.language)) : found;
    },
    async resetSession({ actsAs, caller, params, query, body, header }) {
      const named = body.conversation_id ?? query.conversation_id ?? header("conversation_id");
      const conversationId = named ?? header("x-conversation-id");
      const userId = body.user_id ?? undefined;
      const own = await ownSession(parts, { caller, actsAs, userId, sessionId: params.id, conversationId });
      if (!own.ok) return own;
      const nowhere = { owner: own.value.owner, conversation: undefined, workspace: undefined, agent: "root" };
      if (conversationId === undefined) return ok(await sandbox.reset(nowhere));
      const row = await parts.log.find(nowhere.owner, conversationId);
      if (!row.ok) return row;
      const workspace = workspaces.ofConversation(row.value);
      return ok(await sandbox.reset({ ...nowhere, conversation: row.value.number, workspace }));
    },
  };
}

function ending(parts: Parts): Pick<Handlers, "deleteSession" | "terminateSession"> {
  const { sessions } = parts.sandbox;
  return {
    async deleteSession(call) {
      const found = await existing(parts, call);
      return found.ok ? sessions.stop(found.value.owner, { forget: true }) : found;
    },
    async terminateSession(call) {
      const found = await existing(parts, call);
      if (!found.ok) return found;
      const stopped = await sessions.stop(found.value.owner);
      return stopped.ok ? ok(toSession(stopped.value ?? found.value.session, call.language)) : stopped;
    },
  };
}

/** The session behind the id in the path; it has to be there. */
async function existing(
  parts: Parts,
  { params, actsAs, caller }: Pick<Call<"getSession">, "params" | "actsAs" | "caller">,
) {
  const own = await ownSession(parts, { caller, actsAs, sessionId: params.id });
  if (!own.ok) return own;
  const { owner, session } = own.value;
  return session === undefined ? sessionNotFound(params.id) : ok({ owner, session });
}
