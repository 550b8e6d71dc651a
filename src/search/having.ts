import type { Scope } from "./sqlite/bounds.ts";
import type { Reader, StoredEntry } from "./sqlite/reading.ts";
import { trigramsOf } from "./text/literals.ts";

/** What was said with all of some words. */
export type EntryHit = Omit<StoredEntry, "content"> & { readonly text: string };

export type Having = {
  /** Newest first. */
  readonly hits: readonly EntryHit[];
  readonly total: number;
  /** Time was up: older ones were not looked at. */
  readonly isStopped: boolean;
};

export type HavingQuery = {
  /** As they are written, in any case, also inside of words. */
  readonly words: readonly string[];
  readonly scope: Scope;
  /** The series that is left out. */
  readonly except?: string | undefined;
  readonly hitsMax: number;
};

const havingMsMax = 5_000;

/** Entries that have all words, wherever they stand in them. The table of trigrams leaves out most that cannot. */
export function findHaving(
  { words, scope, except, hitsMax }: HavingQuery,
  { reader, monotonic }: { readonly reader: Reader; readonly monotonic: () => number },
): Having {
  const endsAt = monotonic() + havingMsMax;
  const wanted = words.map((word) => word.toLowerCase());
  const trigrams = wanted.flatMap((word) => trigramsOf(word.replaceAll(signs, "\\$&")) ?? []);
  const skipped = except === undefined ? undefined : `${except}/`;
  return reader.atOneMoment(() => {
    const hits: EntryHit[] = [];
    let total = 0;
    for (const { content, ...entry } of reader.entriesWith(trigrams, scope)) {
      if (monotonic() >= endsAt) return { hits, total, isStopped: true };
      if (skipped !== undefined && entry.place.startsWith(skipped)) continue;
      const text = reader.textOf(content);
      const lower = text.toLowerCase();
      if (!wanted.every((word) => lower.includes(word))) continue;
      total += 1;
      if (hits.length < hitsMax) hits.push({ ...entry, text });
    }
    return { hits, total, isStopped: false };
  });
}

/** What has a meaning in a pattern. */
const signs = /[\\^$.*+?()[\]{}|/]/g;
