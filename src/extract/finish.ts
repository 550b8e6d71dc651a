import type { Block, Extracted, Format, Receipt } from "./extracted.ts";
import { languageOf } from "./language.ts";
import type { Losses } from "./losses.ts";

type Found = {
  readonly format: Format;
  readonly blocks: readonly Block[];
  readonly losses: Losses;
} & Partial<Pick<Receipt, "title" | "parts" | "images" | "encoding" | "stopped">>;

/** What a reader found, with the receipt that goes with it. */
export function finish({ format, blocks, losses, title = "", images = 0, ...known }: Found): Extracted {
  const language = languageOf(blocks);
  const { parts, encoding, stopped } = known;
  const named = title
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, titleCharactersMax)
    .toWellFormed();
  return {
    format,
    blocks,
    receipt: {
      ...(named === "" ? {} : { title: named }),
      ...(parts === undefined ? {} : { parts }),
      characters: blocks.reduce((sum, { text }) => sum + text.length, 0),
      tables: blocks.filter(({ kind }) => kind === "table").length,
      images,
      ...(language === undefined ? {} : { language }),
      ...(encoding === undefined ? {} : { encoding }),
      losses: losses.all(),
      ...(stopped === undefined ? {} : { stopped }),
    },
  };
}

const titleCharactersMax = 300;
