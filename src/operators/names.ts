/** Every family of models takes these in names of tools and arguments. */
const notAllowed = /[^A-Za-z0-9_-]+/g;
const nameCharactersMax = 64;

/** A name in letters that models take; empty where nothing of it is left. */
export function cleanName(written: string, charactersMax = nameCharactersMax): string {
  return written
    .replaceAll(notAllowed, "_")
    .replaceAll(/_{2,}/g, "_")
    .replace(/^_+/, "")
    .slice(0, charactersMax)
    .replace(/[_-]+$/, "");
}

/** The name, or the first with a number behind it that nobody has yet; from then on it is taken. */
export function freeName(wanted: string, taken: Set<string>): string {
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `_${number}`;
    const name = wanted.slice(0, nameCharactersMax - ending.length) + ending;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** `Weather` and `getForecast` → `Weather__getForecast`: two boxes may call their tools alike, and like ours. */
export function nameInBox(box: { readonly id: string; readonly name: string }, tool: string): string {
  const first = cleanName(box.name, boxCharactersMax) || `box_${cleanName(box.id, 6)}`;
  return `${first}__${tool}`.slice(0, nameCharactersMax);
}

const boxCharactersMax = 24;
