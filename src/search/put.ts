import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Block } from "../extract/extracted.ts";
import { failure } from "../protocol/failure.ts";
import type { Ask } from "./access.ts";
import type { Indexed, PutOptions, SearchFailure } from "./search.ts";
import type { Pointer } from "./sqlite/pointers.ts";

/** So much is handed over at once: neither side is kept from anything else for long. */
const sliceCharacters = 50_000;
const sliceBlocks = 500;

/** Hands a document over in slices, each when the one before is written. */
export function openPut(write: Ask, clock: Clock) {
  let last = 0;
  return async (
    pointer: Pointer,
    key: string,
    blocks: readonly Block[],
    { signal, onProgress, note }: PutOptions,
  ): Promise<Result<Indexed, SearchFailure>> => {
    last += 1;
    const writing = last;
    const begun = await write({ do: "begin", writing, key });
    if (!begun.ok) return begun;
    for (let from = 0; from < blocks.length; ) {
      const to = sliceEnd(blocks, from);
      const added = signal?.aborted ? stopped : await write({ do: "add", writing, blocks: blocks.slice(from, to) });
      if (!added.ok) {
        await write({ do: "giveUp", writing });
        return added;
      }
      onProgress?.(to / blocks.length);
      from = to;
    }
    const ended = await write({ do: "end", writing, pointer, now: clock.now(), note });
    return ended.ok ? ok({ passages: ended.value }) : ended;
  };
}

const stopped = failure("index_unavailable", { why: "stopped" });

function sliceEnd(blocks: readonly Block[], from: number): number {
  let characters = 0;
  let to = from;
  while (to < blocks.length && to - from < sliceBlocks && characters < sliceCharacters) {
    characters += blocks[to]?.text.length ?? 0;
    to += 1;
  }
  return to;
}
