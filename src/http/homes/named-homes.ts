import type { HomeKey } from "../../homes/homes.ts";
import { given } from "../chat/request.ts";
import { placeNamed } from "../conversation-named.ts";
import type { Call } from "../handler.ts";
import { readCallId, readResponseId } from "../openai/ids.ts";
import { resultsAtEnd, type Sent, sentInChat, sentInResponse } from "../openai/sent.ts";
import { sandboxBoxId } from "../operators/sandbox-box.ts";
import { readMetadata } from "../routes/resumable-uploads.ts";
import { filePlace, isBareName } from "../sandbox/file-place.ts";
import { type Seeking, wantedPlace } from "../sandbox/seek-file.ts";
import { sessionNamed } from "../sandbox/session-wanted.ts";
import { conversationKey, type FindHome, type HomeParts, keyOfNamed, ofYard, userKey } from "./find-home.ts";

type By = Pick<Call<"chatCompletion">, "caller" | "actsAs">;

type InBody = By & {
  readonly body: { readonly user_id?: string | null | undefined; readonly conversation_id?: string | null | undefined };
};
type InPath = By & {
  readonly params: { readonly id: string };
  readonly body: { readonly user_id?: string | null | undefined };
};

/** The chat service's calls name it in the body; one that names none begins wherever it is. */
export const ofChat: FindHome<InBody> = (parts, { caller, actsAs, body }) => {
  const conversationId = given(body.conversation_id);
  if (conversationId === undefined) return undefined;
  return keyOfNamed(parts, { caller, actsAs, userId: given(body.user_id), conversationId });
};

export const ofChatConversation: FindHome<InPath> = (parts, { caller, actsAs, params, body }) =>
  keyOfNamed(parts, { caller, actsAs, userId: given(body.user_id), conversationId: params.id });

export const ofCompletion: FindHome<Call<"createChatCompletion">> = (parts, call) => {
  const named = call.body.conversation_id ?? call.header("x-conversation-id");
  return ofAnswered(parts, call, named ?? waitingIn(sentInChat(call.body.messages)));
};

export const ofNewResponse: FindHome<Call<"createResponse">> = (parts, call) => {
  const { conversation, conversation_id, previous_response_id: previous } = call.body;
  const named = typeof conversation === "string" ? conversation : conversation?.id;
  const before = previous == null ? undefined : readResponseId(previous)?.conversation;
  const told = named ?? conversation_id ?? call.header("x-conversation-id") ?? before;
  return ofAnswered(parts, call, told ?? waitingIn(sentInResponse(call.body)));
};

export const ofResponse: FindHome<By & { readonly params: { readonly id: string } }> = (parts, call) =>
  ofAnswered(parts, call, readResponseId(call.params.id)?.conversation);

function ofAnswered(parts: HomeParts, { caller, actsAs }: By, conversationId?: string | null) {
  return conversationId == null ? undefined : keyOfNamed(parts, { caller, actsAs, conversationId });
}

/** The results of a function name the turn that waits for them. */
function waitingIn(sent: ReturnType<typeof sentInChat>): string | undefined {
  const messages: Sent["messages"] = sent.ok ? sent.value.messages : [];
  const [result] = resultsAtEnd(messages);
  return result === undefined ? undefined : readCallId(result.toolCallId)?.conversation;
}

export const ofNewSession: FindHome<Call<"createSession">> = (parts, { caller, actsAs, body }) =>
  keyOfNamed(parts, { caller, actsAs, userId: body.user_id ?? undefined, sessionId: sessionNamed(body) });

/** What belongs to a session as a whole. */
export const ofSession: FindHome<By & { readonly params: { readonly id: string } }> = (parts, call) =>
  keyOfNamed(parts, { caller: call.caller, actsAs: call.actsAs, sessionId: call.params.id });

export const ofReset: FindHome<Call<"resetSession">> = (parts, { caller, actsAs, params, query, body, header }) => {
  const named = body.conversation_id ?? query.conversation_id ?? header("conversation_id");
  const conversationId = named ?? header("x-conversation-id");
  const userId = body.user_id ?? undefined;
  return keyOfNamed(parts, { caller, actsAs, userId, sessionId: params.id, conversationId });
};

type Execute = Pick<Call<"execute">, "actsAs" | "caller" | "params" | "query" | "body" | "header">;

