import type { Tree } from "../../log/log.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { Parts } from "../parts.ts";
import { nextOf } from "../turn.ts";

type Needed = Pick<Parts, "limits" | "clock" | "models" | "agents" | "toolkit" | "approvals">;

/** Whether any agent of a conversation has something to do that needs no person. */
export function isAtWork({ root, agents }: Tree, parts: Needed, owner: OwnerId): boolean {
  return [root, ...agents.values()].some((history) => {
    const next = nextOf(history, parts, owner);
    return next !== "wait" && next !== "rest";
  });
}

/** Whether a person is asked something that has no answer yet. */
export function isAsking({ root, agents }: Tree): boolean {
  return [root, ...agents.values()].some(({ decisions }) =>
    [...decisions.values()].some(({ made }) => made === undefined),
  );
}
