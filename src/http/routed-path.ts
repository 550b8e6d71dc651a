import { getPath } from "hono/utils/url";

/** The path by which a request finds its route: the chat service's internal names are other names for the same. */
export function routedPath(request: Request): string {
  return getPath(request).replace(/^(\/api\/agent-(?:app|factory))\/internal(?=\/v1\/)/, "$1");
}
