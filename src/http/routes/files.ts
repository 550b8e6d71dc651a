import { ok } from "../../base/result.ts";
import type { FileDetails as Described, SearchResult } from "../../documents/documents.ts";
import { failure } from "../../protocol/failure.ts";
import type { FileDetails, SearchedFiles } from "../../protocol/resources.ts";
import type { Language } from "../../words/words.ts";
import { shownPath } from "../../workspace/workspace.ts";
import type { Handlers, Parts } from "../handler.ts";
import { storeOnce } from "../sandbox/stored-before.ts";
import { toldReceipt } from "../told-receipt.ts";

type Names = "listFiles" | "readFile" | "describeFile" | "searchFiles" | "uploadFile" | "removeFile";

export function fileHandlers(parts: Parts): Pick<Handlers, Names> {
  const { engine, log, documents } = parts;
  return {
    async listFiles({ owner, params, query }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const files = await engine.agentFiles(row.value, query.agent);
      const listing = files.ok ? await files.value.list(query.path, { hidden: query.hidden }) : files;
      if (!listing.ok) return listing;
      const { path, entries } = listing.value;
      const { after = "", limit } = query;
      const prefix = path === "." ? "" : `${path}/`;
      const start = after === "" ? 0 : entries.findIndex(({ name }) => name > after);
      const page = start < 0 ? [] : entries.slice(start, start + limit);
      const isLast = start < 0 || start + limit >= entries.length;
      const items = page.map((entry) => ({
        ...entry,
        path: prefix + entry.name,
        modifiedAt: Math.trunc(entry.modifiedAt),
      }));
      return ok({ path, items, next: isLast ? null : (page.at(-1)?.name ?? null) });
    },
    async readFile({ owner, params, query: { path, agent } }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const files = await engine.agentFiles(row.value, agent);
      if (!files.ok) return files;
      const stat = await files.value.stat(path);
      if (!stat.ok) return stat;
      if (stat.value.type === "folder") return failure("not_a_file", { path: shownPath(stat.value.path) });
      return ok({ stat: stat.value, open: (range) => files.value.stream(path, range) });
    },
    async describeFile({ owner, params, query: { path, wait }, language, signal }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const waitMs = wait * 1_000;
      const described = await documents.describe(engine.files(row.value), path, { waitMs, signal });
      return described.ok ? ok(toDetails(described.value, language)) : described;
    },
    async searchFiles({ owner, params, query: { regex, limit, context, ...wanted }, signal }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const found = await documents.search(engine.files(row.value), {
        ...{ ...wanted, isRegex: regex, hitsMax: limit, contextCharacters: context, signal },
      });
      if (!found.ok) return found;
      return ok(toSearched(found.value));
    },
    async uploadFile({ owner, params, query, bytes, once, language, signal }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const { chunks, announced } = bytes;
      const file = { name: params.name, chunks, keep: query.keep };
      const store = (wanted: typeof file) => engine.upload(row.value, { ...wanted, announcedBytes: announced });
      const workspace = engine.files(row.value);
      const stored =
        once?.isRetry === true
          ? await storeOnce(parts, workspace, { ...file, folder: "uploads" }, store)
          : await store(file);
      if (!stored.ok || query.wait === 0) return stored;
      const waiting = { waitMs: query.wait * 1_000, signal };
      const described = await documents.describe(workspace, stored.value.path, waiting);
      return described.ok ? ok({ ...stored.value, details: toDetails(described.value, language) }) : stored;
    },
    async removeFile({ owner, params, query }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.removeFile(row.value, query.path) : row;
    },
  };
}

function toSearched({ hits, stopped, unsearched, missing, repaired, ...counts }: SearchResult): SearchedFiles {
  return {
    ...counts,
    stopped: stopped ?? null,
    hits: hits.map((hit) => ("line" in hit ? hit : { ...hit, headings: [...hit.headings] })),
    unsearched: unsearched.flatMap(({ path, state, done, of, failure: why }) =>
      state === "indexed" ? [] : [{ path, state, done, of, ...(why !== undefined && { code: why.code }) }],
    ),
    missing: [...missing],
    repaired: repaired.map(({ said, meant }) => ({ said, meant })),
  };
}

function toDetails({ stat, type, indexing, receipt, failure: why }: Described, language: Language): FileDetails {
  const { path, bytes, modifiedAt } = stat;
  return {
    ...{ path, type, bytes, modifiedAt: Math.trunc(modifiedAt), code: why?.code ?? null },
    indexing: indexing === undefined ? null : indexing,
    ...toldReceipt({ receipt, failure: why }, language),
    receipt: receipt === undefined ? null : { ...receipt, losses: receipt.losses.map(toLoss) },
  };
}

function toLoss({ kind, count, places }: Loss) {
  return { kind, count, places: [...places] };
}

type Loss = NonNullable<Described["receipt"]>["losses"][number];
