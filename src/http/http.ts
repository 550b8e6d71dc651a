import { Hono } from "hono";
import { makeFailure } from "../protocol/failure.ts";
import { bindRoutes, refuseOtherMethods } from "./bind.ts";
import { languageWanted, requestIdOf } from "./caller.ts";
import { type App, isLocal } from "./door.ts";
import type { Handlers, Parts } from "./handler.ts";
import { describeApi, descriptionPath } from "./openapi.ts";
import { isFromHere } from "./origin.ts";
import { faultLine, refuse } from "./problem.ts";
import { checkpointHandlers } from "./routes/checkpoints.ts";
import { compactionHandlers } from "./routes/compactions.ts";
import { conversationHandlers } from "./routes/conversations.ts";
import { decisionHandlers } from "./routes/decisions.ts";
import { eventHandlers } from "./routes/events.ts";
import { executionHandlers } from "./routes/executions.ts";
import { fileHandlers } from "./routes/files.ts";
import { healthHandlers } from "./routes/health.ts";
import { memoryHandlers } from "./routes/memory.ts";
import { messageHandlers } from "./routes/messages.ts";
import { modelHandlers } from "./routes/models.ts";
import { resumableUploadHandlers } from "./routes/resumable-uploads.ts";
import { ruleHandlers } from "./routes/rules.ts";
import { sandboxFileHandlers } from "./routes/sandbox-files.ts";
import { sessionHandlers } from "./routes/sessions.ts";
import { templateHandlers } from "./routes/templates.ts";
import { workspaceHandlers } from "./routes/workspaces.ts";

export type { App } from "./door.ts";
export { listen } from "./server.ts";

/** The HTTP app: every route of the one table, one error shape, one place that catches everything. */
export function createApp(parts: Parts): App {
  const handlers: Handlers = {
    ...healthHandlers(parts),
    ...conversationHandlers(parts),
    ...checkpointHandlers(parts),
    ...compactionHandlers(parts),
    ...memoryHandlers(parts),
    ...messageHandlers(parts),
    ...fileHandlers(parts),
    ...workspaceHandlers(parts),
    ...decisionHandlers(parts),
    ...ruleHandlers(parts),
    ...eventHandlers(parts),
    ...modelHandlers(parts),
    ...sessionHandlers(parts),
    ...executionHandlers(parts),
    ...templateHandlers(parts),
    ...sandboxFileHandlers(parts),
    ...resumableUploadHandlers(parts),
  };
  const app: App = new Hono();
  app.use(async (c, next) => {
    const requestId = requestIdOf(c.req.header("x-request-id"), parts.ids);
    c.set("requestId", requestId);
    c.set("language", languageWanted(c.req.header("accept-language")));
    c.header("x-request-id", requestId);
    c.header("cache-control", "no-store");
    if (isLocal(c) || isFromHere(c.req.raw, parts.trustedHosts ?? [])) return next();
    return refuse(c, makeFailure("forbidden_origin", {}));
  });
  bindRoutes(app, handlers, parts.logger);
  bindDescription(app, parts.version);
  refuseOtherMethods(app);
  app.notFound((c) => refuse(c, makeFailure("route_not_found", { path: c.req.path.slice(0, 200) })));
  app.onError((error, c) => {
    const id = c.get("requestId");
    parts.logger?.(faultLine(id, `${c.req.method} ${c.req.path}`, error));
    return refuse(c, makeFailure("internal", { id }));
  });
  return app;
}

function bindDescription(app: App, version: string): void {
  let description: string | undefined;
  app.get(descriptionPath, (c) => {
    description ??= JSON.stringify(describeApi(version));
    return c.body(description, 200, { "content-type": "application/json" });
  });
}
