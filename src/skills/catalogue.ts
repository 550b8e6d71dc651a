import { estimateTokens } from "../models/models.ts";
import { forModels, withoutOurTags } from "../words/words.ts";

/** The list of skills as it stands in the system message. */
export type Catalogue = {
  /** Undefined where there is nothing to list. */
  readonly text: string | undefined;
  /** Those that there was no room for. */
  readonly cut: readonly string[];
  /** What all of it may take. */
  readonly tokensMax: number;
};

const windowShare = 0.02;
const catalogueTokensMax = 2_000;
const entryTokensMax = 80;

type Entry = {
  readonly id: string;
  readonly skill: { readonly description: string } | undefined;
};

/**
 * One line a skill, by name, so that the bytes are the same at every start. Long descriptions lose their end first;
 * where not even short ones fit, the last ones are left out, and the list says how many.
 */
export function catalogueOf(skills: readonly Entry[], windowTokens: number): Catalogue {
  const tokensMax = Math.min(Math.floor(windowTokens * windowShare), catalogueTokensMax);
  if (skills.length === 0) return { text: undefined, cut: [], tokensMax };
  const heading = estimateTokens(forModels.skills.catalogue([], skills.length));
  const share = Math.floor((tokensMax - heading) / skills.length);
  const perEntry = Math.max(entryTokensMin, Math.min(entryTokensMax, share));
  const lines: string[] = [];
  let left = tokensMax - heading;
  for (const { id, skill } of skills) {
    const line = lineOf(id, skill?.description ?? "", perEntry);
    left -= estimateTokens(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const cut = skills.slice(lines.length).map(({ id }) => id);
  if (lines.length === 0) return { text: forModels.skills.onlyNamed(cut.length), cut, tokensMax };
  return { text: forModels.skills.catalogue(lines, cut.length), cut, tokensMax };
}

/** Enough for a name and what it is about. */
const entryTokensMin = 24;

function lineOf(id: string, description: string, tokensMax: number): string {
  const whole = withoutOurTags(description);
  const fits = (length: number) => estimateTokens(forModels.skills.entry(id, cutAt(whole, length))) <= tokensMax;
  if (fits(whole.length)) return forModels.skills.entry(id, whole);
  let [least, most] = [0, whole.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return forModels.skills.entry(id, cutAt(whole, least));
}

/** At a word where there is one near, never inside a character. */
function cutAt(text: string, length: number): string {
  if (length >= text.length) return text;
  const head = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  const word = head.lastIndexOf(" ");
  return `${(word > length / 2 ? head.slice(0, word) : head).trimEnd()}…`;
}
