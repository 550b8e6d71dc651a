import { ok, type Result } from "../../base/result.ts";
import type { AgentNamed, OutgoingMessage } from "../../loop/loop.ts";
import type { ChatBody } from "../../protocol/chat-routes.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import { hasVisible } from "../../protocol/message.ts";

/** What a chat is asked for, in our own words. */
export type ChatWanted = {
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  readonly agent: AgentNamed;
  /** The id that the caller gives this turn. */
  readonly runId: string | undefined;
  readonly what: Saying | Again | Deciding;
  readonly shown: ChatShown;
};

/** How the answer is to come. */
export type ChatShown = {
  readonly streams: boolean;
  readonly increments: boolean;
  readonly progress: boolean;
};

/** Something new. */
type Saying = { readonly does: "say" } & Pick<
  OutgoingMessage,
  "text" | "instead" | "inputs" | "callerPart" | "slot"
> & {
    readonly selected: readonly string[];
  };

/** Something that was said before; `text` and `selected` where they are other ones. */
export type Again = {
  readonly does: "again";
  /** Which message: that of the user, or the one that answered it. */
  readonly user?: string | undefined;
  readonly assistant?: string | undefined;
  readonly text?: string | undefined;
  readonly selected?: readonly string[] | undefined;
};

/** The answer to something that was asked in the middle of a turn. */
export type Deciding = {
  readonly does: "decide";
  readonly decision: string;
  readonly skips: boolean;
  readonly changed: readonly (readonly [name: string, value: unknown])[];
  /** What the person said besides. */
  readonly text: string;
  /** The message that was interrupted, for whoever wants to be sure. */
  readonly assistant: string | undefined;
};

type Said = Pick<ChatBody, "query" | "selected_files" | "history" | "custom_querys" | "custom_queries"> & Retired;
type Retired = Pick<ChatBody, "temporary_area_id" | "temp_files">;

/** A body of the chat routes, checked beyond its schema. `streams`: whether it does unless the caller says so. */
export function chatWanted(
  body: ChatBody & { readonly input?: Said | null | undefined },
  { appKey, streams }: { readonly appKey: string | undefined; readonly streams: boolean },
): Result<ChatWanted, Failure> {
  const said = body.input ?? body;
  const retired = retiredField(body) ?? retiredField(said);
  if (retired !== undefined) return failure("field_retired", { field: retired, instead: "selected_files" });
  const what = whatIsDone(body, said);
  if (!what.ok) return what;
  return ok({
    userId: given(body.user_id),
    conversationId: given(body.conversation_id),
    agent: { agentId: given(body.agent_id), agentKey: given(body.agent_key), appKey },
    runId: given(body.agent_run_id),
    what: what.value,
    shown: chatShown(body, streams),
  });
}

export function chatShown(
  { stream, inc_stream, chat_option }: Pick<ChatBody, "stream" | "inc_stream" | "chat_option">,
  streams: boolean,
): ChatShown {
  return {
    streams: stream ?? streams,
    increments: inc_stream ?? true,
    progress: chat_option?.is_need_progress ?? true,
  };
}

/** A text that says something; clients send empty ones for what they leave out. */
export function given(text: string | null | undefined): string | undefined {
  return text === null || text === "" ? undefined : text;
}

function retiredField(said: Retired): string | undefined {
  const names = ["temporary_area_id", "temp_files"] as const;
  return names.find((name) => said[name] !== undefined && said[name] !== null && said[name] !== "");
}

function whatIsDone(body: ChatBody, said: Said): Result<ChatWanted["what"], Failure> {
  const text = said.query ?? "";
  const selected = said.selected_files?.map((file) => file.file_name);
  const resumed = body.resume_interrupt_info;
  if (resumed != null) {
    const { resume_handle: handle, action, modified_args: changed } = resumed;
    return ok({
      ...{ does: "decide", decision: handle.resume_token, skips: action === "skip", text },
      changed: (changed ?? []).map(({ key, value }) => [key, value]),
      assistant: given(body.interrupted_assistant_message_id),
    });
  }
  const assistant = given(body.regenerate_assistant_message_id);
  if (assistant !== undefined) return ok({ does: "again", assistant });
  if (!hasVisible(text)) return failure("bad_request", { what: "body.query", rule: "missing" });
  const user = given(body.regenerate_user_message_id);
  if (user !== undefined) return ok({ does: "again", user, text, selected });
  const slot = body.chat_mode === "deep_thinking" ? "reasoning" : undefined;
  return ok({ does: "say", text, selected: selected ?? [], slot, inputs: inputsOf(said), ...historyOf(body, said) });
}

/** They name parts of a call themselves. */
const reservedInputs = new Set(["history", "query", "header", "tool", "self_config"]);

function inputsOf({ custom_querys, custom_queries }: Said): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(custom_querys ?? custom_queries ?? {}).filter(([name]) => !reservedInputs.has(name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Sent along, it stands in place of the stored one; whoever wants none gets none. */
function historyOf({ chat_option }: ChatBody, { history }: Said): Pick<OutgoingMessage, "instead" | "callerPart"> {
  const sent = (history ?? []).map(({ role, content }) => ({ role, text: content ?? "" }));
  const spoken = sent.filter(({ text }) => hasVisible(text));
  if (spoken.length === 0) return { instead: chat_option?.is_need_history === false ? [] : undefined };
  const instructions = spoken.filter(({ role }) => role === "system").map(({ text }) => text);
  return {
    instead: spoken.flatMap(({ role, text }): GivenMessage[] => (role === "system" ? [] : [{ role, text }])),
    callerPart: instructions.length === 0 ? undefined : { instructions: instructions.join("\n\n") },
  };
}
