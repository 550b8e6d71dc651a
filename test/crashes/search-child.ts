import { systemClock } from "../../src/base/clock.ts";
import { openSearch } from "../../src/search/search.ts";
import { file } from "../world/search.ts";
import { editionOf } from "./search-editions.ts";

// Replaces a book by its next edition, over and over, and says how far it is: whoever started it kills it somewhere.
const [path = "", first = "0"] = process.argv.slice(2);
const opened = openSearch({ file: path, clock: systemClock });
if (!opened.ok) throw new Error(opened.failure.code);
for (let edition = Number(first); ; edition += 1) {
  const onProgress = (share: number) => console.log(`at ${edition} ${share}`);
  const put = await opened.value.put(file("ann", "book"), `edition ${edition}`, editionOf(edition), { onProgress });
  console.log(put.ok ? `done ${edition}` : JSON.stringify(put.failure));
}
