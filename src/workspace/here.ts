import { type StatsFs, statfsSync } from "node:fs";
import { systemCode } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { Operation } from "./faults.ts";
import type { HostPlace } from "./files.ts";
import type { ImageFolders } from "./images.ts";
import type { FileFailure, WorkspaceLimits } from "./one-workspace.ts";

/** `isMade`: it is there and mounted. Otherwise the first write makes it. */
export type FoundImage = ImageFolders & { readonly isMade: boolean };

/** Where the files of a place are for one operation. */
export type Here = HostPlace & { readonly image?: FoundImage | undefined };

/** Nothing is waited for between the answer and the first look at the files: an image stays mounted that long. */
export async function findHere(place: HostPlace, operation: Operation): Promise<Result<Here, FileFailure>> {
  const arrived = await place.waiting?.arrive(place.make);
  if (arrived?.ok === false) return arrived;
  if (place.findImage === undefined) return ok(place);
  const image = await place.findImage();
  if (image.ok)
    return ok(image.value === undefined ? place : { ...place, folder: image.value.files, image: image.value });
  return failed(makeFailure(operation === "write" ? "write_failed" : "read_failed", { path: ".", why: image.failure }));
}

/** Less than this is left on a disk that is full. */
const fullBytesMax = 1024 ** 2;

/** An image that is full has come to the limit of its workspace, unless it is the disk below that is full. */
export function asQuota(reason: FileFailure, { folder, image }: Here, limits: WorkspaceLimits): FileFailure {
  if (image === undefined || reason.code !== "write_failed" || reason.params.why !== "full") return reason;
  const [inside, below] = [roomIn(folder), roomIn(image.disk)];
  if (inside === undefined || below === undefined || below.bavail * below.bsize < fullBytesMax) return reason;
  const what = inside.ffree === 0 ? "files" : "bytes";
  const most = { files: inside.files, bytes: inside.blocks * inside.bsize };
  const limit = Math.min(most[what], what === "files" ? limits.filesMax : limits.bytesMax);
  return makeFailure("quota_exceeded", { path: reason.params.path, what, limit, setting: `workspace.${what}_max` });
}

function roomIn(folder: string): StatsFs | undefined {
  try {
    return statfsSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
