import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Place } from "../../extract/extracted.ts";
import { type Bounds, boundsOf, pointersWithin, type Scope } from "./bounds.ts";
import { openCounts } from "./counts.ts";
import { overlapCharacters } from "./passage-rows.ts";
import { openStatements, type Statements } from "./statements.ts";
import { contentsFrom, passagesPerContent } from "./tables.ts";
import { openVectorReading } from "./vectors.ts";

export type StoredPassage = {
  readonly id: number;
  readonly path: readonly string[];
  readonly text: string;
  readonly from: Place;
  readonly to: Place;
};

/** The passage with the beginning of the next one. */
export type Window = StoredPassage & { readonly behind: string };

/** What was said, and where it stands. */
export type StoredEntry = {
  readonly content: number;
  readonly kind: string;
  readonly place: string;
  readonly at: number;
  readonly by: string;
};

/** How much more a word counts in the own heading, in those above it, and in the text. */
const columnWeights: readonly [title: number, path: number, body: number] = [2, 1, 1];

type WordShape = {
  readonly beginning: string;
  readonly lengths: readonly [least: number, most: number];
  readonly walkedMax: number;
};

export type Reader = ReturnType<typeof openReader>;

export function openReader(database: DatabaseSync) {
  const statements = openStatements(database);
  const { read } = statements;
  const counts = openCounts(statements);
  return {
    /** All words at one state of the index, however much is written meanwhile. */
    atOneMoment<T>(work: () => T): T {
      database.exec("BEGIN");
      try {
        return work();
      } finally {
        database.exec("COMMIT");
      }
    },
    /** Undefined where there is none, or no such content. */
    noteOf(key: string): string | undefined {
      const note = read("SELECT note FROM content WHERE key = ?").get(key)?.note;
      return typeof note === "string" ? note : undefined;
    },
    hasKey: (key: string) => read("SELECT 1 FROM content WHERE key = ?").get(key) !== undefined,
    within: (scope: Scope) => boundsOf(scope, statements),
    best(match: string, bounds: Bounds, countMax: number): { id: number; score: number }[] {
      const sql = `SELECT rowid AS id, bm25(word, ${columnWeights.join(", ")}) AS score FROM word
        WHERE word MATCH ? AND (rowid & ${contentsFrom}) = 0 AND ${bounds.sql("word.rowid")} ORDER BY score LIMIT ?`;
      const rows = read(sql).all(match, ...bounds.values, countMax);
      return rows.map((row) => ({ id: Number(row.id), score: -Number(row.score) }));
    },
    /** How many passages match, up to a number that nobody reads further than. */
    count(match: string, bounds: Bounds, countMax: number): number {
      const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM word
        WHERE word MATCH ? AND (rowid & ${contentsFrom}) = 0 AND ${bounds.sql("word.rowid")} LIMIT ?)`;
      return Number(read(sql).get(match, ...bounds.values, countMax)?.n);
    },
    /** Some passage that has it, or undefined. */
    some(match: string, bounds: Bounds): number | undefined {
      const sql = `SELECT rowid AS id FROM word
        WHERE word MATCH ? AND (rowid & ${contentsFrom}) = 0 AND ${bounds.sql("word.rowid")} LIMIT 1`;
      const row = read(sql).get(match, ...bounds.values);
      return row === undefined ? undefined : Number(row.id);
    },
    ...counts,
    /** Words that begin so and are so long, of all owners; of these beginnings so many at most are gone through. */
    wordsLike({ beginning, lengths: [least, most], walkedMax }: WordShape): { term: string; passages: number }[] {
      const sql = `SELECT term, doc FROM (SELECT term, doc FROM known_word WHERE term >= ? AND term < ? LIMIT ?)
        WHERE length(term) BETWEEN ? AND ?`;
      const rows = read(sql).all(beginning, following(beginning), walkedMax, least, most);
      return rows.map((row) => ({ term: String(row.term), passages: Number(row.doc) }));
    },
    passage(id: number): StoredPassage {
      const row = read("SELECT id, path, text, place FROM passage WHERE id = ?").get(id);
      if (row === undefined) throw new Error(`passage ${id} is in the index and nowhere else`);
      return passageOf(row);
    },
    windows: (trigrams: string | undefined, bounds: Bounds) => windowsOf(statements, trigrams, bounds),
    /** What its owner calls the document of a passage, within the bounds. */
    placesOf(id: number, bounds: Bounds): { kind: string; place: string }[] {
      const sql = `SELECT kind, place FROM pointer WHERE content = ? AND ${bounds.pointerSql} ORDER BY kind, place`;
      const rows = read(sql).all(contentOf(id), ...bounds.pointerValues);
      return rows.map((row) => ({ kind: String(row.kind), place: String(row.place) }));
    },
    ...openEntries(statements),
    ...openVectorReading(statements),
    keyOf: (id: number) => String(read("SELECT key FROM content WHERE id = ?").get(contentOf(id))?.key),
    close: () => database.close(),
  };
}

function openEntries(statements: Statements) {
  const { read } = statements;
  return {
    /** When and by whom a passage was said; undefined of documents. */
    saidOf(id: number): { at: number; by: string } | undefined {
      const row = read("SELECT said_at, said_by FROM content WHERE id = ?").get(contentOf(id));
      return row === undefined || row.said_at === null
        ? undefined
        : { at: Number(row.said_at), by: String(row.said_by) };
    },
    entriesWith: (trigrams: readonly string[], scope: Scope) => entriesWith(statements, trigrams, scope),
    /** All of a content. */
    textOf(content: number): string {
      const sql = "SELECT text, runs_on FROM passage WHERE id >= ? AND id < ? ORDER BY id";
      const rows = read(sql).all(content * passagesPerContent, (content + 1) * passagesPerContent);
      return rows.map((row) => String(row.text) + (row.runs_on === 1 ? "" : "\n")).join("");
    },
  };
}

/** What was said and has all of these, the newest first. */
function* entriesWith({ read }: Statements, trigrams: readonly string[], scope: Scope): Generator<StoredEntry> {
  const { sql, values } = pointersWithin(scope);
  const has = trigrams.map(
    () => `AND content IN (SELECT rowid / ${passagesPerContent} FROM trigram WHERE trigram MATCH ?)`,
  );
  const rows = read(`SELECT content, kind, place, said_at, said_by FROM pointer JOIN content c ON c.id = content
    WHERE ${sql} AND said_at IS NOT NULL ${has.join(" ")} ORDER BY said_at DESC, content DESC`);
  for (const row of rows.iterate(...values, ...trigrams))
    yield {
      ...{ content: Number(row.content), kind: String(row.kind), place: String(row.place) },
      ...{ at: Number(row.said_at), by: String(row.said_by) },
    };
}

/** The first text behind all that begin so. */
function following(beginning: string): string {
  const characters = [...beginning];
  const last = characters.pop()?.codePointAt(0) ?? 0;
  return characters.join("") + String.fromCodePoint(last + 1);
}

export function contentOf(id: number): number {
  return Math.floor(id / passagesPerContent);
}

/** Its place among the passages of its document. */
export function ordinalOf(id: number): number {
  return id % passagesPerContent;
}

/**
 * Passages to look through, those of contents too; `trigrams` leaves out most that cannot match. Each document is a range of
 * rows, and no other rows are passed over. Only where the trigrams choose among many documents they are asked once for all.
 */
function* windowsOf(statements: Statements, trigrams: string | undefined, bounds: Bounds): Generator<Window> {
  if (trigrams !== undefined && bounds.contents === undefined) {
    const condition = `${bounds.sql("p.id")} AND p.id IN (SELECT rowid FROM trigram WHERE trigram MATCH ?)`;
    return yield* windowsWhere(statements, condition, [...bounds.values, trigrams]);
  }
  const chosen = "p.id IN (SELECT rowid FROM trigram WHERE trigram MATCH ? AND rowid >= ? AND rowid < ?)";
  for (const content of bounds.contents ?? contentsWithin(statements, bounds)) {
    const range = [content * passagesPerContent, (content + 1) * passagesPerContent];
    if (trigrams === undefined) yield* windowsWhere(statements, "p.id >= ? AND p.id < ?", range);
    else yield* windowsWhere(statements, chosen, [trigrams, ...range]);
  }
}

/** The documents within the bounds, in the order of their passages. */
function contentsWithin({ read }: Statements, { pointerSql, pointerValues }: Bounds): number[] {
  const sql = `SELECT DISTINCT content FROM pointer WHERE ${pointerSql} ORDER BY content`;
  return read(sql)
    .all(...pointerValues)
    .map((row) => Number(row.content));
}

function* windowsWhere({ read }: Statements, condition: string, values: readonly SQLInputValue[]): Generator<Window> {
  const sql = `SELECT p.id, p.path, p.text, p.place, p.runs_on, substr(n.text, 1, ${overlapCharacters}) AS behind
    FROM passage p LEFT JOIN passage n ON n.id = p.id + 1 WHERE ${condition} ORDER BY p.id`;
  for (const row of read(sql).iterate(...values)) {
    const joint = row.runs_on === 1 ? "" : "\n";
    yield { ...passageOf(row), behind: row.behind === null ? "" : joint + String(row.behind) };
  }
}

function passageOf(row: Record<string, unknown>): StoredPassage {
  const [from = {}, to = from]: Place[] = JSON.parse(String(row.place));
  return { id: Number(row.id), path: JSON.parse(String(row.path)), text: String(row.text), from, to };
}
