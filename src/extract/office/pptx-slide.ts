import type { Block } from "../extracted.ts";
import type { Archive } from "../packed/archive.ts";
import { relationsOf } from "../packed/relations.ts";
import { type Attributes, readXml, type XmlEnd, type XmlHandler } from "../packed/xml.ts";

export type ReadSlide = {
  readonly blocks: readonly Block[];
  readonly isHidden: boolean;
  readonly images: number;
  readonly end: XmlEnd;
};

/** Parts that a slide leads to and whose words are its own: what is said with it, and what it draws. */
const drawn = new Set(["diagramData", "chart"]);

/** A slide without what only its layout says: that is the same on all of them, and asks for words that nobody wrote. */
export function readSlide(archive: Archive, part: string, slide: number): ReadSlide {
  const writer = openSlideWriter(slide);
  const end = readXml(archive, part, writer);
  const relations = relationsOf(archive, part);
  const others = relations
    .filter(({ type }) => drawn.has(type))
    .flatMap(({ target }) => wordsOf(archive, target, slide));
  const notes = relations
    .filter(({ type }) => type === "notesSlide")
    .flatMap(({ target }) => notesOf(archive, target, slide));
  const comments = relations
    .filter(({ type }) => type === "comments")
    .flatMap(({ target }) => notesOf(archive, target, slide));
  const { title, body, isHidden, images } = writer.end();
  const heading: readonly Block[] = title === "" ? [] : [{ kind: "heading", text: title, level: 1, from: { slide } }];
  return { blocks: [...heading, ...body, ...others, ...notes, ...comments], isHidden, images, end };
}

type SlideWriter = XmlHandler & { end(): { title: string; body: readonly Block[]; isHidden: boolean; images: number } };

const skippedPlaces = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

function openSlideWriter(slide: number): SlideWriter {
  const body: Block[] = [];
  let [title, place, paragraph, inText, isHidden, images] = ["", "", "", false, false, 0];
  let lines: string[] = [];
  let rows: string[][] | undefined;
  const endShape = () => {
    const text = lines.join("\n");
    lines = [];
    if (text === "" || skippedPlaces.has(place)) return;
    if ((place === "title" || place === "ctrTitle") && title === "") title = text.replaceAll("\n", " ");
    else body.push({ kind: "paragraph", text, from: { slide } });
  };
  const endTable = () => {
    const text = (rows ?? []).map((row) => row.join("\t")).join("\n");
    rows = undefined;
    if (text.trim() !== "") body.push({ kind: "table", text, headRows: 1, from: { slide } });
  };
  return {
    open(name, attributes: Attributes) {
      if (name === "sld") isHidden = attributes.get("show") === "0" || attributes.get("show") === "false";
      else if (name === "sp") [place, lines] = ["", []];
      else if (name === "ph") place = attributes.get("type") ?? "body";
      else if (name === "tbl") rows = [];
      else if (name === "tr") rows?.push([]);
      else if (name === "pic") images += 1;
      else if (name === "p") paragraph = "";
      else if (name === "t") inText = true;
      else if (name === "br") paragraph += "\n";
      else if (name === "tab") paragraph += "\t";
    },
    close(name) {
      if (name === "t") inText = false;
      else if (name === "p" && paragraph.trim() !== "") lines.push(paragraph.trim());
      else if (name === "tc") {
        rows?.at(-1)?.push(lines.join(" ").replaceAll(/\s+/g, " "));
        lines = [];
      } else if (name === "tbl") endTable();
      else if (name === "sp") endShape();
    },
    text(text) {
      if (inText) paragraph += text;
    },
    end: () => ({ title, body, isHidden, images }),
  };
}

/** The words of a diagram or a chart, one paragraph for all: `t` are its texts, `v` the names and values of a chart. */
function wordsOf(archive: Archive, part: string, slide: number): Block[] {
  const words: string[] = [];
  let text: string | undefined;
  readXml(archive, part, {
    open(name) {
      if (name === "t" || name === "v") text = "";
    },
    close(name) {
      if ((name === "t" || name === "v") && text !== undefined && text.trim() !== "") words.push(text.trim());
      if (name === "t" || name === "v") text = undefined;
    },
    text(more) {
      if (text !== undefined) text += more;
    },
  });
  return words.length === 0 ? [] : [{ kind: "paragraph", text: words.join("\n"), from: { slide } }];
}

/** What the speaker says, or somebody remarked; without the picture of the slide and its number. */
function notesOf(archive: Archive, part: string, slide: number): Block[] {
  const writer = openSlideWriter(slide);
  let remark = "";
  let isRemark = false;
  readXml(archive, part, {
    open(name, attributes) {
      if (name === "text") isRemark = true;
      writer.open?.(name, attributes);
    },
    close(name) {
      if (name === "text") isRemark = false;
      writer.close?.(name);
    },
    text(more) {
      if (isRemark) remark += more;
      writer.text?.(more);
    },
  });
  const text = [...writer.end().body.map((block) => block.text), remark.trim()].filter((one) => one !== "").join("\n");
  return text === "" ? [] : [{ kind: "note", text, from: { slide } }];
}
