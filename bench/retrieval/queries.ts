import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Block } from "../../src/extract/extracted.ts";
import { type Manual, squeezed } from "./corpus.ts";

export type Range = { readonly from: number; readonly to: number };

export type Query = {
  readonly document: string;
  readonly kind: "heading" | "words" | "question";
  readonly language: "en" | "zh";
  readonly text: string;
  /** Where the text stands that answers it. */
  readonly pages: readonly number[];
  /** The pages of its section, five at most: who opens one of them is near enough. */
  readonly section: Range;
  /** Its manual, in whatever language, was never looked at when settings were chosen. */
  readonly isHeldOut: boolean;
};

/** All translations of a manual are one family: none of them is tuned on where another is kept apart. */
export function familyOf(document: string): string {
  return document.replace(/\.(?:en|zh-cn|zh-tw)$/, "");
}

const heldOut = ["debmake-doc", "debian-edu", "debian-faq", "fhs"];

export function readQueries(manuals: readonly Manual[], read: ReadonlyMap<string, readonly Block[]>): readonly Query[] {
  const [, ...rows] = readFileSync(join(import.meta.dirname, "queries.tsv"), "utf8")
    .trimEnd()
    .split("\n");
  return rows.map((row) => {
    const [document = "", kind = "", text = "", answer = ""] = row.split("\t");
    const manual = manuals.find(({ name }) => name === document);
    const pages =
      manual?.pages.flatMap((page, index) => (squeezed(page).includes(squeezed(answer)) ? [index + 1] : [])) ?? [];
    if (pages.length === 0 || (kind !== "heading" && kind !== "words" && kind !== "question"))
      throw new Error(`queries.tsv: no page of ${document} answers: ${row}`);
    const section = sectionOf(read.get(document) ?? [], squeezed(answer), pages[0] ?? 0);
    const language = document.includes(".zh") ? "zh" : "en";
    return { document, kind, language, text, pages, section, isHeldOut: heldOut.includes(familyOf(document)) };
  });
}

const sectionPagesMax = 5;

/** From the heading before the answer to the next one. */
function sectionOf(blocks: readonly Block[], answer: string, page: number): Range {
  const at = blocks.findIndex(
    ({ kind, text, from }) => kind !== "contents" && from.page === page && squeezed(text).includes(answer),
  );
  if (at === -1) return { from: page, to: page };
  const begin = blocks.slice(0, at + 1).findLastIndex(({ kind }) => kind === "heading");
  const behind = blocks.findIndex(({ kind }, index) => index > at && kind === "heading");
  const last = blocks.at(behind === -1 ? -1 : behind - 1);
  const from = Math.max(blocks[begin]?.from.page ?? page, page - sectionPagesMax + 1);
  return { from, to: Math.max(page, Math.min((last?.to ?? last?.from)?.page ?? page, from + sectionPagesMax - 1)) };
}
