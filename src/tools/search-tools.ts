import type { JsonSchema } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** Finds tools by what they are called, do and take; the likeliest first. */
export function searchTools(index: ToolIndex, query: string, hitsMax: number): readonly Tool[] {
  const wanted = [...new Set(wordsIn(query))].slice(0, wordsMax);
  const scores = new Map<Tool, number>();
  for (const word of wanted) {
    for (const [known, weight] of likeWord(index, word)) {
      const places = index.places.get(known) ?? new Map<Tool, number>();
      // The less common a word is among the tools, the more it says of one.
      const rarity = Math.log(1 + (index.lengths.size - places.size + 0.5) / (places.size + 0.5));
      for (const [tool, count] of places) {
        const share = (index.lengths.get(tool) ?? 0) / index.lengthMean;
        const score = (weight * rarity * count * (saturation + 1)) / (count + saturation * (1 - lean + lean * share));
        scores.set(tool, (scores.get(tool) ?? 0) + score);
      }
    }
  }
  const best = [...scores].sort(([a, one], [b, other]) => other - one || (a.name < b.name ? -1 : 1));
  return best.slice(0, hitsMax).map(([tool]) => tool);
}

const wordsMax = 30;
/** How soon it no longer counts that a word comes again, and how much long texts are held back: the usual numbers of BM25. */
const saturation = 1.2;
const lean = 0.75;
/** What a word counts in each place. */
const weights = { name: 4, words: 2, description: 1, argument: 1 } as const;
/** Of a text that others made as long as they liked. */
const textMax = 4_000;
const begunMin = 4;
const begunWeight = 0.5;

/** What is made once of a list of tools. */
export type ToolIndex = {
  /** How much each word counts for each tool. */
  readonly places: ReadonlyMap<string, ReadonlyMap<Tool, number>>;
  readonly lengths: ReadonlyMap<Tool, number>;
  readonly lengthMean: number;
};

export function indexTools(tools: readonly Tool[]): ToolIndex {
  const places = new Map<string, Map<Tool, number>>();
  const lengths = new Map<Tool, number>();
  for (const tool of tools) {
    for (const [text, weight] of textsOf(tool)) {
      for (const word of wordsIn(text.slice(0, textMax))) {
        const counts = places.get(word) ?? new Map<Tool, number>();
        counts.set(tool, (counts.get(tool) ?? 0) + weight);
        places.set(word, counts);
        lengths.set(tool, (lengths.get(tool) ?? 0) + 1);
      }
    }
  }
  const all = [...lengths.values()].reduce((sum, length) => sum + length, 0);
  return { places, lengths, lengthMean: Math.max(all / Math.max(lengths.size, 1), 1) };
}

function textsOf({ name, aliases, description, parameters, words = "" }: Tool): [text: string, weight: number][] {
  const names = [name, ...aliases].map((one): [string, number] => [one, weights.name]);
  return [...names, [words, weights.words], [description, weights.description], ...argumentsOf(parameters)];
}

function argumentsOf({ properties = {} }: JsonSchema): [text: string, weight: number][] {
  return Object.entries(properties).map(([name, { description = "", enum: values = [] }]) => [
    [name, description, ...values].join(" "),
    weights.argument,
  ]);
}

/** The word itself, and longer ones that begin with it. */
function likeWord({ places }: ToolIndex, word: string): [known: string, weight: number][] {
  const begun =
    word.length < begunMin
      ? []
      : Array.from(places.keys()).filter((other) => other.length > word.length && other.startsWith(word));
  return [
    ...(places.has(word) ? [[word, 1] as [string, number]] : []),
    ...begun.map((o): [string, number] => [o, begunWeight]),
  ];
}

/**
 * Words in small letters and without their endings: `listPullRequests`, `list_pull_requests` and "list pull request" are
 * the same. Chinese has no blanks between words: there each two signs that stand together are one.
 */
function wordsIn(text: string): string[] {
  const parted = text.normalize("NFKC").replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2");
  return Array.from(parted.toLowerCase().matchAll(/\p{Script=Han}+|[\p{L}\p{N}]+/gu), ([piece]) => piece).flatMap(
    (piece) => (isHan.test(piece) ? pairsIn(piece) : piece.split(hanPart).flatMap(wordOrPairs)),
  );
}

const isHan = /^\p{Script=Han}+$/u;
const hanPart = /(\p{Script=Han}+)/u;

function wordOrPairs(piece: string): string[] {
  if (piece === "" || common.has(piece)) return [];
  return isHan.test(piece) ? pairsIn(piece) : [stem(piece)];
}

function pairsIn(piece: string): string[] {
  const signs = [...piece];
  return signs.length === 1 ? signs : signs.slice(1).map((sign, index) => `${signs[index]}${sign}`);
}

/** `requests`, `searching`, `created` → `request`, `search`, `creat`: roughly is enough, as long as both sides do it. */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const single = word.replace(/(ies|ss|us)$|s$/, (end) => ({ ies: "y", ss: "ss", us: "us" })[end] ?? "");
  const bare = single.replace(/(?<=[a-z]{3})(ing|ed)$/, "");
  return bare.replace(/(?<=[a-z]{3})e$/, "");
}

const common: ReadonlySet<string> = new Set(
  "a an and are as at be by can do for from have how i in into is it me my not of on or some that the this to tool tools use want what which with you your".split(
    " ",
  ),
);
