/**
 * Says two thousand messages unless they were said, and begins to search: it is killed when so many batches of them were
 * handed to the index, while the last one is on its way: `node killed-lookup.ts <data> <batches>`.
 */
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openLookup } from "../../src/lookup/lookup.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { openSearch } from "../../src/search/search.ts";
import { testDocuments } from "./documents.ts";
import { quietLogger } from "./workspace.ts";
import { must, startYard } from "./yard.ts";

const [data = "", batches = ""] = process.argv.slice(2);
const { log, workspaces, start } = await startYard({ data });
const owner = OwnerId.parse("local");
const found = await log.find(owner, "long");
const row = found.ok ? found.value : await start("long");
const said = Array.from({ length: 2_000 }, (_, index) => ({
  ...{ type: "message.user" as const, id: `m${index}`, mode: "queue" as const },
  text: `heron${index} is number ${index}`,
}));
if ((await log.headOf(row.number)) === 0) await must(log.append(row.number, said));

const opened = openSearch({ file: join(data, "indexes.db"), clock: systemClock });
if (!opened.ok) throw new Error(opened.failure.code);
let left = Number(batches);
const search: typeof opened.value = {
  ...opened.value,
  follow(...given) {
    const followed = opened.value.follow(...given);
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
    return followed;
  },
};
const parts = { log, workspaces, documents: testDocuments(), clock: systemClock, logger: quietLogger([]) };
const wanted = { query: "heron1", in: "messages", hitsMax: 1, signal: new AbortController().signal } as const;
await openLookup({ ...parts, search }).find(owner, wanted);
throw new Error("it was not killed");
