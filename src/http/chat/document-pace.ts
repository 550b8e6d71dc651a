import type { Change } from "./changes.ts";

/** A document is sent again when this part of it is new, so that a text costs so many times its length in all. */
const partNew = { short: 1 / 64, long: 1 / 8 } as const;
/** What happens besides text is shown at once in a document no longer than this. */
const shortCharacters = 128 * 1024;

/** When a whole document is worth being sent again. */
export function documentPace() {
  let size = 0;
  let grown = 0;
  let hasFact = false;
  return {
    note({ content, action }: Change): void {
      if (action === "append" && typeof content === "string") grown += content.length;
      else hasFact = true;
    },
    hasNews: () => hasFact || grown > 0,
    isDue() {
      const isShort = size <= shortCharacters;
      return (hasFact && isShort) || grown > size * partNew[isShort ? "short" : "long"];
    },
    sent(characters: number): void {
      size = characters;
      grown = 0;
      hasFact = false;
    },
  };
}
