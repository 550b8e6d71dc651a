import assert from "node:assert/strict";
import { test } from "node:test";
import { routedPath } from "./routed-path.ts";

test("the internal names of the chat service and the operator platform lead to the same routes, and only those [C1][T4]", () => {
  const paths = {
    "/api/agent-app/internal/v1/app/a/chat/completion": "/api/agent-app/v1/app/a/chat/completion",
    "/api/agent-factory/internal/v1/app/a": "/api/agent-factory/v1/app/a",
    "/api/agent-operator-integration/internal-v1/tool-box": "/api/agent-operator-integration/v1/tool-box",
    "/api/agent-app/v1/app/internal/v1/x": "/api/agent-app/v1/app/internal/v1/x",
    "/api/agent-app/internal/v2/app/a": "/api/agent-app/internal/v2/app/a",
    "/api/agent-app/internal/v1": "/api/agent-app/internal/v1",
    "/api/agent-other/internal/v1/app": "/api/agent-other/internal/v1/app",
    "/api/agent-operator-integration/internal-v1": "/api/agent-operator-integration/internal-v1",
    "/x/api/agent-app/internal/v1/app": "/x/api/agent-app/internal/v1/app",
  };
  const routed = Object.keys(paths).map((path) => [path, routedPath(new Request(`http://here${path}?a=b`))]);
  assert.deepEqual(Object.fromEntries(routed), paths);
});
