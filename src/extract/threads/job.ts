import type { Result } from "../../base/result.ts";
import type { Block, Extracted } from "../extracted.ts";
import type { Progress, Unreadable } from "../reading.ts";

/** A file for a thread: below a folder that is open, or its bytes, which are handed over. */
export type Job = { readonly name: string; readonly sizeBytes: number } & (
  | { readonly root: number; readonly path: string }
  | { readonly bytes: Uint8Array<ArrayBuffer> }
);

/**
 * What a thread says of its job: how far it is, and at its end what became of it. Blocks come in batches, each when
 * `more` was asked for: all at once would hold up the thread that takes them.
 */
export type News = { readonly progress: Progress } | { readonly blocks: readonly Block[] } | { readonly ended: Ended };
export type Ended = Result<Omit<Extracted, "blocks">, Unreadable | NotRead>;

/** It was not even tried: it is no file, or larger than what is read. */
export type NotRead =
  | { readonly why: "no_file" }
  | { readonly why: "too_large"; readonly sizeBytes: number; readonly limitBytes: number };

export type Order = { readonly job: Job } | "more";

const batchCharacters = 100_000;
const batchBlocks = 500;

export function* batchesOf(blocks: readonly Block[]): Generator<readonly Block[], void> {
  let batch: Block[] = [];
  let characters = 0;
  for (const block of blocks) {
    batch.push(block);
    characters += block.text.length;
    if (characters < batchCharacters && batch.length < batchBlocks) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  yield batch;
}
