import { ok } from "../../base/result.ts";
import type { LookedUp, LookupHit } from "../../lookup/lookup.ts";
import { failure } from "../../protocol/failure.ts";
import type { SearchAnswer, SearchHit } from "../../protocol/search-routes.ts";
import type { Handlers, Parts } from "../handler.ts";

const scopesOf = { files: ["files"], messages: ["chat"], all: ["chat", "files"] } as const;

export function searchHandlers({ log, lookup }: Parts): Pick<Handlers, "search"> {
  return {
    async search({ owner, query: { q, in: where, conversation, limit }, caller, signal }) {
      const missing = scopesOf[where].find((scope) => !caller.scopes.includes(scope));
      if (missing !== undefined) return failure("scope_missing", { scope: missing });
      const row = conversation === undefined ? ok(undefined) : await log.find(owner, conversation);
      if (!row.ok) return row;
      const wanted = { query: q, in: where, conversation: row.value, hitsMax: limit, signal };
      const found = await lookup.find(owner, wanted);
      return found.ok ? ok(toAnswer(found.value)) : found;
    },
  };
}

function toAnswer({ hits, missing, repaired, unsearched, meaning, ...rest }: LookedUp): SearchAnswer {
  return {
    ...rest,
    ...(meaning && { meaning: toMeaning(meaning) }),
    items: hits.map(toHit),
    missing: [...missing],
    repaired: repaired.map(({ said, meant }) => ({ said, meant })),
    unsearched: unsearched.flatMap(({ conversation, path, state, done, of, failure: why }) =>
      state === "indexed"
        ? []
        : [{ conversation, path, state, done, of, ...(why !== undefined && { code: why.code }) }],
    ),
  };
}

function toMeaning({ passages, embedded, trouble }: NonNullable<LookedUp["meaning"]>) {
  if (trouble === undefined) return { passages, embedded };
  return { passages, embedded, trouble: trouble.why === "limit" ? trouble.why : trouble.error.kind };
}

function toHit({ conversation: { id, title }, ...hit }: LookupHit): SearchHit {
  const conversation = { id, title };
  if (hit.kind === "message") return { ...hit, conversation };
  return { ...hit, conversation, headings: [...hit.headings] };
}
