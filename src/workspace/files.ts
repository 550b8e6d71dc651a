import { closeSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { DiskFault } from "../words/words.ts";
import type { Books } from "./books.ts";
import { emptyFolder, removeFile, restoreFile, writeFile } from "./change.ts";
import { openRoot } from "./descend.ts";
import { attempt, type Operation } from "./faults.ts";
import { guestFolder } from "./guest.ts";
import { asQuota, type FoundImage, findHere, type Here } from "./here.ts";
import {
  countAll,
  digestOf,
  listFolder,
  type OpenFile,
  openFile,
  openStream,
  readRange,
  statOf,
  walkFrom,
} from "./look.ts";
import { measure } from "./measure.ts";
import { withNear } from "./near.ts";
import type { FileContent, FileFailure, Workspace, WorkspaceLimits } from "./one-workspace.ts";
import { parsePath, parseWritable, shownPath } from "./path.ts";
import { inSkill, type SkillCopies } from "./skill-links.ts";
import type { Waiting } from "./waiting.ts";
import { beginLook, leaveLook, lookAhead, tellChanges } from "./watch-programs.ts";

/** Where one workspace lies on this machine. Host paths stay inside workspace/. */
export type HostPlace = {
  readonly folder: string;
  /** Earlier contents of its files, outside of it. */
  readonly keptFolder: string;
  /** Whom its files belong to, so that programs inside can change them; see `GuestFolder`. */
  readonly uid: number | undefined;
  /** Makes the folder and what belongs in it; called before a write that finds none. */
  make(): Promise<Result<void, FileFailure>>;
  /** Where programs write before there is a folder; undefined where it is there from the beginning. */
  readonly waiting?: Waiting | undefined;
  /** Called after each operation that succeeded: cheap. */
  used(): void;
  /** Asked before each operation where files may lie in an image; undefined: they lie in the folder. */
  readonly findImage?: (() => Promise<Result<FoundImage | undefined, DiskFault>>) | undefined;
};

export type FilesOptions = {
  readonly id: string;
  readonly kind: Workspace["kind"];
  readonly owner: string;
  readonly name: string;
  /** Looked up by the first operation, then remembered. */
  readonly place: () => Promise<Result<HostPlace, FileFailure>>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: WorkspaceLimits;
  /** On the file system of the workspace, seen by nobody else: files are written here and then moved to their place. */
  readonly stagingFolder: string;
  /** The same for every view of the same folders; see `openBooks`. */
  readonly books: Books;
  /** What the links in `skills/` stand for; without it there are none. */
  readonly skills?: SkillCopies | undefined;
};

/** One operation on one path. `root` is open while it runs; undefined while the folder is not there. */
export type Visit = FilesOptions & {
  readonly at: Here;
  readonly path: string;
  readonly names: readonly string[];
  readonly root: number | undefined;
  /** The names that lead to `root` where it is not the workspace's own: `skills` and the skill's. */
  readonly above: readonly string[];
};

/** Bytes that one `read` gives unless it is told otherwise. */
const readBytesMax = 16 * 1024 * 1024;

/** A view of the files below one root. It touches nothing until something is asked of it. */
export function openFiles(options: FilesOptions): Workspace {
  const { id, kind, owner, name } = options;
  const visit = visitor(options);
  const look = <T>(path: string, work: (visit: Visit) => Promise<T> | T) => visit("read", path, parsePath, work);
  const change = <T>(path: string, work: (visit: Visit) => Promise<T> | T) =>
    visit("write", path, (written) => parseWritable(kind, written), work);

  return {
    id,
    kind,
    owner,
    name,
    stat: (path) => look(path, statOf),
    read: (path, { offset = 0, bytesMax = readBytesMax } = {}) =>
      look<FileContent>(path, (here) => {
        if (here.root === undefined && kind === "task")
          return { stat: unwritten(here), bytes: Buffer.alloc(0), isUnwritten: true };
        return withFile(here, async (file) => ({
          stat: file.stat,
          bytes: await readRange(file, offset, bytesMax),
          isUnwritten: false,
        }));
      }),
    stream: (path, range) => look(path, (here) => openStream(openFile(here), range)),
    hash: (path) => look(path, (here) => withFile(here, digestOf)),
    list: (path = ".", { hidden = false } = {}) => look(path, (here) => listFolder(here, hidden)),
    walk: (path = ".", walking = {}) => look(path, (here) => walkFrom(here, walking)),
    info: () => look(".", countAll),
    write: (path, data, writing = {}) => change(path, (here) => writeFile(here, data, writing)),
    remove: (path, removing = {}) => change(path, (here) => removeFile(here, removing)),
    empty: (path) => visit("write", path, parsePath, emptyFolder),
    restore: (path, state, restoring = {}) => change(path, (here) => restoreFile(here, state, restoring)),
    async observe(observing = {}) {
      const begun = await look(".", (here) => beginLook(here, observing));
      if (!begun.ok) return begun;
      const observer = begun.value;
      return ok({
        hasEarlier: observer.hasEarlier,
        changes: () => look(".", (here) => tellChanges(here, observer)),
        measured: () => observer.measured,
        leave: () => leaveLook(observer),
      });
    },
    lookAhead: (looking) => look(".", (here) => lookAhead(here, looking)),
    measure: (measuring) => look(".", (here) => measure(here, measuring)),
    guestFolder: () => visit("write", ".", parsePath, guestFolder),
    openDescriptor: (path = ".") =>
      look(path, ({ at, above, names }) => {
        const fd = openRoot(at.folder);
        if (fd === undefined) return undefined;
        const prefix = above.map((name) => `${name}/`).join("");
        return { fd, prefix, path: names.join("/") || ".", close: () => closeSync(fd) };
      }),
  };
}

type Parse = (path: string) => Result<readonly string[], FileFailure>;

/** What all operations share: the path is checked first, faults of the world become values, refusals are logged. */
function visitor(options: FilesOptions) {
  const { id, logger, place } = options;
  let known: HostPlace | undefined;
  let refusals = 0;

  return async <T>(
    operation: Operation,
    path: string,
    parse: Parse,
    work: (visit: Visit) => Promise<T> | T,
  ): Promise<Result<T, FileFailure>> => {
    const refuse = (reason: FileFailure) => {
      if (reason.code !== "permission_denied") return failed(reason);
      refusals += 1;
      const about = { workspace: id, path: shownPath(path), why: reason.params.why, count: refusals };
      if (isTold(refusals)) logger.warn("access to a file was refused", about);
      return failed(reason);
    };
    const names = parse(path);
    if (!names.ok) return refuse(names.failure);
    const found = known === undefined ? await place() : ok(known);
    if (!found.ok) return found;
    known = found.value;
    const here = await findHere(known, operation);
    if (!here.ok) return here;
    const at = here.value;
    const stagingFolder = at.image?.isMade ? at.image.staging : options.stagingFolder;
    const done = await attempt(operation, path, () =>
      withRoot(at.folder, (root) => {
        const here = { ...options, stagingFolder, at, path, names: names.value, root, above: [] };
        return operation === "read" ? inSkill(here, work) : work(here);
      }),
    );
    if (!done.ok) return refuse(withNear(asQuota(done.failure, at, options.limits), at.folder, names.value));
    at.used();
    return done;
  };
}

/** Of few each one, of many ever fewer: a program can make thousands of files that nobody may read. */
function isTold(count: number): boolean {
  return count <= refusalsToldMax || Number.isInteger(Math.log2(count));
}

const refusalsToldMax = 8;

async function withRoot<T>(folder: string, work: (root: number | undefined) => Promise<T> | T): Promise<T> {
  const root = openRoot(folder);
  try {
    return await work(root);
  } finally {
    if (root !== undefined) closeSync(root);
  }
}

async function withFile<T>(here: Visit, work: (file: OpenFile) => Promise<T>): Promise<T> {
  const file = openFile(here);
  try {
    return await work(file);
  } finally {
    closeSync(file.fd);
  }
}

function unwritten({ names }: Visit) {
  return { path: names.join("/"), type: "file", bytes: 0, mode: 0o644, modifiedAt: 0 } as const;
}
