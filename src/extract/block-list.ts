import type { Block } from "./extracted.ts";

/** Items one after the other are one list, up to so many characters. */
const joinedCharactersMax = 1_500;

export type BlockList = { push(block: Block): void; readonly blocks: readonly Block[]; readonly characters: number };

/** Blocks in their order: items of a list, and lines of contents, stand together. */
export function openBlockList(): BlockList {
  const blocks: Block[] = [];
  let characters = 0;
  return {
    blocks,
    get characters() {
      return characters;
    },
    push(block) {
      characters += block.text.length;
      const last = blocks.at(-1);
      const isJoined = (block.kind === "list" || block.kind === "contents") && last?.kind === block.kind;
      if (!isJoined || last.text.length >= joinedCharactersMax) blocks.push(block);
      else blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${block.text}`, to: block.to ?? block.from };
    },
  };
}
