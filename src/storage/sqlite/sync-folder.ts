import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { systemCodeOrThrow } from "../../base/fault.ts";

/** Makes the names in a folder safe from a power cut, as far as the file system does that; SQLite asks no more either. */
export function syncFolder(folder: string): void {
  try {
    const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    if (!passedOver.has(systemCodeOrThrow(error))) throw error;
  }
}

/** One that we may not read is none that we made, and some file systems sync no folders. A failing disk is told. */
const passedOver: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "EINVAL", "ENOTSUP", "EOPNOTSUPP"]);

/** The names of the folder itself and of all above it, any of which may be new. */
export function syncNamesOf(folder: string): void {
  const above = dirname(folder);
  if (above === folder) return;
  syncFolder(above);
  syncNamesOf(above);
}
