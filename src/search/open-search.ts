import { existsSync } from "node:fs";
import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { openAccess } from "./access.ts";
import { isOfKey } from "./hit-id.ts";
import { openMeaning } from "./meaning.ts";
import { readPattern } from "./pattern.ts";
import { openPut } from "./put.ts";
import type { FindOptions, Search, SearchOptions } from "./search.ts";
import { cutRunBy, type Segmentation } from "./text/segment.ts";

/** What was not looked at for so long is made again when it is wanted. */
const unusedMsMax = 30 * 24 * 60 * 60 * 1000;
/** That something was used is written down now and then. */
const notedMs = 60 * 60 * 1000;
const queryCharactersMax = 1_000;

/** Fails where the segmentation needs a package that is not installed. */
export function openSearch(options: SearchOptions): Result<Search, Failure<"segmenter_missing">> {
  const { file, clock, segmentation = "bigram" } = options;
  const segmenter = findSegmenter(segmentation);
  if (!segmenter.ok) return segmenter;
  const { write, read, find, scan, close } = openAccess({ file, segmentation }, clock);
  const used = openUsed(clock, (contents) => write({ do: "markUsed", contents, now: clock.now() }));
  const put = openPut(write, clock);
  const meaning = options.meaning && openMeaning({ ...options.meaning, write, read, clock });
  /** Whoever brings something in does not wait for its vectors. */
  const waking = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    meaning?.wake();
    return done;
  };

  const search: Search = {
    isMade: () => existsSync(file),
    isOfKey,
    isIndexed: (key) => read({ do: "hasKey", key }),
    noteOf: (key) => read({ do: "noteOf", key }),
    async put(pointer, key, extracted, given = {}) {
      const known = await search.point(pointer, key);
      if (!known.ok) return known;
      return known.value ? ok({ passages: 0 }) : waking(put(pointer, key, extracted.blocks, given));
    },
    point: (pointer, key) => write({ do: "point", pointer, key, now: clock.now() }),
    drop: (pointer) => write({ do: "drop", pointer, isPrefix: false }),
    dropBelow: (pointer) => write({ do: "drop", pointer, isPrefix: true }),
    follow: (series, more) => waking(write({ do: "follow", series, more, now: clock.now() })),
    followed: (owner) => write({ do: "followed", owner, now: clock.now() }),
    cutGap: (series, gap) => write({ do: "cutGap", series, gap }),
    unfollow: (series) => write({ do: "unfollow", series }),
    having: (query) => read({ do: "having", query }),
    async find(query, scope, given = {}) {
      if (query.length > queryCharactersMax) return tooLong(query);
      meaning?.wake();
      const vector = await meaning?.vectorOf(query);
      const meant = vector && meaning && { vector, model: meaning.model };
      const found = await find({ do: "find", query, scope, limits: limitsOf(given), meant });
      if (!found.ok) return found;
      if (found.value === undefined) return failure("pattern_invalid", { pattern: query, why: "empty" });
      const { used: contents, ...answer } = found.value;
      used.note(contents);
      return ok(answer);
    },
    async match(pattern, scope, given = {}) {
      const compiled = readPattern(pattern);
      return compiled.ok ? scan(compiled.value, scope, limitsOf(given), given.signal) : compiled;
    },
    meaning: async (owner) => (meaning === undefined ? ok(undefined) : meaning.state(owner)),
    async sweep() {
      await used.flush();
      meaning?.wake();
      return write({ do: "sweep", before: clock.now() - unusedMsMax });
    },
    async close() {
      await meaning?.close();
      await used.flush();
      await close();
    },
  };
  return ok(search);
}

/** Whether there is what cuts Chinese in this way. */
export function findSegmenter(segmentation: Segmentation): Result<undefined, Failure<"segmenter_missing">> {
  return cutRunBy(segmentation) === undefined ? failure("segmenter_missing", { segmentation }) : ok(undefined);
}

function limitsOf({ hitsMax = 10, snippetCharacters = 300 }: Partial<FindOptions>) {
  return { hitsMax, snippetCharacters };
}

function tooLong(query: string) {
  const pattern = query.slice(0, queryCharactersMax);
  return failure("pattern_invalid", { pattern, why: "too_long", max: queryCharactersMax });
}

/** Remembers which documents were of use, and writes it down once in a while. */
function openUsed(clock: Clock, write: (contents: readonly number[]) => Promise<unknown>) {
  let contents = new Set<number>();
  let notedAt = Number.NEGATIVE_INFINITY;
  const flush = async () => {
    if (contents.size === 0) return;
    const noted = [...contents];
    contents = new Set();
    notedAt = clock.now();
    await write(noted);
  };
  return {
    flush,
    note(used: readonly number[]) {
      for (const content of used) contents.add(content);
      if (clock.now() - notedAt >= notedMs) void whenOver(flush());
    },
  };
}
