import { fold } from "../text/fold.ts";
import type { Passage } from "../text/passages.ts";
import { type CutRun, indexedText } from "../text/runs.ts";
import type { Statements } from "./statements.ts";
import { passagesPerContent } from "./tables.ts";

/** What lies behind the end of a passage and is still looked through with it, for what stands across the border. */
export const overlapCharacters = 200;
/** Rows that are removed in one transaction: whoever waits for the next word does not wait for long. */
const removedAtOnce = 500;

/** A passage as it is read, and as it is found: by words and by trigrams. */
export function insertPassage(
  { write }: Statements,
  id: number,
  { path, text, from, to, runsOn, kind }: Passage,
  { next, cutRun }: { readonly next: Passage | undefined; readonly cutRun: CutRun },
): void {
  const place = JSON.stringify(from === to ? [from] : [from, to]);
  write("INSERT INTO passage (id, path, text, place, runs_on) VALUES (?, ?, ?, ?, ?)").run(
    ...[id, JSON.stringify(path), text, place, runsOn ? 1 : 0],
  );
  const behind = next?.kind === kind ? next.text.slice(0, overlapCharacters) : "";
  // A word that was cut in two is found in the first half.
  const first = runsOn ? (behind.match(/^./u)?.[0] ?? "") : "";
  // The fold of a part is a part of the fold, so that the text is folded once for both tables.
  const folded = fold(text);
  const found = [fold(path.at(-1) ?? ""), fold(path.slice(0, -1).join("\n")), folded + fold(first)];
  write("INSERT INTO word (rowid, title, path, body) VALUES (?, ?, ?, ?)").run(
    ...[id, ...found.map((each) => indexedText(each, cutRun))],
  );
  write("INSERT INTO trigram (rowid, body) VALUES (?, ?)").run(id, folded + (runsOn ? "" : "\n") + fold(behind));
}

/** In small steps; a kill in between leaves rows that nobody sees, and that the next start removes. */
export function removeContent({ read, write, atOnce }: Statements, content: number): void {
  atOnce(() => {
    write("UPDATE content SET key = NULL WHERE id = ?").run(content);
    write("DELETE FROM vector WHERE content = ?").run(content);
  });
  const [from, to] = [content * passagesPerContent, (content + 1) * passagesPerContent];
  for (;;) {
    const rows = read("SELECT id FROM passage WHERE id >= ? AND id < ? LIMIT ?").all(from, to, removedAtOnce);
    const ids = rows.map((row) => Number(row.id));
    const last = ids.at(-1);
    if (last === undefined) break;
    atOnce(() => {
      for (const id of ids) {
        write("DELETE FROM word WHERE rowid = ?").run(id);
        write("DELETE FROM trigram WHERE rowid = ?").run(id);
      }
      write("DELETE FROM passage WHERE id >= ? AND id <= ?").run(from, last);
    });
  }
  atOnce(() => write("DELETE FROM content WHERE id = ?").run(content));
}
