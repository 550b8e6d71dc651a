import { getPath } from "hono/utils/url";

/** The path by which a request finds its route: the internal names of the chat service and the operator platform are other names for the same. */
export function routedPath(request: Request): string {
  return getPath(request)
    .replace(/^(\/api\/agent-(?:app|factory))\/internal(?=\/v1\/)/, "$1")
    .replace(/^(\/api\/agent-operator-integration)\/internal-v1(?=\/)/, "$1/v1");
}
