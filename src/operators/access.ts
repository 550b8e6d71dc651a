import type { OwnerId } from "../protocol/ids.ts";
import type { Box } from "./records.ts";

/** Whoever registered it, and those whom they let in once it is published; for everybody else it does not exist. */
export function maySee(box: Box, user: OwnerId): boolean {
  return box.owner === user || (box.status !== "unpublish" && mayUse(box, user));
}

export function mayUse({ owner, permitted }: Box, user: OwnerId): boolean {
  return owner === user || permitted.all || permitted.users.includes(user);
}

/** Others than whoever registered it may use it: what it says and where it leads reaches their agents. */
export function isForOthers({ owner, permitted }: Pick<Box, "owner" | "permitted">): boolean {
  return permitted.all || permitted.users.some((user) => user !== owner);
}
