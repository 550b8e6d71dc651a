import type { Client } from "../client/client.ts";
import type { Decision } from "../protocol/resources.ts";
import type { Words } from "../words/words.ts";
import { decisionTitle } from "./decision-card.ts";
import { formatTime } from "./format.ts";
import { safeLine } from "./safe-text.ts";

type Parts = { readonly client: Client; readonly words: Words };

/** One line for each open decision, with its number and the title of its conversation. */
export async function inboxLines(items: readonly Decision[], { client, words }: Parts): Promise<string[]> {
  const { decision: texts, command } = words.terminal;
  const titles = await titlesOf(client, new Set(items.map(({ conversation }) => conversation)));
  return items.map((decision, index) => {
    const { conversation, at } = decision;
    return texts.inboxEntry({
      number: index + 1,
      what: decisionTitle(decision, words),
      conversation: conversation.slice(0, 8),
      title: titles.get(conversation) ?? command.untitled,
      at: formatTime(at),
    });
  });
}

async function titlesOf(client: Client, conversations: ReadonlySet<string>): Promise<Map<string, string>> {
  const titles = new Map<string, string>();
  for (const id of conversations) {
    const found = await client.call("getConversation", { params: { id }, query: {} });
    if (found.ok && found.value.title !== "") titles.set(id, safeLine(found.value.title, 40));
  }
  return titles;
}
