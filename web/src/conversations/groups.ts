import type { Conversation } from "../../../src/protocol/resources.ts";

export type GroupName = "pinned" | "today" | "week" | "month" | "older";
export type Group = { readonly name: GroupName; readonly items: readonly Conversation[] };

const dayMs = 86_400_000;

/** By when something last happened, as the calendar of this browser has it; pinned ones stand above all. */
export function groupsOf(items: readonly Conversation[], now = Date.now()): Group[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const nameOf = ({ pinned, updatedAt }: Conversation): GroupName => {
    if (pinned) return "pinned";
    if (updatedAt >= midnight) return "today";
    if (updatedAt >= midnight - 6 * dayMs) return "week";
    return updatedAt >= midnight - 29 * dayMs ? "month" : "older";
  };
  const names: readonly GroupName[] = ["pinned", "today", "week", "month", "older"];
  return names
    .map((name) => ({ name, items: items.filter((item) => nameOf(item) === name) }))
    .filter((group) => group.items.length > 0);
}

/** Those that stand there already keep their order; what is new comes before them, what was loaded beyond them after. */
export function inPlace(items: readonly Conversation[], standing: readonly string[]): readonly Conversation[] {
  const at = new Map(standing.map((id, index) => [id, index]));
  const beyond = items.slice(items.findLastIndex(({ id }) => at.has(id)) + 1);
  for (const { id } of beyond) at.set(id, standing.length);
  const placeOf = ({ id }: Conversation) => at.get(id) ?? -1;
  return items.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Every word of the query stands somewhere in the title, however it is written. */
export function titleFits({ title, lastMessage }: Conversation, query: string): boolean {
  const text = plain(`${title} ${lastMessage}`);
  return plain(query)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function plain(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim();
}

/** Something happened there since its user looked at it. Where they never did in a browser, it is nothing new: the browser is. */
export function isUnread({ updatedAt, seenAt }: Conversation): boolean {
  return seenAt !== null && updatedAt > seenAt;
}
