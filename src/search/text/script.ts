import { anyOfRuns } from "./runs.ts";
import { simplifiedPairs } from "./simplified.ts";

export type Script = "letters" | "simplified" | "traditional";

const pairs = Array.from(simplifiedPairs.matchAll(/(.)(.)/gu), ([, from = "", to = ""]) => [from, to] as const);
/** What only one way of writing Chinese has. */
const ways = new Map<string, Script>([
  ...pairs.map(([, to]) => [to, "simplified"] as const),
  ...pairs.map(([from]) => [from, "traditional"] as const),
]);
const ideographs = /\p{sc=Han}+/gu;
/** A manual in Chinese is full of English names, and one in English shows how Chinese is typed. */
const chineseShareMin = 0.05;

/** How a text is written; undefined where its few characters are the same in both forms of Chinese. */
export function scriptOf(text: string): Script | undefined {
  if (!anyOfRuns.test(text)) return "letters";
  const found = (text.match(ideographs) ?? []).join("");
  if (found.length < text.length * chineseShareMin) return "letters";
  let [olds, news] = [0, 0];
  for (const character of found) {
    const way = ways.get(character);
    if (way === "traditional") olds += 1;
    else if (way === "simplified") news += 1;
  }
  if (olds === news) return undefined;
  return olds > news ? "traditional" : "simplified";
}
