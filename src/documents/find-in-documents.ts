import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Hit, PlainHit, QueryFailure, Search, SearchFailure } from "../search/search.ts";
import type { FileFailure, FileStat, Workspace } from "../workspace/workspace.ts";
import type { PassageHit, SearchQuery, SearchResult, Unsearched } from "./documents.ts";
import { fileKind, type Library, pointerOf, type Wanted } from "./library.ts";

/** What was found in documents, which are searched by an index. */
export type FoundInDocuments = Pick<SearchResult, "unsearched" | "missing" | "repaired"> & {
  readonly hits: readonly PassageHit[];
  readonly total: number;
  readonly documents: number;
  readonly stopped: "time" | "hits" | undefined;
};

type Parts = {
  readonly library: Library;
  readonly search: Search;
  readonly clock: Clock;
  readonly isDocument: (workspace: Workspace, file: FileStat) => Promise<boolean>;
};

/** A search waits so long for documents that are not in the index yet; what is not ready by then it names. */
const indexWaitMsMax = 20_000;
/** Besides what is asked for on either side of a match: the match itself. */
const matchCharacters = 100;

export function openDocumentSearch({ library, search, clock, isDocument }: Parts) {
  return async (workspace: Workspace, query: SearchQuery): Promise<Result<FoundInDocuments, FileFailure>> => {
    const { path, signal } = query;
    const walk = await workspace.walk(path, { signal });
    if (!walk.ok) return walk;
    const wanted: Wanting[] = [];
    for await (const file of walk.value)
      if (await isDocument(workspace, file))
        wanted.push({ path: file.path, ...library.want(workspace, file, { isAwaited: true }) });
    await untilReady(wanted, clock, signal);
    const [ready, unsearched] = sortedOut(wanted);
    const rest = { unsearched, documents: ready.length };
    if (ready.length === 0) return ok({ ...nothing, ...rest });
    const found = await look(workspace, ready, query);
    if (found.ok) return ok({ ...found.value, ...rest });
    // The text search refuses patterns that are none; a query without words finds nothing here.
    if (found.failure.code === "pattern_invalid") return ok({ ...nothing, ...rest });
    library.doubt();
    const { failure } = found;
    const lost = ready.map((each): Unsearched => ({ path: each, state: "failed", done: 0, of: 0, failure }));
    return ok({ ...nothing, unsearched: [...unsearched, ...lost], documents: 0 });
  };

  async function look(
    workspace: Workspace,
    ready: readonly string[],
    { query, isRegex, hitsMax, contextCharacters, signal }: SearchQuery,
  ): Promise<Result<Omit<FoundInDocuments, "unsearched" | "documents">, SearchFailure | QueryFailure>> {
    const places = ready.map((path) => pointerOf(workspace, path).place);
    const scope = { owner: workspace.owner, kinds: [fileKind], places };
    const limits = { hitsMax, snippetCharacters: 2 * contextCharacters + matchCharacters, signal };
    const shown = (hits: readonly (Hit | PlainHit)[]) => hits.map((hit) => passageOf(hit, workspace));
    if (isRegex) {
      const matched = await search.match(query, scope, limits);
      if (!matched.ok) return matched;
      const { hits, stopped } = matched.value;
      return ok({ ...nothing, hits: shown(hits), total: hits.length + (stopped === "hits" ? 1 : 0), stopped });
    }
    const found = await search.find(query, scope, limits);
    if (!found.ok) return found;
    const { hits, total, missing, repaired } = found.value;
    return ok({ hits: shown(hits), total, missing, repaired, stopped: undefined });
  }
}

const nothing = { hits: [], total: 0, missing: [], repaired: [], stopped: undefined };

type Wanting = Wanted & { readonly path: string };

async function untilReady(wanted: readonly Wanting[], clock: Clock, signal: AbortSignal): Promise<void> {
  const isOver = new AbortController();
  const ended = Promise.all(wanted.map((each) => each.ended));
  await Promise.race([ended, clock.wait(indexWaitMsMax, AbortSignal.any([signal, isOver.signal]))]);
  isOver.abort();
}

/** Those that can be searched, and what is to be said of the others. */
function sortedOut(wanted: readonly Wanting[]): [ready: string[], unsearched: Unsearched[]] {
  const ready: string[] = [];
  const unsearched: Unsearched[] = [];
  for (const { path, now } of wanted) {
    const { state, ...rest } = now();
    if (state === "indexed") ready.push(path);
    else unsearched.push({ path, state, ...rest });
  }
  return [ready.sort(), unsearched];
}

function passageOf(hit: Hit | PlainHit, workspace: Workspace): PassageHit {
  const { id, documents, from, to, headings, snippet } = hit;
  const path = documents[0]?.place.slice(workspace.name.length + 1) ?? "";
  return { path, id, from, to, headings, text: snippet, ...("score" in hit && { score: hit.score }) };
}
