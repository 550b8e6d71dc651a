import { ok, type Result } from "../../base/result.ts";
import { chatTitleCharactersMax } from "../../protocol/chat-routes.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { ConversationId, type OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { callerOf } from "../caller.ts";
import { adoptConversation } from "../conversation-named.ts";
import type { Call, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import { answerDecision } from "./answer-decision.ts";
import type { Again, ChatWanted } from "./request.ts";
import { saidMessages } from "./said-messages.ts";

type ChatParts = Pick<Parts, "engine" | "log" | "storage" | "sandbox" | "ids" | "freshen">;
export type ChatCall = Pick<Call<"chatCompletion">, "caller" | "actsAs" | "once" | "language" | "signal" | "header">;

/** A message whose turn can be followed. */
export type BegunChat = {
  readonly conversation: ConversationRow;
  /** Its id. */
  readonly message: string;
  /** What the caller should know besides. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Everything up to the moment when the turn runs by itself: whose it is, where, by which agent, with what at hand. */
export async function beginChat(
  parts: ChatParts,
  call: ChatCall,
  wanted: ChatWanted,
): Promise<Result<BegunChat, Failure>> {
  const { userId, conversationId, agent, what } = wanted;
  const { caller, actsAs } = call;
  const owner = await callerOf(parts, { caller, userId, actsAs, conversationId });
  if (!owner.ok) return owner;
  const checked = await checkSelected(parts, call, { ...wanted, owner: owner.value });
  if (!checked.ok) return checked;
  const found = await conversationOf(parts, call, { ...wanted, owner: owner.value });
  if (!found.ok) return found;
  const conversation = found.value;
  const chosen = await parts.engine.chooseAgent(conversation, agent);
  if (!chosen.ok) return chosen;
  const session = await sessionFor(parts, call, { owner: owner.value, agentId: agent.agentId ?? chosen.value.id });
  // Whoever selected files wants them to be worked on.
  const selected = what.does === "decide" ? [] : (what.selected ?? []);
  if (!session.ok && selected.length > 0) return session;
  const message = await bringAbout(parts, call, conversation, wanted);
  if (!message.ok) return message;
  return ok({ conversation, message: message.value, headers: sessionHeader(session) });
}

type Located = Pick<ChatWanted, "conversationId" | "what" | "agent"> & { readonly owner: OwnerId };

/** Before anything is made: a chat that is refused for its files leaves nothing behind. */
async function checkSelected(
  { engine, log, storage }: ChatParts,
  { once }: ChatCall,
  { conversationId, what, owner }: Located,
): Promise<Result<void, Failure>> {
  const names = what.does === "decide" ? [] : (what.selected ?? []);
  const [first] = names;
  // A call that is repeated was looked at before, and its files may have gone since.
  if (first === undefined || once?.isRetry === true) return ok(undefined);
  const id = ConversationId.safeParse(conversationId);
  const row = id.success ? await log.find(owner, id.data) : undefined;
  if (row?.ok) return engine.checkSelected(row.value, names);
  const had = id.success ? await storage.ownersOfConversation(id.data, ownersMax) : [];
  const isRefused = id.success ? had.includes(owner) : conversationId !== undefined;
  // What is named wrongly, or was deleted, is said when it is looked for.
  if (isRefused || what.does === "again") return ok(undefined);
  // Nothing was uploaded to what is not there yet.
  return failure("selected_file_missing", { name: first.slice(0, nameCharactersShown) });
}

/** The one that is named, the caller's own from now on if nobody has used its id; else a new one. */
async function conversationOf(
  parts: ChatParts,
  call: ChatCall,
  { conversationId, what, agent, owner }: Located,
): Promise<Result<ConversationRow, Failure>> {
  if (what.does !== "say") return parts.log.find(owner, conversationId ?? "");
  const wanted = { title: chatTitle(what.text), agent };
  if (conversationId !== undefined) return adoptConversation(parts, owner, conversationId, wanted);
  const id = idFor(call, parts.ids, "conversation");
  const made = await parts.engine.create(owner, { ...wanted, id });
  return !made.ok && made.failure.code === "conversation_exists" ? parts.log.find(owner, id) : made;
}

const nameCharactersShown = 200;
/** Who may have had one of the same id. */
const ownersMax = 10;

/** The first characters of what was said, on one line. */
export function chatTitle(text: string): string {
  const beginning = text.trimStart().slice(0, titleLookedAt);
  return [...beginning.replaceAll(/\s+/g, " ").trimEnd()].slice(0, chatTitleCharactersMax).join("");
}

/** Characters of a text that may be long. */
const titleLookedAt = 1_000;

async function sessionFor(
  { sandbox, freshen }: ChatParts,
  { header, signal }: ChatCall,
  { owner, agentId }: { readonly owner: OwnerId; readonly agentId: string },
): ReturnType<Parts["sandbox"]["sessions"]["ensure"]> {
  await freshen();
  const businessDomain = header("x-business-domain")?.slice(0, domainCharactersMax) || undefined;
  return sandbox.sessions.ensure(owner, { agentId, businessDomain, signal });
}

const domainCharactersMax = 200;

/** Without a sandbox the chat goes on, and the caller is told so. */
function sessionHeader(session: Result<string, Failure>): Readonly<Record<string, string>> {
  return session.ok ? { "x-sandbox-session": session.value } : { "x-sandbox-error": session.failure.code };
}

async function bringAbout(
  parts: ChatParts,
  call: ChatCall,
  conversation: ConversationRow,
  wanted: ChatWanted,
): Promise<Result<string, Failure>> {
  const { what } = wanted;
  const { language } = call;
  const runId = wanted.runId ?? idFor(call, parts.ids, "run");
  switch (what.does) {
    case "decide":
      return answerDecision(parts, conversation, what, { isRetry: call.once?.isRetry === true });
    case "again":
      return sayAgain(parts, conversation, { ...what, run: runId, id: call.once && idFor(call, parts.ids, "again") });
    case "say": {
      const id = idFor(call, parts.ids, "message");
      const reply = idFor(call, parts.ids, "reply");
      const { does: _, selected, ...said } = what;
      const files = selected.length === 0 ? undefined : selected;
      const sent = await parts.engine.send(conversation, {
        ...{ ...said, id, reply, run: runId, selected: files, mode: "queue", language },
      });
      return sent.ok ? ok(id) : sent;
    }
  }
}

async function sayAgain(
  { engine, log }: ChatParts,
  conversation: ConversationRow,
  { user, assistant, text, selected, run, id }: Again & { readonly run: string; readonly id: string | undefined },
): Promise<Result<string, Failure>> {
  const { all } = await saidMessages(log, conversation);
  const place = all.find(({ message, reply }) => (user === undefined ? reply === assistant : message.id === user));
  if (place === undefined) return failure("message_not_found", { id: (user ?? assistant ?? "").slice(0, 80) });
  const cause = user === undefined ? "regenerate" : "edit";
  const said = await engine.sayAgain(conversation, place.message.id, { cause, text, selected, run, id });
  return said.ok ? ok(place.message.id) : said;
}
