import { failed, ok } from "../../base/result.ts";
import type { Block, Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { openLosses } from "../losses.ts";
import type { Archive } from "../packed/archive.ts";
import { type Relation, relationsOf } from "../packed/relations.ts";
import { readXml } from "../packed/xml.ts";
import type { Reader } from "../reading.ts";
import { openPackage, titleOf } from "./open-package.ts";
import { readFormats } from "./xlsx-formats.ts";
import { readSheet, type Workbook } from "./xlsx-sheet.ts";
import { readStrings } from "./xlsx-strings.ts";

export const readXlsx: Reader = ({ bytes }, { onProgress }) => {
  const losses = openLosses();
  const opened = openPackage(bytes, "XLSX", losses);
  if (!opened.ok) return Promise.resolve(opened);
  const { archive, main } = opened.value;
  const relations = relationsOf(archive, main);
  const { sheets, is1904, isDamaged } = readBook(archive, main, relations);
  if (isDamaged) return Promise.resolve(failed({ why: "damaged", type: "XLSX" }));
  const partOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  const book: Workbook = {
    ...{ strings: readStrings(archive, partOf("sharedStrings")), formats: readFormats(archive, partOf("styles")) },
    ...{ is1904, losses, spent: { rows: 0, cells: 0, characters: 0 } },
  };
  const blocks: Block[] = [];
  let stopped: Receipt["stopped"];
  for (const [index, { name, part, isHidden }] of sheets.entries()) {
    if (stopped !== undefined) break;
    if (isHidden) losses.add("hidden_sheets", { sheet: name });
    const read = readSheet(archive, part, name, book);
    if (read.end === "missing" || read.end === "damaged" || read.end === "refused")
      losses.add("damaged_sheets", { sheet: name });
    blocks.push({ kind: "heading", text: name, level: 1, from: { sheet: name } });
    for (const block of read.blocks) blocks.push(block);
    for (const block of commentsOf(archive, part, name)) blocks.push(block);
    if (read.limit !== undefined) stopped = { limit: read.limit.name, at: { sheet: name, row: read.limit.row } };
    onProgress({ done: index + 1, total: sheets.length });
  }
  const images = archive.names.filter((name) => name.startsWith("xl/media/")).length;
  const found = { losses, title: titleOf(archive), images, parts: { kind: "sheet", count: sheets.length } as const };
  return Promise.resolve(
    ok(finish({ format: "xlsx", blocks, ...found, ...(stopped === undefined ? {} : { stopped }) })),
  );
};

type Sheet = { readonly name: string; readonly part: string; readonly isHidden: boolean };

/** The order and the names of sheets are those of the workbook, whatever their parts are called. */
function readBook(archive: Archive, main: string, relations: readonly Relation[]) {
  const byId = new Map(relations.filter(({ type }) => type === "worksheet").map(({ id, target }) => [id, target]));
  const sheets: Sheet[] = [];
  let is1904 = false;
  const end = readXml(archive, main, {
    open(name, attributes) {
      const flag = attributes.get("date1904");
      if (name === "workbookPr") is1904 = flag === "1" || flag === "true";
      const part = name === "sheet" ? byId.get(attributes.link("id") ?? "") : undefined;
      if (part === undefined) return;
      const state = attributes.get("state");
      sheets.push({ name: attributes.get("name") ?? "", part, isHidden: state === "hidden" || state === "veryHidden" });
    },
  });
  return { sheets, is1904, isDamaged: end === "refused" || (end !== "whole" && sheets.length === 0) };
}

/** What people noted at cells, as one note for each. */
function commentsOf(archive: Archive, part: string, sheet: string): Block[] {
  const notes: Block[] = [];
  const target = relationsOf(archive, part).find(({ type }) => type === "comments")?.target;
  let [text, inText, row] = ["", false, 1];
  if (target !== undefined)
    readXml(archive, target, {
      open(name, attributes) {
        if (name === "comment") {
          text = "";
          row = Number(/\d+$/.exec(attributes.get("ref") ?? "")?.[0] ?? "1");
        } else if (name === "t") inText = true;
      },
      close(name) {
        if (name === "t") inText = false;
        else if (name === "comment" && text.trim() !== "")
          notes.push({ kind: "note", text: text.trim(), from: { sheet, row } });
      },
      text: (more) => {
        if (inText) text += more;
      },
    });
  return notes;
}
