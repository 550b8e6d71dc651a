import type { Bounds } from "./bounds.ts";
import type { Statements } from "./statements.ts";

/** Words that are remembered; more are counted each time. */
const wordsMax = 10_000;

/** How often things are there. What was counted holds until somebody has written. */
export function openCounts({ read }: Statements) {
  let counted:
    | { readonly version: number; readonly passages: number; readonly byWord: Map<string, number> }
    | undefined;
  const counts = () => {
    const version = Number(read("PRAGMA data_version").get()?.data_version);
    if (counted?.version !== version) {
      const passages = Number(read("SELECT coalesce(sum(passages), 0) AS n FROM content").get()?.n);
      counted = { version, passages, byWord: new Map() };
    }
    return counted;
  };
  return {
    passagesInAll: () => counts().passages,
    /** In how many passages of all a word stands. */
    passagesWith(word: string): number {
      const { byWord } = counts();
      const known = byWord.get(word) ?? Number(read("SELECT doc FROM known_word WHERE term = ?").get(word)?.doc ?? 0);
      if (byWord.size < wordsMax) byWord.set(word, known);
      return known;
    },
    /** How much of the index lies within the bounds, from 0 to 1. */
    shareOf({ contents }: Bounds): number {
      if (contents === undefined) return 1;
      const sql = "SELECT coalesce(sum(passages), 0) AS n FROM content WHERE id IN (SELECT value FROM json_each(?))";
      return Number(read(sql).get(JSON.stringify(contents))?.n) / Math.max(1, counts().passages);
    },
  };
}
