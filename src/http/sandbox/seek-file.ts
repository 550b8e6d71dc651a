import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { ConversationId, type OwnerId } from "../../protocol/ids.ts";
import type { UploadPolicy } from "../../protocol/upload-policy.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { parsePath, shownPath, type Workspace } from "../../workspace/workspace.ts";
import { adoptConversation } from "../conversation-named.ts";
import type { Call, Parts } from "../handler.ts";
import { filePlace, type PlaceWanted, temparea } from "./file-place.ts";
import { ownSession } from "./own-session.ts";

/** A place in a conversation of the caller. */
export type Sought = {
  readonly owner: OwnerId;
  readonly sessionId: string;
  /** What may be uploaded in this session. */
  readonly policy: UploadPolicy;
  readonly row: ConversationRow;
  readonly workspace: Workspace;
  /** Below the conversation's folder. */
  readonly path: string;
};

/** The part of a call by which it is known who asks for what. */
export type Seeking = Pick<Call<"removeSandboxFile">, "actsAs" | "caller" | "header"> & {
  readonly params: { readonly id: string };
  readonly query: { readonly conversation_id?: string | undefined; readonly subdir?: string | undefined };
};

/** What the request says about the place beside its path: in the query, in `fields` or in headers. */
export function wantedPlace({ query, header }: Seeking, fields: ReadonlyMap<string, string> = new Map()): PlaceWanted {
  return {
    conversationId:
      query.conversation_id ??
      fields.get("conversation_id") ??
      header("conversation_id") ??
      header("x-conversation-id"),
    subdir: query.subdir ?? fields.get("subdir") ?? header("subdir") ?? header("x-subdir"),
  };
}

/** A place to look at: nothing is made. */
export async function seekFile(parts: Parts, call: Seeking, wanted: PlaceWanted): Promise<Result<Sought, Failure>> {
  const place = filePlace(wanted);
  if (!place.ok) return place;
  const { conversationId, path } = place.value;
  const session = await useSession(parts, call, { conversationId });
  if (!session.ok) return session;
  const row = await findConversation(parts, session.value.owner, conversationId);
  return row.ok ? ok(soughtIn(parts, session.value, row.value, path)) : row;
}

/** A place to put something: a conversation that nobody has had so far becomes the caller's. */
export async function seekRoom(
  parts: Parts,
  call: Seeking,
  wanted: PlaceWanted & { readonly userId?: string | undefined },
): Promise<Result<Sought, Failure>> {
  const place = filePlace(wanted);
  if (!place.ok) return place;
  const { conversationId, path } = place.value;
  const refused = unwritable(path);
  if (refused !== undefined) return refused;
  const session = await useSession(parts, call, { conversationId, userId: wanted.userId });
  if (!session.ok) return session;
  const row = await adoptConversation(parts, session.value.owner, conversationId);
  return row.ok ? ok(soughtIn(parts, session.value, row.value, path)) : row;
}

/** Told before a conversation is adopted for it. */
function unwritable(path: string) {
  const names = parsePath(path);
  if (!names.ok) return names;
  const [first = ".", ...below] = names.value;
  if (["uploads", "outputs", "temp"].includes(first)) return undefined;
  const folder = below.length === 0 ? "." : shownPath(first);
  return failure("permission_denied", { path: shownPath(path), folder, why: "not_writable" });
}

/** A bare name, in whichever temparea of the caller has it: there must not be two. */
export async function seekBareName(parts: Parts, call: Seeking, name: string): Promise<Result<Sought, Failure>> {
  const session = await useSession(parts, call, {});
  if (!session.ok) return session;
  const names = parsePath(name);
  if (!names.ok) return names;
  const path = `${temparea}/${name}`;
  const found: Sought[] = [];
  for await (const row of conversationsOf(parts, session.value.owner)) {
    const sought = soughtIn(parts, session.value, row, path);
    if ((await sought.workspace.stat(path)).ok) found.push(sought);
    if (found.length > shownMax) break;
  }
  const [first, second] = found;
  if (second !== undefined) {
    const conversations = found.map(({ row }) => row.id).slice(0, shownMax);
    return failure("file_ambiguous", { name: shownPath(name), conversations: conversations.join(", ") });
  }
  if (first !== undefined) return ok(first);
  const row = await findConversation(parts, session.value.owner, name);
  return row.ok
    ? ok(soughtIn(parts, session.value, row.value, "."))
    : failure("file_not_found", { path: shownPath(name), near: "" });
}

const shownMax = 10;
/** A name is looked for in so many conversations, those that changed last. */
const conversationsMax = 1_000;
const pageRows = 100;

async function* conversationsOf({ log }: Parts, owner: OwnerId): AsyncGenerator<ConversationRow, void> {
  let before: string | undefined;
  for (let seen = 0; seen < conversationsMax; seen += pageRows) {
    const rows = await log.list(owner, { limit: pageRows, before });
    yield* rows;
    before = rows.at(-1)?.cursor;
    if (rows.length < pageRows) return;
  }
}

type Used = { readonly owner: OwnerId; readonly sessionId: string; readonly policy: UploadPolicy };

/** The caller and their session, whose time begins anew. Files are there also where no code can be run. */
export async function useSession(
  parts: Parts,
  { actsAs, caller, params }: Pick<Seeking, "actsAs" | "caller" | "params">,
  named: { readonly conversationId?: string | undefined; readonly userId?: string | undefined },
): Promise<Result<Used, Failure>> {
  const own = await ownSession(parts, { caller, actsAs, sessionId: params.id, ...named });
  if (!own.ok) return own;
  const { owner } = own.value;
  const used = await parts.sandbox.sessions.use(owner);
  const session = used.ok ? used.value : own.value.session;
  const policy = { ...(session?.uploads ?? parts.sandboxSettings().uploads), settings };
  return ok({ owner, sessionId: session?.id ?? `sb-session-${owner}`, policy });
}

const block = "sandbox_platform.file_upload_config";
/** What to change for uploads over these routes. */
export const settings = {
  fileBytesMax: `${block}.max_file_size`,
  filesMax: `${block}.max_file_count`,
  types: `${block}.allowed_file_types`,
};

async function findConversation({ log }: Parts, owner: OwnerId, id: string): Promise<Result<ConversationRow, Failure>> {
  if (!ConversationId.safeParse(id).success)
    return failure("bad_request", { what: "conversation_id", rule: "conversation_id" });
  return log.find(owner, id);
}

function soughtIn({ workspaces }: Parts, used: Used, row: ConversationRow, path: string): Sought {
  return { ...used, row, workspace: workspaces.ofConversation(row), path };
}
