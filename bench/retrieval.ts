/**
 * `npm run bench retrieval`: how well manuals of Debian are searched, against the documented reference design rebuilt.
 *
 *   -- --short           fewer passages for the latency
 *   -- --only retrieval  or weights, which shows how the weights of the ranking were chosen, or latency
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { openExtractor } from "../src/extract/extract.ts";
import type { Block } from "../src/extract/extracted.ts";
import { openSearch, type Search, weights } from "../src/search/search.ts";
import { lineOf } from "./figure.ts";
import { must } from "./must.ts";
import { type Manual, openCorpus, openPython } from "./retrieval/corpus.ts";
import { measureLatency } from "./retrieval/latency.ts";
import { measurePages } from "./retrieval/pages.ts";
import { type Query, readQueries } from "./retrieval/queries.ts";
import { type Asked, judges, rankIn, type Shown, scopes, tableOf } from "./retrieval/score.ts";
import { crossValidate, type Proposals, ranksBy } from "./retrieval/weights.ts";

const { short: isShort, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
const results = join(import.meta.dirname, "results");
mkdirSync(results, { recursive: true });
const manuals = openCorpus(join(results, "corpus"));
const folder = mkdtempSync(join(results, "data-"));
const search = must(openSearch({ file: join(folder, "search.db"), clock: systemClock }));
try {
  const blocks = await readManuals(manuals);
  const queries = readQueries(manuals, blocks);
  for (const [name, each] of blocks)
    must(await search.put({ owner: "reader", kind: "file", place: name }, name, { blocks: each }));
  const lines: string[] = [];
  if (only === undefined || only !== "latency") {
    const proposals = await ask(search, queries);
    const empty = [...proposals].filter(([, shown]) => shown.length === 0);
    if (only !== "weights") {
      const reference = askReference(manuals, queries);
      for (const [name, judge] of Object.entries(judges)) {
        const theirs = new Map([...reference].map(([asked, shown]) => [asked, rankIn(shown, asked.query, judge)]));
        lines.push(`an answer is a result on the right ${name}; recall@5/MRR`, "");
        lines.push(...tableOf(ranksBy(proposals, weights, judge), theirs), "");
      }
    }
    lines.push(`queries with an empty answer: ${empty.length} of ${proposals.size}`);
    lines.push(lineOf(measurePages(manuals, blocks)));
    if (only === "weights") lines.push(...crossValidate(proposals));
  }
  if (only === undefined || only === "latency") {
    const figures = await measureLatency(
      search,
      blocks,
      queries.map(({ text }) => text),
      isShort ? 10_000 : 100_000,
    );
    lines.push(...figures.map(lineOf));
  }
  console.log(lines.join("\n"));
  writeFileSync(join(results, "retrieval.md"), `${lines.join("\n")}\n`);
} finally {
  await search.close();
  rmSync(folder, { recursive: true, force: true });
}

async function readManuals(all: readonly Manual[]): Promise<ReadonlyMap<string, readonly Block[]>> {
  const quiet = () => {};
  const over = async () => {};
  const logger = { path: undefined, debug: quiet, info: quiet, warn: quiet, error: quiet, flush: over, close: over };
  const extractor = openExtractor({ clock: systemClock, logger });
  const { signal } = new AbortController();
  const read = new Map<string, readonly Block[]>();
  for (const { name, bytes } of all) {
    const source = { name: `${name}.pdf`, bytes: Uint8Array.from(bytes), sizeBytes: bytes.length };
    read.set(name, must(await extractor.extract(source, { signal })).blocks);
  }
  await extractor.close();
  return read;
}

async function ask(within: Search, all: readonly Query[]): Promise<Proposals> {
  const proposals = new Map();
  for (const query of all) {
    for (const scope of scopes) {
      const places = scope === "one file" ? { places: [query.document] } : {};
      const found = must(
        await within.find(query.text, { owner: "reader", ...places }, { hitsMax: 60, snippetCharacters: 1 }),
      );
      const shown = found.hits.map((hit) => ({
        document: hit.documents[0]?.place ?? "",
        from: hit.from.page ?? 0,
        to: hit.to.page ?? 0,
        hit,
      }));
      proposals.set({ query, scope }, shown);
    }
  }
  return proposals;
}

/** In Python, as it was built. */
function askReference(all: readonly Manual[], asked: readonly Query[]): ReadonlyMap<Asked, readonly Shown[]> {
  const input = JSON.stringify({
    manuals: Object.fromEntries(all.map(({ name, pages }) => [name, pages])),
    queries: asked,
  });
  const options = { input, maxBuffer: 2 ** 28, env: openPython(join(results, "corpus")), encoding: "utf8" as const };
  const done = spawnSync("/usr/bin/python3", [join(import.meta.dirname, "retrieval", "reference.py")], options);
  if (done.status !== 0) throw new Error(done.stderr);
  const found: [string, number][][] = JSON.parse(done.stdout);
  const answers = new Map<Asked, readonly Shown[]>();
  for (const [index, query] of asked.entries()) {
    for (const [offset, scope] of scopes.entries()) {
      const shown = (found[index * scopes.length + offset] ?? []).map(([document, page]) => ({
        document,
        from: page,
        to: page,
      }));
      answers.set({ query, scope }, shown);
    }
  }
  return answers;
}
