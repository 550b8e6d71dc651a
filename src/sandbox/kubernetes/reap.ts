import { readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { reapStages } from "../guest/stage.ts";
import type { ClusterApi } from "./api.ts";
import { labels, listPods } from "./follow.ts";
import { removeObject } from "./objects.ts";

type Place = {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly pods: string;
  readonly installation: string;
  readonly server: string;
  /** Where all servers have folders for the small files of their pods, and this one's. */
  readonly stages: string;
  readonly folder: string;
  readonly spared: () => ReadonlySet<string>;
};

/** A server that had anything to do with its folder in that time may still be at it. */
const quietMs = 3_600_000;

/**
 * Ends what earlier processes of this server left behind, and removes what is over of all servers: programs of one that is
 * gone end with its streams, and only their pods are still listed. Others that still run belong to servers that do.
 */
export async function reapLeft(place: Place) {
  const { installation, server, stages, folder, spared: sparedNow } = place;
  const listed = await listPods(place, { [labels.installation]: installation });
  const found = listed.ok ? listed.value.pods : [];
  // Only now, and nothing is waited for in between: one that was asked for meanwhile may be in the list.
  const spared = sparedNow();
  const left = found.filter(({ labels: told, end, isLeaving }) => {
    const isOwn = told[labels.server] === server && !spared.has(told[labels.guest] ?? "");
    return !isLeaving && (isOwn || (end !== undefined && told[labels.server] !== server));
  });
  const servers = new Set(found.map((pod) => pod.labels[labels.server] ?? ""));
  const mounts = reapStages(folder, spared) + (listed.ok ? reapServers(place, stages, servers) : 0);
  await Promise.all(left.map(({ name }) => removeObject(place, { path: place.pods, name })));
  return { processes: left.length, groups: 0, mounts };
}

/** Folders of servers that have no pod any more, and have not had one for a while. */
function reapServers({ clock, server }: Place, stages: string, servers: ReadonlySet<string>): number {
  // Of a pool that all share nothing is told here; it is small, and one for each version.
  const names = namesIn(stages).filter((name) => name !== server && name !== "pools" && !servers.has(name));
  const left = names.filter((name) => {
    const found = statSync(join(stages, name), { throwIfNoEntry: false });
    return found !== undefined && clock.now() - found.mtimeMs > quietMs;
  });
  const found = left.flatMap((name) => namesIn(join(stages, name)));
  for (const name of left) rmSync(join(stages, name), { recursive: true, force: true });
  return found.length;
}

/** A server that leaves in good order leaves nothing behind. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    systemCodeOrThrow(error); // Something is in it, or it was never made.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // No guest was ever opened.
  }
}
