import { join } from "node:path";

/** What the files of a workspace lie in: a folder of the disk, or an image of a disk of their own. */
export type Disk = "folder" | "image";

/** The folders below the data directory. All are ours alone; what a workspace shows lies one level deeper. */
export type Layout = {
  readonly dataDir: string;
  /** Beside the workspaces on the same file system, so that a move out of it is one step. */
  readonly stagingFolder: string;
  readonly trashFolder: string;
  /**
   * The host path of a folder as it stands in a row, such as `workspace/{id}` or `trash/{id}`. The only way from a name
   * to a host path, for moving and removing too: undefined for every name that we would not have given.
   */
  hostPath(folder: string): string | undefined;
};

export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    stagingFolder: join(dataDir, "staging"),
    trashFolder: join(dataDir, "trash"),
    hostPath: (folder) => (isOurs.test(folder) && !folder.includes("..") ? join(dataDir, folder) : undefined),
  };
}

const isOurs = /^(?:(?:kept\/)?workspaces?\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}|trash\/[0-9a-f]{8})$/;

export function conversationFolder(name: string): string {
  return `workspace/${name}`;
}

export function taskFolder(agent: string): string {
  return `workspaces/${agent}`;
}

export function isTaskFolder(folder: string): boolean {
  return folder.startsWith(taskFolder(""));
}

/** Earlier contents of the files of a workspace. */
export function keptFolder(folder: string): string {
  return `kept/${folder}`;
}

export function trashFolder(id: string): string {
  return `trash/${id}`;
}
