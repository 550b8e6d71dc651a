import type { Message } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { createPairing, type Paired, type PairingRules } from "../wire/pair-calls.ts";
import type { TranscriptForm } from "../wire/transcript.ts";

const openingText = "Let us go on.";
const bridgeText = "Understood.";

/** For servers that want another order: the history is gone through as a whole, and its beginning may change. */
export function arrangement({ roleOrder, singleSystem }: Profile, rules: PairingRules): TranscriptForm["arrange"] {
  const isFree = roleOrder === "free";
  if (isFree && !singleSystem) return undefined;
  return (messages) => {
    const pairing = createPairing(rules);
    for (const message of hoistSystem(messages)) pairing.add(message);
    const paired = [...pairing.paired, ...pairing.ending()];
    return isFree ? paired : alternateRoles(paired);
  };
}

/** All system texts as one message at the front. */
function hoistSystem(messages: readonly Message[]): readonly Message[] {
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
function alternateRoles(messages: readonly Paired[]): readonly Paired[] {
  const ordered: Paired[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const isFirst = last === undefined || last.role === "system";
    if (isFirst && message.role === "assistant") ordered.push({ role: "user", text: openingText });
    if (last?.role === "results" && message.role === "user") ordered.push({ role: "assistant", text: bridgeText });
    const merged = last === undefined ? undefined : merge(last, message);
    if (merged === undefined) ordered.push(message);
    else ordered[ordered.length - 1] = merged;
  }
  return ordered;
}

function merge(first: Paired, second: Paired): Paired | undefined {
  if (first.role === "results" || second.role === "results") return undefined;
  const text = [first.text, second.text].filter((part) => part !== "").join("\n\n");
  if (first.role === "user" && second.role === "user") {
    const images = [...(first.images ?? []), ...(second.images ?? [])];
    return images.length === 0 ? { role: "user", text } : { role: "user", text, images };
  }
  if (first.role === "assistant" && second.role === "assistant") return { ...second, text };
  return undefined;
}
