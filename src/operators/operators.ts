import { inBackground, whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { type OwnerId, shownId } from "../protocol/ids.ts";
import { type ToolboxStorage, toldTopics } from "../storage/storage.ts";
import type { ToolSource } from "../tools/tools.ts";
import type { Secrets } from "../users/users.ts";
import { isForOthers, maySee } from "./access.ts";
import { type Boxes, type Held, openBoxes } from "./boxes.ts";
import { type CallAnswer, callTool, type GuardedFetch } from "./call.ts";
import { boxChanges } from "./changes.ts";
import type { ReadYaml } from "./document.ts";
import type { AddedTools, NewTools } from "./new-tools.ts";
import type { Box, BoxBody, BoxTool, Credential } from "./records.ts";
import { declaredOnly, type Envelope } from "./request.ts";
import { toolChanges, toolNotFound } from "./tool-changes.ts";
import { boxToolSource } from "./tool-source.ts";

export { type CallAnswer, callLimits, type GuardedFetch } from "./call.ts";
export type { ReadYaml } from "./document.ts";
export type { AddedTools, NewTools } from "./new-tools.ts";
export type { Box, BoxTool, Credential } from "./records.ts";

/** Who does something. Admins may let others in, and name hosts of private networks. */
export type Actor = { readonly owner: OwnerId; readonly isAdmin: boolean };

export type BoxWanted = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly server?: string | undefined;
  readonly category?: string | undefined;
  /** Null takes it away. */
  readonly credential?: Credential | null | undefined;
  readonly permitted?: BoxBody["permitted"] | undefined;
};

export type Seen = { readonly box: Box; readonly tools: readonly BoxTool[] };
type ToolStatus = BoxTool["status"];

/** Tool boxes: registered by users, used by them, by those they let in, and by their agents. */
export type Operators = ToolSource & {
  create(
    actor: Actor,
    id: string,
    wanted: BoxWanted,
    tools: NewTools | undefined,
  ): Promise<Result<AddedTools, Failure>>;
  /** All that a user may see, oldest first. */
  list(owner: OwnerId): readonly Seen[];
  find(owner: OwnerId, id: string): Result<Seen, Failure>;
  change(actor: Actor, id: string, wanted: BoxWanted): Promise<Result<Seen, Failure>>;
  setStatus(actor: Actor, id: string, status: BoxBody["status"]): Promise<Result<Seen, Failure>>;
  remove(actor: Actor, id: string): Promise<Result<void, Failure>>;
  addTools(actor: Actor, id: string, tools: NewTools): Promise<Result<AddedTools, Failure>>;
  setToolStatus(
    actor: Actor,
    id: string,
    wanted: readonly { id: string; status: ToolStatus }[],
  ): Promise<Result<void, Failure>>;
  removeTools(actor: Actor, id: string, tools: readonly string[]): Promise<Result<void, Failure>>;
  /** `isTrial`: its owner tries it out, published and enabled or not. */
  invoke(
    owner: OwnerId,
    wanted: { readonly box: string; readonly tool: string; readonly envelope: Envelope; readonly isTrial?: boolean },
    signal: AbortSignal,
  ): Promise<Result<CallAnswer, Failure>>;
};

export type OperatorParts = {
  readonly storage: ToolboxStorage;
  readonly secrets: Secrets;
  readonly fetch: GuardedFetch;
  readonly readYaml: ReadYaml;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, "error">;
};

/** What everything here is done with. */
export type Desk = {
  readonly parts: OperatorParts;
  readonly boxes: Boxes;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  seen(owner: OwnerId, id: string): Result<Seen, Failure>;
  /** Whoever may only use it hears whose it is. */
  owned(actor: Actor, id: string): Result<Seen, Failure>;
  /** For a change: one that reaches the agents of others is an admin's. */
  forChange(actor: Actor, id: string): Result<Seen, Failure>;
};

export async function openOperators(parts: OperatorParts): Promise<Operators> {
  const { storage, logger } = parts;
  const boxes = await openBoxes({
    storage,
    onBroken: (what) => logger.error("a tool box cannot be read and is left out: {box} {tool}", { tool: "", ...what }),
  });
  const desk: Desk = { parts, boxes, inTurn: openQueue(), ...openLook(boxes) };
  storage.onTold(({ topic }) => {
    if (topic !== toldTopics.toolboxes && topic !== toldTopics.gap) return;
    void inBackground(logger, "tool boxes could not be read again", desk.inTurn(boxes.readAgain));
  });
  const invoke = openInvoke(desk);
  return {
    ...boxToolSource(boxes, invoke),
    ...boxChanges(desk),
    ...toolChanges(desk),
    invoke,
    find: desk.seen,
    list: (owner) =>
      boxes
        .all()
        .filter(({ box }) => maySee(box, owner))
        .map(toSeen),
  };
}

function toSeen({ box, tools }: Held): Seen {
  return { box, tools: [...tools.values()] };
}

function openLook(boxes: Boxes): Pick<Desk, "seen" | "owned" | "forChange"> {
  const seen: Desk["seen"] = (owner, id) => {
    const held = boxes.find(id);
    if (held === undefined || !maySee(held.box, owner)) return failure("toolbox_not_found", { id: shownId(id) });
    return ok(toSeen(held));
  };
  const owned: Desk["owned"] = ({ owner }, id) => {
    const found = seen(owner, id);
    if (!found.ok || found.value.box.owner === owner) return found;
    return failure("toolbox_of_another", { id: shownId(id) });
  };
  return {
    ...{ seen, owned },
    forChange(actor, id) {
      const found = owned(actor, id);
      if (!found.ok || actor.isAdmin || !isForOthers(found.value.box)) return found;
      return failure("scope_missing", { scope: "admin" });
    },
  };
}

function openInvoke({ parts, seen, owned }: Desk): Operators["invoke"] {
  return async (owner, { box: id, tool: toolId, envelope, isTrial = false }, signal) => {
    const found = isTrial ? owned({ owner, isAdmin: false }, id) : seen(owner, id);
    if (!found.ok) return found;
    const { box, tools } = found.value;
    const tool = tools.find((one) => one.id === toolId);
    if (tool === undefined) return toolNotFound(toolId);
    const why = box.status !== "published" ? box.status : tool.status === "disabled" ? "disabled" : undefined;
    if (!isTrial && why !== undefined) return failure("toolbox_off", { why });
    const sent = box.owner === owner ? envelope : declaredOnly(tool.operation, envelope);
    return callTool(parts, { box, tool, envelope: sent }, signal);
  };
}

/** One change after the other: each rests on what the one before left. */
function openQueue(): Desk["inTurn"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = whenOver(mine);
    return mine;
  };
}
