import { ok, type Result } from "../base/result.ts";
import type { CallAnswer, Client, ClientFailure } from "../client/client.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Conversation } from "../protocol/resources.ts";
import type { TerminalWords } from "../words/words.ts";
import type { GoingOn } from "./command-line.ts";

/** The newest conversation in which something was said, or the one whose id begins so. */
export async function findConversation(
  client: Client,
  going: GoingOn,
  words: TerminalWords,
): Promise<Result<Conversation, ClientFailure | Failure<"usage">>> {
  if (going !== "newest") {
    return client.call("getConversation", { params: { id: going.id }, query: { prefix: true } });
  }
  let before: string | null | undefined;
  while (before !== null) {
    const listed: Result<CallAnswer<"listConversations">, ClientFailure> = await client.call("listConversations", {
      query: { before },
    });
    if (!listed.ok) return listed;
    for (const conversation of listed.value.items) if (await isBegun(client, conversation)) return ok(conversation);
    before = listed.value.next;
  }
  return failure("usage", { what: words.usage.noConversation() });
}

/** A first turn that was interrupted is not counted yet. */
async function isBegun(client: Client, { id, turns }: Conversation): Promise<boolean> {
  if (turns > 0) return true;
  const state = await client.call("getState", { params: { id } });
  return state.ok && (state.value.status !== "idle" || state.value.queue.length > 0);
}
