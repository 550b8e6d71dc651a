import type { Bounds } from "./bounds.ts";
import type { Statements } from "./statements.ts";
import { contentsFrom, passagesPerContent } from "./tables.ts";
import { differing, nearnessOf, numbersOf, signsOf } from "./vector-bytes.ts";

/** Passages of one content that follow each other and have no vectors yet. */
export type Unembedded = {
  readonly content: number;
  /** The place of the first one among its passages. */
  readonly first: number;
  readonly texts: readonly string[];
  /** No passage of the content follows. */
  readonly isLast: boolean;
};

/** A vector for each text, or undefined where none could be had. */
export type Kept = Omit<Unembedded, "texts"> & { readonly vectors: readonly (Float32Array | undefined)[] };

/** How far a model is with what is in the index; its tables of contents count, though they get no vectors. */
export type VectorState = { readonly passages: number; readonly embedded: number };

/** Characters that are about to be given to a model, on which day, and how many may be on one. */
export type Spending = { readonly day: number; readonly characters: number; readonly charactersMax: number };

/** More of a passage is not given to a model. */
const textCharactersMax = 4_000;

export function openVectorWriting({ read, write, atOnce }: Statements) {
  const forget = (name: string, size: number) => {
    write("DELETE FROM vector").run();
    write("UPDATE content SET embedded = 0 WHERE embedded > 0").run();
    write("UPDATE vector_model SET name = ?, size = ?").run(name, size);
  };

  return {
    /** The next ones, the newest documents first, up to so many in all. Vectors of another model are thrown away. */
    unembedded(model: string, countMax: number): Unembedded[] {
      if (read("SELECT 1 FROM vector_model WHERE name = ?").get(model) === undefined) atOnce(() => forget(model, 0));
      const found: Unembedded[] = [];
      let left = countMax;
      const sql = `SELECT id, embedded FROM content WHERE key IS NOT NULL AND embedded < passages ORDER BY id DESC LIMIT ?`;
      for (const row of read(sql).all(countMax)) {
        const [content, first] = [Number(row.id), Number(row.embedded)];
        const texts = textsFrom(read, { content, first, countMax: left });
        found.push({ content, first, texts, isLast: texts.length < left });
        left -= texts.length;
        if (left <= 0) break;
      }
      return found;
    },
    /** Notes what is about to be given to the model; false where that is more than a day may cost. */
    spend({ day, characters, charactersMax }: Spending): boolean {
      const row = read("SELECT day, characters FROM vector_model").get();
      const spent = (Number(row?.day) === day ? Number(row?.characters) : 0) + characters;
      if (spent > charactersMax) return false;
      write("UPDATE vector_model SET day = ?, characters = ?").run(day, spent);
      return true;
    },
    /** A model that has vectors of another size than before is another one: what there was of it goes. */
    keepVectors(model: string, pieces: readonly Kept[]): void {
      atOnce(() => {
        const before = read("SELECT size FROM vector_model WHERE name = ?").get(model)?.size;
        // The index was thrown away meanwhile.
        if (before === undefined) return;
        const size = pieces.flatMap(({ vectors }) => vectors).find((vector) => vector !== undefined)?.length;
        if (size !== undefined && Number(before) !== size) forget(model, size);
        for (const piece of pieces) keep(piece, size ?? Number(before));
      });
    },
  };

  function keep({ content, first, vectors, isLast }: Kept, size: number): void {
    const row = read("SELECT embedded FROM content WHERE id = ? AND key IS NOT NULL").get(content);
    // It has gone meanwhile, or all was forgotten.
    if (row === undefined || Number(row.embedded) !== first) return;
    if (vectors.length > 0) {
      const none = new Float32Array(size);
      const all = vectors.map((vector) => vector ?? none);
      write("INSERT INTO vector (content, first, signs, numbers) VALUES (?, ?, ?, ?)").run(
        ...[content, first, joined(all.map(signsOf)), joined(all.map(numbersOf))],
      );
    }
    const done = isLast ? "passages" : String(first + vectors.length);
    write(`UPDATE content SET embedded = ${done} WHERE id = ?`).run(content);
  }
}

type Wanted = { readonly content: number; readonly first: number; readonly countMax: number };

