/**
 * The stem of an English word, letter for letter as the `porter` tokenizer of SQLite's FTS5 makes it: what the index found
 * is marked and weighed by it. A test compares the two. https://tartarus.org/martin/PorterStemmer/def.txt
 */
export function stem(word: string): string {
  if (word.length < 3 || word.length > charactersMax) return word;
  let stemmed = withoutPlural(word);
  stemmed = withoutPast(stemmed);
  if (stemmed.endsWith("y") && hasVowel(stemmed.slice(0, -1))) stemmed = `${stemmed.slice(0, -1)}i`;
  stemmed = replaceEnding(stemmed, longEndings, 1);
  stemmed = replaceEnding(stemmed, middleEndings, 1);
  stemmed = withoutShortEnding(stemmed);
  return tidy(stemmed);
}

/** Longer words FTS5 leaves as they are. */
const charactersMax = 64;

type Endings = readonly (readonly [ending: string, instead: string])[];

const longEndings: Endings = Object.entries({
  ...{ ational: "ate", tional: "tion", enci: "ence", anci: "ance", izer: "ize", logi: "log", bli: "ble", alli: "al" },
  ...{ entli: "ent", eli: "e", ousli: "ous", ization: "ize", ation: "ate", ator: "ate", alism: "al", iveness: "ive" },
  ...{ fulness: "ful", ousness: "ous", aliti: "al", iviti: "ive", biliti: "ble" },
});
const middleEndings: Endings = Object.entries({
  ...{ icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: "" },
});
const shortEndings = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(" ");

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss")) return word;
  if (!word.endsWith("es")) return word.slice(0, -1);
  const isLong = (word.length > 4 && word.endsWith("sses")) || (word.length > 3 && word.endsWith("ies"));
  return word.slice(0, isLong ? -2 : -1);
}

function withoutPast(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const cut = ["ed", "ing"].find((ending) => word.length > ending.length && word.endsWith(ending));
  const rest = cut === undefined ? word : word.slice(0, -cut.length);
  if (rest === word || !hasVowel(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (rest.length > 1 && rest.at(-1) === rest.at(-2) && !/[lszaeiou]$/.test(rest)) return rest.slice(0, -1);
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

function replaceEnding(word: string, endings: Endings, measureMin: number): string {
  const found = longest(
    word,
    endings.map(([ending]) => ending),
  );
  const instead = endings.find(([ending]) => ending === found)?.[1];
  if (found === undefined || instead === undefined) return word;
  const rest = word.slice(0, -found.length);
  return measure(rest) >= measureMin ? rest + instead : word;
}

function withoutShortEnding(word: string): string {
  const found = longest(word, shortEndings);
  if (found === undefined) return word;
  const rest = word.slice(0, -found.length);
  if (found === "ion" && !/[st]$/.test(rest)) return word;
  return measure(rest) > 1 ? rest : word;
}

function tidy(word: string): string {
  let rest = word;
  if (rest.endsWith("e")) {
    const shorter = rest.slice(0, -1);
    const size = measure(shorter);
    if (size > 1 || (size === 1 && !endsShort(shorter))) rest = shorter;
  }
  return rest.endsWith("ll") && measure(rest.slice(0, -1)) > 1 ? rest.slice(0, -1) : rest;
}

function longest(word: string, endings: readonly string[]): string | undefined {
  return endings
    .filter((ending) => word.length > ending.length && word.endsWith(ending))
    .reduce<string | undefined>((best, each) => (each.length > (best?.length ?? 0) ? each : best), undefined);
}

/** `v` or `c` for each letter; y is a vowel behind a consonant. */
function shape(word: string): string {
  let shaped = "";
  for (const letter of word) shaped += "aeiou".includes(letter) || (letter === "y" && shaped.endsWith("c")) ? "v" : "c";
  return shaped;
}

/** How often vowels are followed by consonants. */
function measure(word: string): number {
  return shape(word).match(/v+c+/g)?.length ?? 0;
}

function hasVowel(word: string): boolean {
  return shape(word).includes("v");
}

/** Ends like `hop`: consonant, vowel, and a consonant other than w, x, y. */
function endsShort(word: string): boolean {
  return /cvc$/.test(shape(word)) && !/[wxy]$/.test(word);
}
