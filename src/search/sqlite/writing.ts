import type { DatabaseSync } from "node:sqlite";
import type { Block } from "../../extract/extracted.ts";
import { openPassageMaker, type Passage } from "../text/passages.ts";
import type { CutRun } from "../text/runs.ts";
import { insertPassage, removeContent } from "./passage-rows.ts";
import { openPointers, type Pointer, type Pointers } from "./pointers.ts";
import { openSeries } from "./series.ts";
import { openStatements, type Statements } from "./statements.ts";
import { contentsFrom, passagesPerContent } from "./tables.ts";
import { openVectorWriting } from "./vectors.ts";

/** A document on its way into the index, unseen until `end`. */
export type Writing = {
  add(blocks: readonly Block[]): void;
  /** The document is there, and its owner's; what the owner had under this name before is gone. */
  end(pointer: Pointer, now: number, note?: string): number;
  /** Nobody wants it any more. */
  giveUp(): void;
};

export type Writer = ReturnType<typeof openWriter>;

export function openWriter(database: DatabaseSync, cutRun: CutRun) {
  const statements = openStatements(database);
  const pointers = openPointers(statements);
  const { read, write, atOnce } = statements;
  const unfinished = new Set<number>();
  const find = (key: string) => {
    const row = read("SELECT id FROM content WHERE key = ?").get(key);
    return row === undefined ? undefined : Number(row.id);
  };
  const markUsed = (content: number, now: number) =>
    write("UPDATE content SET used_at = ? WHERE id = ? AND used_at < ?").run(now, content, now);
  const removeIfOrphan = (content: number | undefined) => {
    if (content !== undefined && !pointers.isPointedAt(content)) removeContent(statements, content);
  };
  const rowsOf = (content: number) => openRows(statements, content, cutRun);
  const series = openSeries({ statements, pointers, removeIfOrphan, rowsOf });

  return {
    ...series,
    ...openVectorWriting(statements),
    begin: (key: string): Writing =>
      beginWriting(key, { statements, pointers, unfinished, removeIfOrphan, find, rowsOf }),
    /** Whether there was such a document to point at. */
    point(pointer: Pointer, key: string, now: number): boolean {
      const content = find(key);
      if (content === undefined) return false;
      const replaced = atOnce(() => {
        markUsed(content, now);
        return pointers.set(pointer, content);
      });
      removeIfOrphan(replaced);
      return true;
    },
    /** One document, or all whose place begins so. Answers how many. */
    drop(pointer: Pointer, isPrefix: boolean): number {
      const found = pointers.find(pointer, isPrefix);
      for (const { place, content } of found) {
        atOnce(() => pointers.delete({ ...pointer, place }));
        removeIfOrphan(content);
      }
      return found.length;
    },
    markUsed(contents: readonly number[], now: number): void {
      atOnce(() => {
        for (const content of contents) markUsed(content, now);
      });
    },
    tidy: () => tidy(statements, unfinished),
    sweep(before: number): number {
      series.dropUnused(before);
      return sweep(statements, pointers, before);
    },
  };
}

type WritingParts = {
  readonly statements: Statements;
  readonly pointers: Pointers;
  readonly unfinished: Set<number>;
  readonly removeIfOrphan: (content: number | undefined) => void;
  readonly find: (key: string) => number | undefined;
  readonly rowsOf: (content: number) => Rows;
};

function beginWriting(key: string, parts: WritingParts): Writing {
  const { statements, pointers, unfinished, removeIfOrphan, find, rowsOf } = parts;
  const { write, atOnce } = statements;
  const content = Number(write("INSERT INTO content DEFAULT VALUES").run().lastInsertRowid);
  unfinished.add(content);
  const rows = rowsOf(content);
  return {
    add: (blocks) => atOnce(() => rows.add(blocks)),
    end(pointer, now, note) {
      const count = atOnce(() => rows.end());
      const replaced = atOnce(() => {
        const twin = find(key);
        if (twin === undefined) write(finishSql).run(key, count, now, note ?? null, content);
        return pointers.set(pointer, twin ?? content);
      });
      unfinished.delete(content);
      // Somebody else was quicker with the same document.
      removeIfOrphan(content);
      removeIfOrphan(replaced);
      return count;
    },
    giveUp() {
      unfinished.delete(content);
      removeContent(statements, content);
    },
  };
}

/** Removes what a kill left behind. */
function tidy(statements: Statements, unfinished: ReadonlySet<number>): void {
  const half = idsOf(statements, "SELECT id FROM content WHERE key IS NULL");
  for (const content of half) if (!unfinished.has(content)) removeContent(statements, content);
}

/** Removes what nobody points at, and what was not used since `before`. Answers how many documents. */
function sweep(statements: Statements, pointers: Pointers, before: number): number {
  const unused = idsOf(statements, "SELECT id FROM content WHERE used_at < ? AND key IS NOT NULL", before);
  for (const content of unused) statements.atOnce(() => pointers.deleteTo(content));
  const orphans = idsOf(statements, orphanSql);
  for (const content of orphans) removeContent(statements, content);
  return orphans.length;
}

function idsOf({ read }: Statements, sql: string, ...values: number[]): number[] {
  return read(sql)
    .all(...values)
    .map((row) => Number(row.id));
}

const finishSql = "UPDATE content SET key = ?, passages = ?, used_at = ?, note = ? WHERE id = ?";
const orphanSql = `SELECT id FROM content WHERE key IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM pointer WHERE pointer.content = content.id)`;

/** Longer documents are cut here; far above the limits of extraction. */
const passagesMax = contentsFrom - 1;

export type Rows = ReturnType<typeof openRows>;

/** Numbers the passages of a document and writes each when the next one is known. */
function openRows(statements: Statements, content: number, cutRun: CutRun) {
  const maker = openPassageMaker();
  const next = { body: content * passagesPerContent, contents: content * passagesPerContent + contentsFrom };
  let waiting: Passage | undefined;
  let count = 0;
  const take = (passage: Passage | undefined) => {
    const before = waiting;
    waiting = passage;
    if (before === undefined || count >= passagesMax) return;
    insertPassage(statements, next[before.kind]++, before, { next: passage, cutRun });
    count += 1;
  };
  return {
    add(blocks: readonly Block[]): void {
      for (const block of blocks) for (const passage of maker.add(block)) take(passage);
    },
    /** Inside a transaction. Answers how many there are. */
    end(): number {
      for (const passage of [...maker.end(), undefined]) take(passage);
      return count;
    },
  };
}
