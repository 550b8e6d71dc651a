import type { EventOf } from "../protocol/events.ts";
import type { History } from "./history-state.ts";

/** Where a file of standing instructions may lie, however its name is written. */
const guidePath = /^uploads\/(?:temparea\/)?(?:agents|claude)\.md$/i;

/**
 * Only what the user put there counts. What an agent or a program does to such a file, whoever ran it, and what an MCP
 * server answered, which also chooses its name, make it no instruction of the user, and take none back.
 */
export function noteGuide({ guides }: Pick<History, "guides">, event: EventOf<"file.changed">): void {
  const { by, program, server, workspace, path, before, after, seq } = event;
  const isPerson = (by === "upload" || by === "person") && !program && server === undefined;
  if (!isPerson || workspace !== undefined) return;
  if (before === undefined && after === undefined) {
    // The whole folder was emptied.
    for (const guide of [...guides.keys()]) if (guide.startsWith(`${path}/`)) guides.delete(guide);
    return;
  }
  if (!guidePath.test(path)) return;
  const { hash } = after ?? {};
  if (by === "upload" && after !== undefined && hash !== undefined)
    guides.set(path, { state: { ...after, hash }, seq });
  else guides.delete(path);
}

/** Others' events turned out to stand before those that were applied: the places move along. */
export function moveGuides({ guides }: Pick<History, "guides">, moved: (seq: number) => number): void {
  for (const [path, guide] of guides) guides.set(path, { ...guide, seq: moved(guide.seq) });
}
