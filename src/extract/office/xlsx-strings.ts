import type { Archive } from "../packed/archive.ts";
import { readXml } from "../packed/xml.ts";

const stringsMax = 2_000_000;

/** The texts that cells share, by number: their parts joined, without how they are spoken. */
export function readStrings(archive: Archive, part: string | undefined): readonly string[] {
  const strings: string[] = [];
  let [text, inText, inPhonetic] = ["", false, false];
  if (part !== undefined)
    readXml(
      archive,
      part,
      {
        open(name) {
          if (name === "si") text = "";
          else if (name === "rPh") inPhonetic = true;
          else if (name === "t") inText = true;
        },
        close(name) {
          if (name === "si") strings.push(text);
          else if (name === "rPh") inPhonetic = false;
          else if (name === "t") inText = false;
        },
        text(more) {
          if (inText && !inPhonetic) text += more;
        },
      },
      () => strings.length < stringsMax,
    );
  return strings;
}
