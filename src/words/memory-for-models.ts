import { inQuotes, shownName } from "./names.ts";

/** What models read of facts that users want to be remembered, of earlier talks, and of standing instructions. */
export const memoryForModels = {
  /** In the system message. The user's file counts like the user's own words. */
  instructions: ({ path, text, isCut }: { path: string; text: string; isCut: boolean }) =>
    `# Standing instructions\nThe user's file ${shownName(path)} says how to work here. It counts like the user's own words; what the user says later goes before it.\n<standing_instructions>\n${text}\n</standing_instructions>${isCut ? `\n(Only its beginning stands here; read_file ${shownName(path)} has the rest.)` : ""}`,
  notes: (facts: readonly string[]) =>
    `# Notes of the user\nWhat the user wants you to know in every conversation:\n<user_notes>\n${lines(facts)}\n</user_notes>`,
  notesNow: (facts: readonly string[]) =>
    facts.length === 0
      ? "The user's notes have changed: there are none any more."
      : `The user's notes have changed. Now they are:\n${lines(facts)}`,

  remembered: (count: number) =>
    `Remembered; ${count} ${count === 1 ? "fact" : "facts"} in all. The user sees and edits them with /memory.`,
  knownAlready: (count: number) => `This is remembered already; ${count} ${count === 1 ? "fact" : "facts"} in all.`,
  facts: (facts: readonly string[], all: number) =>
    `${facts.length === all ? `${all}` : `${facts.length} of ${all}`} remembered ${all === 1 ? "fact" : "facts"}, newest first:\n${lines(facts)}`,
  factsLeft: (count: number) => `[${count} more: recall with a query]`,
  noFacts: "Nothing is remembered yet.",
  noFactWith: (query: string, all: number) =>
    `None of ${all} remembered facts has ${inQuotes(query)}. Call recall without a query to see all of them.`,

  hit: ({ where, at, who, text }: { where: string; at: string; who: string; text: string }) =>
    `--- ${where}, ${at}, ${who}:\n${text}`,
  here: "this conversation",
  other: (id: string, title: string) => (title === "" ? `conversation ${id}` : `conversation ${id} (${title})`),
  who: { user: "the user", agent: "you", result: (tool: string) => `result of ${tool}` },
  hits: (shown: number, all: number) => `${all} ${all === 1 ? "match" : "matches"}, newest first; shown: ${shown}`,
  noHits: (words: readonly string[], conversations: number) =>
    `Nothing was said with ${words.map(inQuotes).join(" and ")}, in ${conversations} ${conversations === 1 ? "conversation" : "conversations"}. Call search_history again with fewer or other words.`,
  stopped: "(not all was searched: there is more than can be read at once)",
} as const;

function lines(facts: readonly string[]): string {
  return facts.map((fact) => `- ${fact}`).join("\n");
}
