import { Hono } from "hono";
import { makeFailure } from "../protocol/failure.ts";
import { StorageAway } from "../storage/storage.ts";
import { openAdmission } from "./admit.ts";
import { bindRoutes, refuseOtherMethods } from "./bind/bind.ts";
import { languageWanted, requestIdOf } from "./caller.ts";
import { dialectOf } from "./dialect.ts";
import { bindDocs } from "./docs/docs.ts";
import type { App, HttpCall } from "./door.ts";
import type { Handlers, Parts } from "./handler.ts";
import { partsAtHome } from "./homes/at-home.ts";
import { openElsewhere } from "./homes/serve-elsewhere.ts";
import { bindMcp } from "./mcp.ts";
import { openHandOn } from "./peers/hand-on.ts";
import { refuse, thrownLine } from "./problem.ts";
import { openRate } from "./rate.ts";
import { routedPath } from "./routed-path.ts";
import { agentHandlers } from "./routes/agents.ts";
import { backupHandlers } from "./routes/backup.ts";
import { budgetHandlers } from "./routes/budgets.ts";
import { chatHandlers } from "./routes/chat.ts";
import { chatAgentHandlers } from "./routes/chat-agents.ts";
import { chatConversationHandlers } from "./routes/chat-conversations.ts";
import { checkpointHandlers } from "./routes/checkpoints.ts";
import { compactionHandlers } from "./routes/compactions.ts";
import { conversationHandlers } from "./routes/conversations.ts";
import { decisionHandlers } from "./routes/decisions.ts";
import { eventHandlers } from "./routes/events.ts";
import { executionHandlers } from "./routes/executions.ts";
import { fileViewHandlers } from "./routes/file-views.ts";
import { fileHandlers } from "./routes/files.ts";
import { healthHandlers } from "./routes/health.ts";
import { mcpHandlers } from "./routes/mcp.ts";
import { memoryHandlers } from "./routes/memory.ts";
import { messageHandlers } from "./routes/messages.ts";
import { modelHandlers } from "./routes/models.ts";
import { observeHandlers } from "./routes/observe.ts";
import { openAiHandlers } from "./routes/openai.ts";
import { operatorHandlers } from "./routes/operators.ts";
import { resumableUploadHandlers } from "./routes/resumable-uploads.ts";
import { ruleHandlers } from "./routes/rules.ts";
import { sandboxFileHandlers } from "./routes/sandbox-files.ts";
import { searchHandlers } from "./routes/search.ts";
import { sessionHandlers } from "./routes/sessions.ts";
import { signInHandlers } from "./routes/sign-in.ts";
import { skillHandlers } from "./routes/skills.ts";
import { templateHandlers } from "./routes/templates.ts";
import { toolHandlers } from "./routes/tools.ts";
import { userHandlers } from "./routes/users.ts";
import { workspaceHandlers } from "./routes/workspaces.ts";
import { bindSignInPages } from "./sign-in-pages.ts";
import { openTries } from "./tries.ts";
import { watchRequests } from "./watch-requests.ts";
import { bindWebApp } from "./web-app.ts";

export type { App, Passes } from "./door.ts";
export { openPasses } from "./peers/pass.ts";
export { openPeerDoor } from "./peers/peer-door.ts";
export { freePortAfter, isLoopbackHost, listen } from "./server.ts";
export type { ServerSettings } from "./settings.ts";

/** The HTTP app: every route of the one table, one error shape, one place that catches everything. */
export function createApp(given: Parts): App {
  const app: App = new Hono({ getPath: routedPath });
  const { peers } = given;
  const parts = peers ? { ...given, ...partsAtHome(given, peers.homes, app) } : given;
  const rate = openRate(parts.clock);
  const { server } = parts;
  const admit = openAdmission({ users: parts.users, server, rate });
  const tries = openTries(rate, server);
  const handOn = peers && openHandOn({ ...parts, ...peers, rate });
  const elsewhere = handOn && openElsewhere(parts, handOn, peers.homes);
  const handlers: Handlers = {
    ...healthHandlers(parts),
    ...observeHandlers(parts),
    ...backupHandlers(parts),
    ...conversationHandlers(parts),
    ...checkpointHandlers(parts),
    ...budgetHandlers(parts),
    ...compactionHandlers(parts),
    ...mcpHandlers(parts),
    ...memoryHandlers(parts),
    ...searchHandlers(parts),
    ...messageHandlers(parts),
    ...fileHandlers(parts),
    ...fileViewHandlers(parts),
    ...workspaceHandlers(parts),
    ...decisionHandlers(parts),
    ...ruleHandlers(parts),
    ...toolHandlers(parts),
    ...agentHandlers(parts),
    ...skillHandlers(parts),
    ...eventHandlers(parts),
    ...modelHandlers(parts),
    ...openAiHandlers(parts),
    ...operatorHandlers(parts),
    ...sessionHandlers(parts),
    ...executionHandlers(parts),
    ...templateHandlers(parts),
    ...sandboxFileHandlers(parts),
    ...resumableUploadHandlers(parts),
    ...chatHandlers(parts),
    ...chatConversationHandlers(parts),
    ...chatAgentHandlers(parts),
    ...signInHandlers(parts, tries),
    ...userHandlers(parts, tries),
  };
  app.use(watchRequests(parts));
  app.use(async (c, next) => {
    const requestId = requestIdOf(c.req.header("x-request-id"), parts.ids);
    c.set("requestId", requestId);
    c.set("dialect", dialectOf(c.req.path));
    c.set("language", languageWanted(languageHeader(c)));
    c.header("x-request-id", requestId);
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
    return (await admit(c)) ?? next();
  });
  bindRoutes(app, handlers, { ...parts, tries, elsewhere });
  bindDocs(app, parts, bindWebApp(app, parts.webDir));
  bindSignInPages(app, parts, { tries, handOn });
  bindMcp(app, parts, handOn);
  refuseOtherMethods(app);
  app.notFound((c) => refuse(c, makeFailure("route_not_found", { path: c.req.path.slice(0, 200) })));
  app.onError((error, c) => {
    if (error instanceof StorageAway) return refuse(c, error.failure);
    const id = c.get("requestId");
    parts.logger?.(thrownLine(id, `${c.req.method} ${c.req.path}`, error));
    return refuse(c, makeFailure("internal", { id }));
  });
  return app;
}

/** Clients of the chat service name their language in a header of its own. */
function languageHeader(c: HttpCall): string | undefined {
  const own = ["chat", "operators"].includes(c.get("dialect")) ? c.req.header("x-language") : undefined;
  return own ?? c.req.header("accept-language");
}
