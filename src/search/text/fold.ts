import { simplifiedPairs } from "./simplified.ts";

/**
 * A text as index and query see it: compatible forms as one, small letters without marks, traditional characters as
 * simplified ones. Each character is folded by itself, so that the fold of a part is a part of the fold of the whole.
 */
export function fold(text: string): string {
  return text.replaceAll(beyondAscii, foldCharacter).toLowerCase();
}

/** The fold, and for each of its UTF-16 units where in the text it comes from; one more for the end. */
export function foldWithOrigins(text: string): { readonly folded: string; readonly origins: Uint32Array } {
  const origins: number[] = [];
  let folded = "";
  let at = 0;
  for (const character of text) {
    const plain = character <= "\x7f" ? character.toLowerCase() : foldCharacter(character);
    for (let unit = 0; unit < plain.length; unit += 1) origins.push(at);
    folded += plain;
    at += character.length;
  }
  origins.push(at);
  return { folded, origins: Uint32Array.from(origins) };
}

const beyondAscii = /[^\0-\x7f]/gu;
/** Marks above and below letters; joiners, soft hyphens, marks of direction and what PDF puts where a word was parted. */
const unseen = /[\u0300-\u036f]|[\ufe00-\ufe0f]|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe]/gu;

const simplified: ReadonlyMap<string, string> = new Map(
  Array.from(simplifiedPairs.matchAll(/(.)(.)/gu), ([, from = "", to = ""]) => [from, to]),
);
const remembered = new Map<string, string>();

function foldCharacter(character: string): string {
  const known = remembered.get(character);
  if (known !== undefined) return known;
  const plain = character.normalize("NFKD").replaceAll(unseen, "").normalize("NFC").toLowerCase().normalize("NFD");
  const bare = plain.replaceAll(unseen, "").normalize("NFC").replaceAll("ς", "σ");
  const folded = Array.from(bare, (each) => simplified.get(each) ?? each).join("");
  remembered.set(character, folded);
  return folded;
}
