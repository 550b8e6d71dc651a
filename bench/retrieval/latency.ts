import type { Block } from "../../src/extract/extracted.ts";
import type { Search } from "../../src/search/search.ts";
import { type Figure, spreadOf, timed } from "../figure.ts";
import { must } from "../must.ts";
import { watchStalls } from "../stalls.ts";

/** The manuals again and again, each copy a document of its own, until there are so many passages; then queries, warm. */
export async function measureLatency(
  search: Search,
  manuals: ReadonlyMap<string, readonly Block[]>,
  queries: readonly string[],
  passagesMin: number,
): Promise<Figure[]> {
  const stalls = watchStalls();
  let passages = 0;
  const indexMs = await timed(async () => {
    for (let copy = 0; passages < passagesMin; copy += 1) {
      for (const [name, blocks] of manuals) {
        const pointer = { owner: "many", kind: "file", place: `${copy}/${name}` };
        // A line of its own makes each copy another document.
        const own: Block = { kind: "paragraph", text: `copy ${copy} of ${name}`, from: { page: 1 } };
        passages += must(await search.put(pointer, `${copy} ${name}`, { blocks: [own, ...blocks] })).passages;
        if (passages >= passagesMin) break;
      }
    }
  });
  const ask = async (query: string) => timed(async () => must(await search.find(query, { owner: "many" })));
  for (const query of queries) await ask(query);
  const times: number[] = [];
  const costs: number[] = [];
  for (const query of queries) {
    const before = cpuMs();
    times.push(await ask(query));
    costs.push(cpuMs() - before);
  }
  const longest = stalls.stop("longest stall of the event loop, indexing included");
  const { p50, p95 } = spreadOf(times);
  return [
    {
      what: `passages in the index, by ${Math.round(passages / (indexMs / 1_000))} a second`,
      unit: "",
      value: passages,
    },
    { what: "query, warm, 50 of 100", unit: "ms", value: p50 },
    { what: "query, warm, 95 of 100", unit: "ms", value: p95, atMost: queryMsMost },
    // What other work on the machine does not change.
    { what: "the same in processor time, all threads", unit: "ms", value: spreadOf(costs).p95, atMost: queryMsMost },
    ...longest,
  ];
}

const queryMsMost = 40;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
