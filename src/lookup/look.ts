import { ok, type Result } from "../base/result.ts";
import { fileKind } from "../documents/documents.ts";
import type { Hit, QueryFailure, Scope, Search, SearchFailure } from "../search/search.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { messageKind } from "./follow-log.ts";
import type { LookedUp, LookupHit, LookupQuery } from "./lookup.ts";

/** What is shown of a hit. */
const snippetCharacters = 300;
/** A file may change while it is found: what is shown is looked at, and looked for again. */
const triesMax = 2;

type Parts = {
  readonly search: Pick<Search, "find">;
  readonly isAsFound: (conversation: ConversationRow, path: string, hit: string) => Promise<boolean>;
};

type Looked = Pick<LookedUp, "hits" | "total" | "missing" | "repaired">;

/** Asks the index, and shows only what is still so. */
export function openLook({ search, isAsFound }: Parts) {
  return async (
    scope: Scope,
    { query, hitsMax, signal }: LookupQuery,
    rows: readonly ConversationRow[],
  ): Promise<Result<Looked, SearchFailure | QueryFailure>> => {
    const byName = new Map(rows.map((row) => [String(row.number), row]));
    for (let tries = 1; ; tries += 1) {
      const found = await search.find(query, scope, { hitsMax, snippetCharacters, signal });
      if (!found.ok) return found;
      const { hits, total, missing, repaired } = found.value;
      const shown = (await Promise.all(hits.map((hit) => shownHit(hit, byName)))).filter((hit) => hit !== undefined);
      const gone = hits.length - shown.length;
      if (gone > 0 && tries < triesMax) continue;
      return ok({ hits: shown, total: Math.max(shown.length, total - gone), missing, repaired });
    }
  };

  /** Undefined: it is no longer what was found. */
  async function shownHit(hit: Hit, rows: ReadonlyMap<string, ConversationRow>): Promise<LookupHit | undefined> {
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
