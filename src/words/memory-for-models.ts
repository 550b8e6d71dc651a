import { inQuotes, shownName } from "./names.ts";

/** What models read of memories, of earlier talks, and of standing instructions. */
export const memoryForModels = {
  /** In the system message. The user's file counts like the user's own words. */
  instructions: ({ path, text, isCut }: { path: string; text: string; isCut: boolean }) =>
    `# Standing instructions\nThe user's file ${shownName(path)} says how to work here. It counts like the user's own words; what the user says later goes before it.\n<standing_instructions>\n${text}\n</standing_instructions>${isCut ? `\n(Only its beginning stands here; read_file ${shownName(path)} has the rest.)` : ""}`,
  notes: (memories: readonly string[]) =>
    `# Memories of the user\nWhat the user wants you to know in every conversation:\n<user_memories>\n${lines(memories)}\n</user_memories>`,
  notesNow: (memories: readonly string[]) =>
    memories.length === 0
      ? "The user's memories have changed: there are none any more."
      : `The user's memories have changed. Now they are:\n${lines(memories)}`,

  remembered: (count: number) =>
    `Remembered; ${count} ${count === 1 ? "memory" : "memories"} in all. The user sees and edits them with /memory.`,
  knownAlready: (count: number) =>
    `This is remembered already; ${count} ${count === 1 ? "memory" : "memories"} in all.`,
  memories: (memories: readonly string[], all: number) =>
    `${memories.length === all ? `${all}` : `${memories.length} of ${all}`} ${all === 1 ? "memory" : "memories"}, newest first:\n${lines(memories)}`,
  memoriesLeft: (count: number) => `[${count} more: recall with a query]`,
  noMemories: "Nothing is remembered yet.",
  noMemoryWith: (query: string, all: number) =>
    `None of ${all} memories has ${inQuotes(query)}. Call recall without a query to see all of them.`,

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

function lines(memories: readonly string[]): string {
  return memories.map((memory) => `- ${memory}`).join("\n");
}
