import { derivedHex } from "../base/ids.ts";
import { shortened } from "../tools/tools.ts";
import { forModels, withoutOurHeadings, withoutOurTags } from "../words/words.ts";

const markCharacters = 6;

/** For a block around this text: the same for the same text, and never one that stands in it. */
export function markFor(text: string): string {
  for (let turn = 0; ; turn += 1) {
    const mark = derivedHex(markCharacters, String(turn), text);
    if (!text.includes(mark)) return mark;
  }
}

/** The user's words, byte for byte. What they pasted can neither end the block nor begin a part of ours. */
export function markedWords(text: string): string {
  return forModels.compact.words(text, misleading.test(text) ? markFor(text) : undefined);
}

/** Most words cannot be mistaken, and a mark takes room. */
const misleading = /<\s*\/|user\W*_?\W*words|^\s*(?:#|- )/imu;

/** What others wrote and the user said with a line of theirs: it can neither end its block nor begin a part of ours. */
export function markedRest(written: string): string {
  const text = withoutOurHeadings(withoutOurTags(written));
  return forModels.compact.chosen({ mark: markFor(text), text });
}

/** What a model wrote about the conversation, in a block that it cannot end; `prose` is where its words stand. */
export function markedProse(written: string): { text: string; prose: { at: number; length: number } } {
  const words = withoutOurHeadings(withoutOurTags(written)).trimEnd();
  const { text, at } = forModels.compact.summedUp({ mark: markFor(words), text: words });
  return { text, prose: { at, length: words.length } };
}

/** What others wrote, fit to stand in a line of ours. */
export function oneLine(text: string, bytesMax: number): string {
  return withoutOurTags(shortened(text.replaceAll(/\s+/g, " "), bytesMax));
}
