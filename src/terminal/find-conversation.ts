import { ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Conversation } from "../protocol/resources.ts";
import type { TerminalWords } from "../words/words.ts";
import type { GoingOn } from "./command-line.ts";

/** The newest conversation, or the one whose id begins so. */
export async function findConversation(
  client: Client,
  going: GoingOn,
  words: TerminalWords,
): Promise<Result<Conversation, ClientFailure | Failure<"usage">>> {
  if (going !== "newest") {
    return client.call("getConversation", { params: { id: going.id }, query: { prefix: true } });
  }
  const listed = await client.call("listConversations", { query: { limit: 1 } });
  if (!listed.ok) return listed;
  const [newest] = listed.value.items;
  return newest === undefined ? failure("usage", { what: words.usage.noConversation() }) : ok(newest);
}
