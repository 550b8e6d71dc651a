import type { Pointer, Pointers } from "./pointers.ts";
import type { Statements } from "./statements.ts";
import type { Rows } from "./writing.ts";

/** Something that grows entry by entry, such as what is said in a conversation. Its entries stand at `name/id`. */
export type Series = { readonly owner: string; readonly name: string };

/** What was said at once; found by itself. */
export type SeriesEntry = {
  readonly kind: string;
  /** Its number in the series. */
  readonly id: number;
  readonly at: number;
  readonly by: string;
  readonly text: string;
};

/** How far a series was followed; `stamp` tells whether it is still the same one. */
export type Followed = { readonly name: string; readonly upTo: number; readonly stamp: string };

/** Entries that are no longer part of it: those between the two. */
export type Gap = { readonly after: number; readonly before: number };

type Parts = {
  readonly statements: Statements;
  readonly pointers: Pointers;
  readonly removeIfOrphan: (content: number | undefined) => void;
  readonly rowsOf: (content: number) => Rows;
};

/** Entries come and go with their series, and never because of their age. */
const never = Number.MAX_SAFE_INTEGER;
/** That somebody asked is written down now and then. */
const notedMs = 60 * 60 * 1000;

export function openSeries({ statements, pointers, removeIfOrphan, rowsOf }: Parts) {
  const { read, write, atOnce } = statements;

  const insert = ({ owner, name }: Series, { kind, id, at, by, text }: SeriesEntry): number | undefined => {
    const place = `${name}/${id}`;
    // Never shared with another owner, and never in two places.
    const key = `${kind} ${owner} ${place}`;
    const [before] = pointers.find({ owner, kind, place }, false);
    if (before !== undefined) write("UPDATE content SET key = NULL WHERE id = ?").run(before.content);
    const content = Number(write("INSERT INTO content DEFAULT VALUES").run().lastInsertRowid);
    const rows = rowsOf(content);
    rows.add([{ kind: "paragraph", text, from: {} }]);
    write("UPDATE content SET key = ?, passages = ?, used_at = ?, said_at = ?, said_by = ? WHERE id = ?").run(
      ...[key, rows.end(), never, at, by, content],
    );
    return pointers.set({ owner, kind, place }, content);
  };

  const dropEntries = (entries: readonly (Pointer & { readonly content: number })[]) => {
    for (const entry of entries) {
      atOnce(() => pointers.delete(entry));
      removeIfOrphan(entry.content);
    }
  };

  const drop = (series: Series) => {
    // The mark goes first: whoever is killed in between follows it from its beginning.
    atOnce(() => write("DELETE FROM series WHERE owner = ? AND name = ?").run(series.owner, series.name));
    dropEntries(entriesOf(statements, series));
  };

  return {
    /** All entries and the mark behind them, or nothing. */
    follow(series: Series, { entries, upTo, stamp }: NewEntries, now: number): void {
      const replaced = atOnce(() => {
        write("REPLACE INTO series (owner, name, stamp, up_to, used_at) VALUES (?, ?, ?, ?, ?)").run(
          ...[series.owner, series.name, stamp, upTo, now],
        );
        return entries.map((entry) => insert(series, entry));
      });
      for (const content of replaced) removeIfOrphan(content);
    },
    /** Somebody asks for them. */
    followed(owner: string, now: number): Followed[] {
      write("UPDATE series SET used_at = ? WHERE owner = ? AND used_at < ?").run(now, owner, now - notedMs);
      const rows = read("SELECT name, up_to, stamp FROM series WHERE owner = ?").all(owner);
      return rows.map((row) => ({ name: String(row.name), upTo: Number(row.up_to), stamp: String(row.stamp) }));
    },
    cutGap(series: Series, { after, before }: Gap): void {
      const isInside = (place: string) => {
        const id = Number(place.slice(series.name.length + 1));
        return id > after && id < before;
      };
      dropEntries(entriesOf(statements, series).filter(({ place }) => isInside(place)));
    },
    unfollow: drop,
    /** What nobody asked for since. */
    dropUnused(before: number): void {
      const rows = read("SELECT owner, name FROM series WHERE used_at < ?").all(before);
      for (const row of rows) drop({ owner: String(row.owner), name: String(row.name) });
    },
  };
}

export type NewEntries = {
  readonly entries: readonly SeriesEntry[];
  readonly upTo: number;
  readonly stamp: string;
};

function entriesOf({ read }: Statements, { owner, name }: Series): (Pointer & { readonly content: number })[] {
  // The slash and what follows it: a range of the key.
  const rows = read(`SELECT p.kind, p.place, p.content FROM pointer p JOIN content c ON c.id = p.content
    WHERE p.owner = ? AND p.place >= ? AND p.place < ? AND c.said_at IS NOT NULL`).all(owner, `${name}/`, `${name}0`);
  return rows.map((row) => ({
    ...{ owner, kind: String(row.kind), place: String(row.place), content: Number(row.content) },
  }));
}
