import type { Block } from "../../src/extract/extracted.ts";

export const pagesOfEdition = 1_500;

/** Long enough to be written in several pieces; each page knows its edition. */
export function editionOf(edition: number): { readonly blocks: readonly Block[] } {
  return {
    blocks: Array.from({ length: pagesOfEdition }, (_, index) => ({
      kind: "heading" as const,
      level: 1,
      text: `chapter${index} of edition${edition}`,
      from: { page: index + 1 },
    })),
  };
}
