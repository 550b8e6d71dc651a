import { anyOfRuns } from "./runs.ts";
import { simplifiedPairs } from "./simplified.ts";

export type Script = "letters" | "simplified" | "traditional";

const pairs = Array.from(simplifiedPairs.matchAll(/(.)(.)/gu), ([, from = "", to = ""]) => [from, to] as const);
const traditional = new Set(pairs.map(([from]) => from));
const simplified = new Set(pairs.map(([, to]) => to).filter((to) => !traditional.has(to)));
const ideographs = /\p{sc=Han}/gu;
/** A manual in Chinese is full of English names, and one in English shows how Chinese is typed. */
const chineseShareMin = 0.05;

/** How a text is written; undefined where its few characters are the same in both forms of Chinese. */
export function scriptOf(text: string): Script | undefined {
  if (!anyOfRuns.test(text)) return "letters";
  const found = text.match(ideographs) ?? [];
  if (found.length < text.length * chineseShareMin) return "letters";
  let [olds, news] = [0, 0];
  for (const character of found) {
    if (traditional.has(character)) olds += 1;
    else if (simplified.has(character)) news += 1;
  }
  if (olds === news) return undefined;
  return olds > news ? "traditional" : "simplified";
}
