import { ok, type Result } from "../base/result.ts";
import { fileKind } from "../documents/documents.ts";
import {
  type Hit,
  patternIn,
  type QueryFailure,
  type Scope,
  type Search,
  type SearchFailure,
} from "../search/search.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { messageKind } from "./follow-log.ts";
import type { LookedUp, LookupHit, LookupQuery } from "./lookup.ts";

/** What is shown of a hit. */
const snippetCharacters = 300;
/** A file may change while it is found: what is shown is looked at, and looked for again. */
const triesMax = 2;

type Parts = {
  readonly search: Pick<Search, "find" | "match">;
  readonly isAsFound: (conversation: ConversationRow, path: string, hit: string) => Promise<boolean>;
};

type Looked = Pick<LookedUp, "hits" | "total" | "missing" | "repaired"> & {
  /** A pattern did not come to its end. */
  readonly isStopped: boolean;
};
type FoundHit = Omit<Hit, "features">;

/** Asks the index, and shows only what is still so. */
export function openLook({ search, isAsFound }: Parts) {
  return async (
    scope: Scope,
    { query, hitsMax, signal }: LookupQuery,
    rows: readonly ConversationRow[],
  ): Promise<Result<Looked, SearchFailure | QueryFailure>> => {
    const byName = new Map(rows.map((row) => [String(row.number), row]));
    const ask = () => askIndex(query, scope, { hitsMax, snippetCharacters, signal });
    for (let tries = 1; ; tries += 1) {
      const found = await ask();
      if (!found.ok) return found;
      const { hits, total, ...rest } = found.value;
      const shown = (await Promise.all(hits.map((hit) => shownHit(hit, byName)))).filter((hit) => hit !== undefined);
      const gone = hits.length - shown.length;
      if (gone > 0 && tries < triesMax) continue;
      return ok({ ...rest, hits: shown, total: Math.max(shown.length, total - gone) });
    }
  };

  /** By words, or by a pattern between slashes: what that finds has no rank, and is shown in its order. */
  async function askIndex(query: string, scope: Scope, limits: Parameters<Search["find"]>[2]) {
    const pattern = patternIn(query);
    if (pattern === undefined) {
      const found = await search.find(query, scope, limits);
      return found.ok ? ok({ ...found.value, isStopped: false }) : found;
    }
    const matched = await search.match(pattern, scope, limits);
    if (!matched.ok) return matched;
    const hits = matched.value.hits.map((hit): FoundHit => ({ ...hit, score: 1 }));
    const { stopped } = matched.value;
    const total = hits.length + (stopped === "hits" ? 1 : 0);
    return ok({ hits, total, missing: [], repaired: [], isStopped: stopped === "time" });
  }

  /** Undefined: it is no longer what was found. */
  async function shownHit(hit: FoundHit, rows: ReadonlyMap<string, ConversationRow>): Promise<LookupHit | undefined> {
    const { documents, snippet, score, from, to, headings, said } = hit;
    for (const { kind, place } of documents) {
      const [name, path] = [place.slice(0, place.indexOf("/")), place.slice(place.indexOf("/") + 1)];
      const conversation = rows.get(name);
      if (conversation === undefined) continue;
      const common = { conversation, snippet, score };
      const who = said?.by === "user" ? "user" : "agent";
      if (kind === messageKind) return { ...common, kind: "message", seq: Number(path), at: said?.at ?? 0, who };
      if (kind === fileKind && (await isAsFound(conversation, path, hit.id)))
        return { ...common, kind: "file", path, from, to, headings };
    }
    return undefined;
  }
}
