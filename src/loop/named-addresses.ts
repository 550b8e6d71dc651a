import type { Message } from "../protocol/message.ts";
import { addressesIn, comparable } from "../web/web.ts";
import { dataBlocksIn } from "../words/words.ts";

/** Whose results come from the web itself: what stands there was known out there before. */
const webTools: ReadonlySet<string> = new Set([
  "fetch_web",
  "web_search",
  "google_search",
  "jina_reader",
  "http_fetch",
]);

/**
 * Whether a call names an address that the user wrote, or that a page or a search brought up. The results of programs and
 * files do not count: an agent can have them say anything.
 */
export function isNamedAddress(messages: readonly Message[], given: Readonly<Record<string, unknown>>): boolean {
  const wanted = typeof given.url === "string" ? comparable(given.url) : undefined;
  if (wanted === undefined) return false;
  const ofWeb = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant")
      for (const { id, name } of message.toolCalls ?? []) if (webTools.has(name)) ofWeb.add(id);
    if (textsOf(message, ofWeb).includes(wanted)) return true;
  }
  return false;
}

function textsOf(message: Message, ofWeb: ReadonlySet<string>): readonly string[] {
  if (message.role === "user") return addressesIn(message.text.slice(0, message.own), { isPerson: true });
  if (message.role !== "tool" || !ofWeb.has(message.toolCallId)) return [];
  // Only what stands between the marks: our own words around it repeat what the model asked for.
  return dataBlocksIn(message.text).flatMap(({ from, to }) => addressesIn(message.text.slice(from, to)));
}