export const ofNewExecution: FindHome<Execute> = (parts, call) => {
  const { caller, actsAs, params, body } = call;
  const named = placeNamed(call);
  if (!named.ok) return undefined;
  const userId = body.user_id ?? undefined;
  return keyOfNamed(parts, { caller, actsAs, userId, sessionId: params.id, conversationId: named.value.id });
};

/** Where the conversation is in which it ran, else where its user is. */
export const ofExecution: FindHome<By & { readonly params: { readonly id: string } }> = async (parts, call) => {
  const { storage, sandbox } = parts;
  const owner = await storage.ownerOfExecution(call.params.id);
  if (owner === undefined) return undefined;
  const record = await sandbox.executions.find(owner, call.params.id);
  return (await conversationKey(storage, owner, record?.conversationId)) ?? userKey(owner);
};

/** A file is where the conversation is whose it is: named beside the path, or first in it. */
export const ofFile: FindHome<Seeking & { readonly path?: string | undefined }> = (parts, call) => {
  const { caller, actsAs, params, path } = call;
  const wanted = { ...wantedPlace(call), path };
  const place = isElsewhere(wanted) ? undefined : filePlace(wanted);
  const conversationId = place?.ok === true ? place.value.conversationId : undefined;
  return keyOfNamed(parts, { caller, actsAs, sessionId: params.id, conversationId });
};

/** A name without a conversation is looked for in all of them. */
function isElsewhere({
  conversationId,
  path,
}: {
  readonly conversationId?: string | undefined;
  path?: string | undefined;
}) {
  return conversationId === undefined && (path === undefined || isBareName(path));
}

type AtPath = Seeking & { readonly params: { readonly id: string; readonly path: string } };

export const ofFileAtPath: FindHome<AtPath> = (parts, call) => ofFile(parts, { ...call, path: call.params.path });

export const ofListedFiles: FindHome<Call<"listSandboxFiles">> = (parts, call) =>
  ofFile(parts, { ...call, path: call.query.path });

/** By what stands beside a form. What stands in it is known when it was read. */
export const ofForm: FindHome<Call<"uploadSandboxFile">> = (parts, call) => keyOfForm(parts, call, new Map());

export function keyOfForm(
  parts: HomeParts,
  call: Call<"uploadSandboxFile">,
  fields: ReadonlyMap<string, string>,
): Promise<HomeKey | undefined> {
  const { caller, actsAs, params, query } = call;
  const place = filePlace({ ...wantedPlace(call, fields), path: query.path || fields.get("path") || undefined });
  const conversationId = place.ok ? place.value.conversationId : undefined;
  return keyOfNamed(parts, { caller, actsAs, userId: fields.get("user_id"), sessionId: params.id, conversationId });
}

/** Whether it is clear without the form itself. */
export function isNamedBeside(call: Call<"uploadSandboxFile">): boolean {
  return wantedPlace(call).conversationId !== undefined;
}

export const ofNewUpload: FindHome<Call<"createUpload">> = (parts, call) => {
  const fields = readMetadata(call.header("upload-metadata") ?? "");
  const { conversationId } = wantedPlace(call, fields);
  const { caller, actsAs, params } = call;
  return keyOfNamed(parts, { caller, actsAs, sessionId: params.id, conversationId });
};

/** What has come of it lies where all servers see it. */
export const ofUpload: FindHome<{ readonly params: { readonly upload: string } }> = async (parts, { params }) => {
  const found = await parts.workspaces.incoming.find(params.upload);
  const upload = found.ok ? found.value : undefined;
  if (upload === undefined) return undefined;
  return (await conversationKey(parts.storage, upload.owner, upload.conversationId)) ?? userKey(upload.owner);
};

export const ofTrash: FindHome<Call<"restoreTrash">> = async ({ storage, workspaces }, { owner, params }) => {
  const found = (await workspaces.trash(owner)).find(({ id }) => id.startsWith(params.trash));
  return conversationKey(storage, owner, found?.conversation);
};

/** The sandbox's own box runs code for the caller; all others are the yard's. */
export const ofBoxCall: FindHome<Call<"invokeTool"> | Call<"debugTool">> = async (parts, call) => {
  if (call.params.box_id !== sandboxBoxId) return ofYard(parts, call);
  const { query, path, body } = call.body;
  const { conversation_id: id }: { conversation_id?: unknown } = { ...query, ...path, ...Object(body) };
  const key = typeof id === "string" ? await conversationKey(parts.storage, call.owner, id) : undefined;
  return key ?? userKey(call.owner);
};
