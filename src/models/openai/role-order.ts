import type { Message } from "../../protocol/message.ts";

const openingText = "Let us go on.";
const bridgeText = "Understood.";
const continueText = "Continue.";

/** All system texts as one message at the front. */
export function hoistSystem(messages: readonly Message[]): readonly Message[] {
  const system = messages.filter((message) => message.role === "system");
  if (system.length === 0) return messages;
  const text = system.map((message) => message.text).join("\n\n");
  return [{ role: "system", text }, ...messages.filter((message) => message.role !== "system")];
}

/**
 * For chat templates that insist on user and assistant in turn, a user first. Neighbours of one role become one message,
 * and an assistant's word stands between a tool result and a user. This rewrites the end of the history as it grows:
 * such a server's cache does not see a stable prefix.
 */
export function alternateRoles(messages: readonly Message[]): readonly Message[] {
  const ordered: Message[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const isFirst = last === undefined || last.role === "system";
    if (isFirst && message.role === "assistant") ordered.push({ role: "user", text: openingText });
    if (last?.role === "tool" && message.role === "user") ordered.push({ role: "assistant", text: bridgeText });
    const merged = last === undefined ? undefined : merge(last, message);
    if (merged === undefined) ordered.push(message);
    else ordered[ordered.length - 1] = merged;
  }
  return ordered;
}

function merge(first: Message, second: Message): Message | undefined {
  const text = [first.text, second.text].filter((part) => part !== "").join("\n\n");
  if (first.role === "user" && second.role === "user") {
    const images = [...(first.images ?? []), ...(second.images ?? [])];
    return images.length === 0 ? { role: "user", text } : { role: "user", text, images };
  }
  if (first.role === "assistant" && second.role === "assistant") return { ...second, text };
  return undefined;
}

/** For servers that take a last assistant turn for the beginning of the answer, or refuse it. */
export function endWithUser(messages: readonly Message[]): readonly Message[] {
  return messages.at(-1)?.role === "assistant" ? [...messages, { role: "user", text: continueText }] : messages;
}
