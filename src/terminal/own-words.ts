import { attachedWords } from "../words/words.ts";

/** What a person said, and the files that came with it. */
export type OwnWords = { readonly words: string; readonly files: readonly string[] };

/** A stored message without what was put behind it for the model: the list of its files, and the texts of small ones. */
export function ownWords(text: string): OwnWords {
  for (const { list, inline } of Object.values(attachedWords)) {
    const heading = `\n\n${list}\n`;
    const listAt = text.lastIndexOf(heading);
    const lines = listAt < 0 ? [] : text.slice(listAt + heading.length).split("\n");
    const files = lines.flatMap((line) => /^- .+ → (.+) \([\w+.-]+\)$/.exec(line)?.[1] ?? []);
    if (files.length === 0 || files.length !== lines.length) continue;
    const places = files
      .flatMap((path) => textBegins.map((begin) => text.indexOf(`\n\n${inline(path)}\n${begin}`)))
      .filter((at) => at >= 0);
    return { words: text.slice(0, Math.min(listAt, ...places)), files };
  }
  return { words: text, files: [] };
}

/** How the text of a file begins; in older logs it stands in a fence. */
const textBegins = ["<data source=", "```"];

/** The same for the screen, files on a line of their own. */
export function saidText(text: string): string {
  const { words, files } = ownWords(text);
  return files.length === 0 ? words : `${words}\n  ↑ ${files.join(", ")}`;
}
