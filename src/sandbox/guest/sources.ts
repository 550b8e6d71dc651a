import { chownSync, closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { GuestWorkspace } from "../provider.ts";

/** What a guest sees of the host's files, each held open: from here on a name that is swapped changes nothing. */
export type Sources = {
  readonly workspace: OpenWorkspace | undefined;
  readonly programs: readonly { readonly opened: Opened; readonly inside: string }[];
  readonly packages: Opened | undefined;
  close(): void;
};
export type OpenWorkspace = {
  readonly inside: string;
  readonly root: Opened;
  readonly writable: readonly { readonly name: string; readonly opened: Opened }[] | "all";
  readonly skills: Opened | undefined;
  readonly skillCopies: Opened | undefined;
};
export type Opened = { readonly fd: number; readonly path: string; readonly isFolder: boolean };

/** A program of the host that is not below `/usr`, and where the guest finds it. */
export type ProgramWanted = { readonly path: string; readonly inside: string };

/** Not in `fs.constants`; the same on x64 and arm64. Opens a place without the right to read it. */
const openPath = 0x200000;
const folderFlags = openPath | constants.O_DIRECTORY | constants.O_NOFOLLOW;

type Wanted = {
  readonly workspace: GuestWorkspace | undefined;
  readonly programs: readonly ProgramWanted[];
  readonly packages?: string | undefined;
  /** Whom the folders belong to from now on. */
  readonly uid: number | undefined;
};

/** Opens everything that will be mounted; the folders that must be writable are made where they are missing. */
export function openSources({ workspace, programs, packages, uid }: Wanted): Result<Sources, string> {
  const open: number[] = [];
  const close = () => {
    for (const fd of open.splice(0)) closeSync(fd);
  };
  const hold = (fd: number, path: string, isFolder = true): Opened => {
    open.push(fd);
    return { fd, path, isFolder };
  };
  try {
    const opened = {
      workspace: workspace === undefined ? undefined : openWorkspace(workspace, uid, hold),
      programs: programs.map(({ path, inside }) => {
        const real = realpathSync(path);
        return { opened: hold(openSync(real, openPath), real, false), inside };
      }),
      packages: packages === undefined ? undefined : hold(openSync(packages, folderFlags), packages),
    };
    return ok({ ...opened, close });
  } catch (error) {
    close();
    return failed(`a folder cannot be opened: ${systemCodeOrThrow(error)}`);
  }
}

type Hold = (fd: number, path: string) => Opened;

function openWorkspace(
  { folder, inside, writable, skills, skillCopies }: GuestWorkspace,
  uid: number | undefined,
  hold: Hold,
): OpenWorkspace {
  const root = hold(openSync(folder, folderFlags), folder);
  giveTo(root, uid);
  const openBelow = (name: string) => {
    const path = `/proc/self/fd/${root.fd}/${name}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o755 });
    return hold(openSync(path, folderFlags), join(folder, name));
  };
  const openWritable = (name: string) => {
    const opened = openBelow(name);
    giveTo(opened, uid);
    return { name, opened };
  };
  // The skills lie over a folder of the workspace, which therefore has to be one.
  if (skills !== undefined) openBelow("skills");
  return {
    inside,
    root,
    writable: writable === "all" ? "all" : writable.map(openWritable),
    skills: skills === undefined ? undefined : hold(openSync(skills, folderFlags), skills),
    skillCopies: skillCopies === undefined ? undefined : hold(openSync(skillCopies, folderFlags), skillCopies),
  };
}

/** The descriptor stands for the folder itself, so nothing else can be given away by a swapped name. */
function giveTo({ fd }: Opened, uid: number | undefined): void {
  const place = `/proc/self/fd/${fd}`;
  if (uid !== undefined && statSync(place).uid !== uid) chownSync(place, uid, uid);
}

/** bwrap looks a source up by its path and as the guest's user, even one that it was handed open. */
export function canReach(path: string, uid: number): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid: owner } = statSync(folder);
    const bit = owner === uid ? 0o100 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === "/") return true;
  }
}