/** With the headings above it, which say what it is about. Tables of contents mean nothing. */
function textsFrom(read: Statements["read"], { content, first, countMax }: Wanted): string[] {
  const from = content * passagesPerContent;
  const rows = read("SELECT path, text FROM passage WHERE id >= ? AND id < ? ORDER BY id LIMIT ?").all(
    ...[from + first, from + contentsFrom, countMax],
  );
  return rows.map((row) => {
    const path: string[] = JSON.parse(String(row.path));
    return [...path.slice(0, -1), String(row.text)].join("\n").slice(0, textCharactersMax).toWellFormed();
  });
}

function joined(parts: readonly (Uint32Array | Int8Array)[]): Uint8Array {
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

export function openVectorReading({ read }: Statements) {
  const condition = (bounds: Bounds) =>
    bounds.contents === undefined
      ? { sql: bounds.sql(`(content * ${passagesPerContent})`), values: bounds.values }
      : { sql: "content IN (SELECT value FROM json_each(?))", values: [JSON.stringify(bounds.contents)] };

  return {
    hasVectors: (): boolean => read("SELECT 1 FROM vector LIMIT 1").get() !== undefined,
    /** Of what is an owner's: of others nobody is told how much there is. */
    vectorState(owner: string): VectorState {
      const sql = `SELECT coalesce(sum(passages), 0) AS passages, coalesce(sum(embedded), 0) AS embedded FROM content
        WHERE id IN (SELECT content FROM pointer WHERE owner = ?)`;
      const row = read(sql).get(owner);
      return { passages: Number(row?.passages), embedded: Number(row?.embedded) };
    },
    /** Passages that mean nearly this, the nearest first; none where the vectors are those of another model. */
    nearest(asked: Float32Array, model: string, bounds: Bounds, countMax: number): number[] {
      const kept = read("SELECT size FROM vector_model WHERE name = ?").get(model);
      if (Number(kept?.size) !== asked.length) return [];
      const { sql, values } = condition(bounds);
      const rows = read(`SELECT content, first, signs FROM vector WHERE ${sql}`).iterate(...values);
      return bySigns(rows, signsOf(asked), countMax * lookedAtTimes)
        .map((near) => ({ near, score: nearnessOf(asked, numbersAt(near, asked.length)) }))
        .filter(({ score }) => score > 0)
        .toSorted((one, other) => other.score - one.score)
        .slice(0, countMax)
        .map(({ near }) => near.content * passagesPerContent + near.first + near.place);
    },
  };

  function numbersAt({ content, first, place }: Near, size: number): Int8Array {
    const sql = "SELECT substr(numbers, ?, ?) AS numbers FROM vector WHERE content = ? AND first = ?";
    const row = read(sql).get(place * size + 1, size, content, first);
    return row?.numbers instanceof Uint8Array ? new Int8Array(row.numbers) : new Int8Array(size);
  }
}

/** Signs alone are coarse: so many times more are looked at by their numbers. */
const lookedAtTimes = 5;

type Near = { readonly content: number; readonly first: number; readonly place: number };

/** Those that differ in the fewest signs. */
function bySigns(rows: Iterable<Record<string, unknown>>, asked: Uint32Array, countMax: number): Near[] {
  // One list for each distance, so that nothing has to be sorted; those that are too far already are not kept.
  const byDistance: Near[][] = Array.from({ length: asked.length * 32 + 1 }, () => []);
  let [kept, furthest] = [0, byDistance.length - 1];
  for (const { content, first, signs: bytes } of rows) {
    if (!(bytes instanceof Uint8Array)) continue;
    const signs = new Uint32Array(bytes.slice().buffer);
    for (let place = 0; place < signs.length / asked.length; place += 1) {
      const distance = differing(asked, signs, place);
      if (distance > furthest) continue;
      byDistance[distance]?.push({ content: Number(content), first: Number(first), place });
      kept += 1;
      while (kept - (byDistance[furthest]?.length ?? 0) >= countMax) {
        kept -= byDistance[furthest]?.length ?? 0;
        byDistance[furthest] = [];
        furthest -= 1;
      }
    }
  }
  return byDistance.flat().slice(0, countMax);
}
