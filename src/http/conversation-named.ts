import { ok, type Result } from "../base/result.ts";
import type { NewConversationInput } from "../loop/loop.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { ConversationId, type OwnerId } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Call, Parts } from "./handler.ts";

type Execute = Pick<Call<"execute">, "body" | "query" | "header">;

/** The conversation that a program is to see, and the folder it starts in. */
export type NamedPlace = { readonly id: string | undefined; readonly folder: string | undefined };

/** Which conversation an execution names: by its field, wherever that stands, or else by where it wants to work. */
export function placeNamed({ body, query, header }: Execute): Result<NamedPlace, Failure<"bad_request">> {
  const { conversation_id: inEvent } = body.event ?? {};
  const id =
    body.conversation_id ??
    query.conversation_id ??
    header("conversation_id") ??
    header("x-conversation-id") ??
    (typeof inEvent === "string" ? inEvent : undefined);
  const folder = body.working_directory ?? "";
  const [root, ...below] = folder
    .replace(/^\/workspace(?=\/|$)/, "")
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (folder.startsWith("/") && !/^\/workspace(\/|$)/.test(folder)) return misplaced("is not below /workspace");
  if (root === undefined) return ok({ id, folder: undefined });
  const inside = [root, ...below].join("/");
  if (ownFolders.includes(root))
    return id === undefined ? misplaced("needs conversation_id") : ok({ id, folder: inside });
  if (id === undefined || id === root)
    return ok({ id: root, folder: below.length === 0 ? undefined : below.join("/") });
  return folder.startsWith("/") ? misplaced("is another conversation's") : ok({ id, folder: inside });
}

const ownFolders = ["uploads", "outputs", "temp", "skills"];

function misplaced(why: string) {
  return failure("bad_request", { what: `body.working_directory: ${why}` });
}

/** A conversation of the caller; an id that nobody has used becomes one of theirs, one that was deleted stays gone. */
export async function adoptConversation(
  { engine, log }: Pick<Parts, "engine" | "log">,
  owner: OwnerId,
  id: string,
  wanted: Pick<NewConversationInput, "title" | "agent"> = {},
): Promise<Result<ConversationRow, Failure>> {
  if (!ConversationId.safeParse(id).success)
    return failure("bad_request", { what: "conversation_id", rule: "conversation_id" });
  const found = await log.find(owner, id);
  if (found.ok) return found;
  const made = await engine.create(owner, { ...wanted, id });
  // Two that come at once mean the same one.
  return !made.ok && made.failure.code === "conversation_exists" ? log.find(owner, id) : made;
}
