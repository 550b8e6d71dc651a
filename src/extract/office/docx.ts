import { failed, ok } from "../../base/result.ts";
import type { Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { openLosses } from "../losses.ts";
import type { Archive } from "../packed/archive.ts";
import { type Relation, relationsOf } from "../packed/relations.ts";
import { readXml } from "../packed/xml.ts";
import type { Reader } from "../reading.ts";
import { readStyles } from "./docx-styles.ts";
import { type DocxWriter, openDocxWriter, trimmedLines } from "./docx-writer.ts";
import { openPackage, titleOf } from "./open-package.ts";

/** Documents have no pages: a place in them is the number of its paragraph. */
export const readDocx: Reader = ({ bytes }, { onProgress }) => {
  const losses = openLosses();
  const opened = openPackage(bytes, "DOCX", losses);
  if (!opened.ok) return Promise.resolve(opened);
  const { archive, main } = opened.value;
  const relations = relationsOf(archive, main);
  const styles = readStyles(archive, relations.find(({ type }) => type === "styles")?.target);
  const notes = readNotes(archive, relations);
  const writer = openDocxWriter({ styles, losses, noteOf: (id) => notes.get(id) });
  const end = readXml(archive, main, writer, () => {
    onProgress({ done: writer.place.paragraph ?? 0, total: 0 });
    return !writer.isFull;
  });
  if (end === "refused" || (end === "damaged" && writer.blocks.length === 0))
    return Promise.resolve(failed({ why: "damaged", type: "DOCX" }));
  const headers = headersOf(archive, relations).map((text) => ({ kind: "note", text, from: writer.place }) as const);
  const stopped = stoppedAt(end === "limit" ? "size" : writer.isFull ? "characters" : undefined, writer);
  const found = { losses, title: titleOf(archive), images: writer.images, ...stopped };
  return Promise.resolve(ok(finish({ format: "docx", blocks: [...writer.blocks, ...headers], ...found })));
};

function stoppedAt(limit: string | undefined, { place }: DocxWriter): Pick<Receipt, "stopped"> {
  return limit === undefined ? {} : { stopped: { limit, at: place } };
}

const noteParts = [
  ["footnotes", "footnote"],
  ["endnotes", "endnote"],
  ["comments", "comment"],
] as const;
const noteCharactersMax = 100_000;

/** Notes by kind and id: `footnote 3`. The lines between text and notes are kept as notes too, and are none. */
function readNotes(archive: Archive, relations: readonly Relation[]): ReadonlyMap<string, string> {
  const notes = new Map<string, string>();
  for (const [type, tag] of noteParts) {
    let id: string | undefined;
    const words = openWords();
    readXml(archive, relations.find((relation) => relation.type === type)?.target ?? "", {
      open(name, attributes) {
        if (name === tag) id = attributes.get("type") === undefined ? (attributes.get("id") ?? "") : undefined;
        words.open(name);
      },
      close(name) {
        words.close(name);
        if (name !== tag) return;
        const text = words.take();
        if (id !== undefined) notes.set(`${tag} ${id}`, text);
      },
      text: words.text,
    });
  }
  return notes;
}

/** What stands above and below the pages, once each; a file often has the same for several sections. */
function headersOf(archive: Archive, relations: readonly Relation[]): readonly string[] {
  const parts = relations.filter(({ type }) => type === "header" || type === "footer");
  const texts = parts.map(({ target }) => {
    const words = openWords();
    readXml(archive, target, words);
    return words.take();
  });
  return [...new Set(texts)].filter((text) => /\p{L}/u.test(text));
}

/** The words of a small part, paragraphs apart by a line feed. */
function openWords() {
  let [text, inText] = ["", 0];
  return {
    open(name: string) {
      if (name === "t") inText += 1;
      else if (name === "tab") text += " ";
    },
    close(name: string) {
      if (name === "t") inText = Math.max(inText - 1, 0);
      else if (name === "p") text += "\n";
    },
    text(more: string) {
      if (inText > 0 && text.length < noteCharactersMax) text += more;
    },
    take() {
      const taken = trimmedLines(text).replaceAll(/\n+/g, "\n");
      text = "";
      return taken;
    },
  };
}
