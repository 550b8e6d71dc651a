import { webcrypto } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { z } from "zod";
import { systemClock } from "./base/clock.ts";
import { systemCode, systemCodeOrThrow } from "./base/fault.ts";
import { parsedJson } from "./base/json.ts";
import { failed, ok, type Result } from "./base/result.ts";
import { type Extractor, openExtractor } from "./extract/extract.ts";
import type { Receipt } from "./extract/extracted.ts";
import { noLogs } from "./observe/observe.ts";
import { type Failure, failure, makeFailure } from "./protocol/failure.ts";
import { type Hit, openSearch, patternIn, type Search } from "./search/search.ts";
import {
  exitCodeOfFiles,
  exitCodes,
  printSearch,
  printSearchLine,
  printUnread,
  refuse,
  type SearchCommand,
  type SearchedFile,
  type SearchedPassage,
} from "./terminal/terminal.ts";
import type { Words } from "./words/words.ts";

type Parts = { readonly words: Words; readonly output: Writable; readonly errors: Writable };

/** All belongs to whoever typed the command. */
const scope = { owner: "typed" };
const fileBytesMax = 100 * 1024 * 1024;
/** More than any passage has. */
const passageCharactersMax = 100_000;

/** `agentyard search`: reads the files that are named and searches them, in an index that goes with the command. */
export async function searchDocuments(command: SearchCommand, parts: Parts): Promise<number> {
  const queries = readQueries(command.asked, parts.words);
  if (!queries.ok) return refuse(queries.failure, parts);
  const leave = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => leave.abort());
  const folder = mkdtempSync(join(tmpdir(), "agentyard-search-"));
  const extractor = openExtractor({ clock: systemClock, logger: noLogs });
  const opened = openSearch({ file: join(folder, "indexes.db"), clock: systemClock });
  if (!opened.ok) return refuse(opened.failure, parts);
  const search = opened.value;
  try {
    const files = await indexAll(command.paths, { extractor, search, signal: leave.signal });
    if (leave.signal.aborted) return exitCodes.interrupted;
    return await answer(command, queries.value, { ...parts, search, files });
  } finally {
    await Promise.all([extractor.close(), search.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

type Query = { readonly id: unknown; readonly query: string };
type Answering = Parts & { readonly search: Search; readonly files: readonly SearchedFile<Receipt>[] };

async function answer(
  { asked, limit, json }: SearchCommand,
  queries: readonly Query[],
  { search, files, ...parts }: Answering,
): Promise<number> {
  if ("file" in asked) printUnread(files, parts);
  for (const { id, query } of queries) {
    const found = await find(search, query, limit);
    // A query without a word that could be looked for has no answer.
    const isEmpty = !found.ok && found.failure.code === "pattern_invalid" && found.failure.params.why === "empty";
    if (!found.ok && !isEmpty) return refuse(found.failure, parts);
    const results = found.ok ? found.value.map(passageOf) : [];
    if (!("file" in asked)) return printSearch({ results, files }, { ...parts, json });
    printSearchLine({ id, results }, parts.output);
  }
  return exitCodeOfFiles(files);
}

type FoundHit = Omit<Hit, "features">;

/** By words, or by a pattern between slashes: what that finds has no rank, and comes in its order. */
async function find(search: Search, query: string, hitsMax: number) {
  const limits = { hitsMax, snippetCharacters: passageCharactersMax };
  const pattern = patternIn(query);
  if (pattern === undefined) {
    const found = await search.find(query, scope, limits);
    return found.ok ? ok<readonly FoundHit[]>(found.value.hits) : found;
  }
  const matched = await search.match(pattern, scope, limits);
  return matched.ok ? ok(matched.value.hits.map((hit): FoundHit => ({ ...hit, score: 1 }))) : matched;
}

function passageOf({ documents, from, to, headings, score, snippet }: FoundHit): SearchedPassage {
  const first = from.page ?? from.slide ?? null;
  return {
    path: documents[0]?.place ?? "",
    page_from: first,
    page_to: to.page ?? to.slide ?? first,
    ...(from.sheet !== undefined && { sheet: from.sheet }),
    heading: headings.join(" › "),
    score,
    // As it stands in the document: what was found is not marked.
    text: snippet.replaceAll("**", ""),
  };
}

type Indexing = { readonly extractor: Extractor; readonly search: Search; readonly signal: AbortSignal };

/** As many at once as are read at once; each path is told of once, in the order of the command line. */
async function indexAll(paths: readonly string[], indexing: Indexing): Promise<SearchedFile<Receipt>[]> {
  const all = [...new Set(paths)];
  const done = new Map<string, SearchedFile<Receipt>>();
  const waiting = all.values();
  const work = async () => {
    for (const path of waiting) done.set(path, await indexOne(path, indexing));
  };
  await Promise.all([work(), work()]);
  return all.flatMap((path) => done.get(path) ?? []);
}

async function indexOne(path: string, { extractor, search, signal }: Indexing): Promise<SearchedFile<Receipt>> {
  const read = await readBytes(path);
  if (!read.ok) return { path, status: "failed", failure: read.failure };
  const bytes = read.value;
  const key = Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex");
  const extracted = await extractor.extract({ name: path, bytes, sizeBytes: bytes.length }, { signal });
  if (!extracted.ok) return { path, status: "failed", failure: extracted.failure };
  const put = await search.put({ ...scope, kind: "file", place: path }, key, extracted.value, { signal });
  if (!put.ok) return { path, status: "failed", failure: put.failure };
  const { receipt } = extracted.value;
  return { path, status: isWhole(receipt) ? "ok" : "partial", receipt };
}

/** Nothing is lost where something is only hidden in the file, or has another name than content. */
function isWhole({ stopped, losses }: Receipt): boolean {
  return stopped === undefined && losses.every(({ kind }) => harmless.has(kind));
}

const harmless = new Set(["hidden_sheets", "hidden_slides", "tracked_deletions", "type_differs"]);

/** A pipe or a device could keep us waiting for ever. */
async function readBytes(path: string): Promise<Result<Uint8Array<ArrayBuffer>, Failure>> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return failure("not_a_file", { path });
    if (found.size > fileBytesMax)
      return failure("document_too_large", { name: path, sizeBytes: found.size, limitBytes: fileBytesMax });
    return ok(new Uint8Array(await readFile(path)));
  } catch (error) {
    const code = systemCodeOrThrow(error);
    if (code === "EACCES" || code === "EPERM") return failure("permission_denied", { path, folder: "", why: "system" });
    return code === "ENOENT" || code === "ENOTDIR"
      ? failure("file_not_found", { path, near: "" })
      : failure("read_failed", { path, why: "io" });
  }
}

const Line = z.object({ id: z.unknown(), query: z.string() });

function readQueries(
  asked: SearchCommand["asked"],
  { terminal, faults }: Words,
): Result<readonly Query[], Failure<"usage">> {
  if ("query" in asked) return ok([{ id: undefined, query: asked.query }]);
  const { file } = asked;
  const usage = (why: string) => failed(makeFailure("usage", { what: `${file}: ${why}`, command: "search" }));
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const said = systemCode(error) ?? String(error);
    return usage(said === "ENOENT" ? faults.noFile() : faults.unreadable({ said }));
  }
  const queries: Query[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = Line.safeParse(parsedJson(line));
    if (!parsed.success) return usage(terminal.searching.lineUnfit({ line: index + 1 }));
    queries.push({ id: parsed.data.id, query: parsed.data.query });
  }
  return ok(queries);
}
