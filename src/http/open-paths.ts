import { routes } from "../protocol/routes.ts";
import { descriptionPaths } from "./openapi.ts";

/** Pages that tell nothing about anybody. */
const pages = ["/sign-in", "/sign-in/oidc", "/sign-in/oidc/callback", ...descriptionPaths];

/** What needs no sign-in; all else does, also what nobody thought of. */
export const openPaths: ReadonlySet<string> = new Set([
  ...Object.values(routes).flatMap(({ scope, path }) => (scope === "open" ? [path] : [])),
  ...pages,
]);
