import type { ContentStep, Kept, NameStep, Recording, Snapshot, Step } from "./power-cut-record.ts";

/** What becomes of a write that nobody had synced: it is on the disk, is not, in parts, or only its length is. */
export type Fate = "there" | "missing" | "torn" | "zeros";

/** Decides what a power cut leaves of everything that is not yet safe. */
export type Fates = {
  change(change: ContentStep, file: string): Fate;
  /** Of a torn write: whether this sector is there. */
  sector(): boolean;
  name(change: NameStep): boolean;
};

/** Files and folders by path, as they lie on the disk after the cut. */
export type Tree = ReadonlyMap<string, Buffer | "folder">;

/**
 * A disk that keeps its word and not a bit more. A write is safe when a sync of its file began after it and has ended. A
 * name is safe when its folder was synced, not before: that its file was synced does not help it. All else may be there
 * or not, each by itself, a large write in sectors. A rename is one change, as file systems with a journal do it.
 */
export type Disk = {
  /** Everything up to this moment has happened. */
  advance(moment: number): void;
  state(fates: Fates): Tree;
};

const sectorBytes = 512;

type Change<S> = { readonly step: S; isDone: boolean };
type FileNode = { readonly kind: "file"; readonly safe: Growing; pending: Change<ContentStep>[] };
/** With the nodes that its inodes stood for then: a number is used again when its file is gone. */
type NameChange = Change<NameStep> & {
  readonly node: Node | undefined;
  readonly folder: Node | undefined;
  readonly toFolder: Node | undefined;
  isSafe: boolean;
};
type Node =
  | FileNode
  | { readonly kind: "folder"; readonly entries: ReadonlyMap<string, Node> }
  | { readonly kind: "link" };

export function openDisk({ before, steps }: Pick<Recording, "before" | "steps">): Disk {
  const nodes = new Map<number, Node>();
  const root = nodeOf(before, before.root, nodes);
  const names: NameChange[] = [];
  const syncing = new Map<Step, { contents: Covered[]; names: NameChange[] }>();
  const moments = momentsOf(steps);
  let next = 0;

  function begin(step: Step): void {
    if (step.does === "write" || step.does === "size") {
      const node = nodes.get(step.file);
      if (node?.kind === "file") node.pending.push({ step, isDone: false });
    } else if (step.does === "sync") {
      const node = nodes.get(step.file);
      syncing.set(step, {
        contents: node?.kind === "file" ? [coveredOf(node)] : [],
        names: names.filter(
          ({ isDone, isSafe, folder, toFolder }) => isDone && !isSafe && (folder === node || toFolder === node),
        ),
      });
    } else if (step.does === "sync-all") {
      const files = [...nodes.values()].filter((node) => node.kind === "file");
      syncing.set(step, {
        contents: files.map(coveredOf),
        names: names.filter(({ isDone, isSafe }) => isDone && !isSafe),
      });
    } else if (step.does !== "map" && step.does !== "say") {
      if (step.does === "make") nodes.set(step.file, emptyNode(step.kind));
      const node = step.does === "remove" ? undefined : nodes.get(step.file);
      const toFolder = "toFolder" in step ? nodes.get(step.toFolder) : undefined;
      names.push({ step, node, folder: nodes.get(step.folder), toFolder, isDone: false, isSafe: false });
    }
  }

  function end(step: Step): void {
    if (step.does === "sync" || step.does === "sync-all") {
      const { contents = [], names: safe = [] } = syncing.get(step) ?? {};
      for (const { node, changes } of contents) settle(node, changes);
      for (const change of safe) change.isSafe = true;
    } else if (step.does === "write" || step.does === "size") {
      const node = nodes.get(step.file);
      for (const change of node?.kind === "file" ? node.pending : []) if (change.step === step) change.isDone = true;
    } else {
      for (const change of names) if (change.step === step) change.isDone = true;
    }
  }

  return {
    advance(moment) {
      for (let at = moments[next]; at !== undefined && at.moment <= moment; at = moments[next]) {
        if (at.isEnd) end(at.step);
        else begin(at.step);
        next += 1;
      }
    },
    state: (fates) => treeOf(root, names, fates),
  };
}

type Moment = { readonly moment: number; readonly step: Step; readonly isEnd: boolean };

function momentsOf(steps: readonly Step[]): Moment[] {
  return steps
    .flatMap((step) => [
      { moment: step.began, step, isEnd: false },
      { moment: step.ended, step, isEnd: true },
    ])
    .sort((a, b) => a.moment - b.moment);
}

function nodeOf(before: Snapshot, inode: number, nodes: Map<number, Node>): Node {
  const kept = before.nodes.get(inode);
  const node = kept === undefined ? emptyNode("file") : fullNode(before, kept, nodes);
  nodes.set(inode, node);
  return node;
}

function fullNode(before: Snapshot, kept: Kept, nodes: Map<number, Node>): Node {
  if (kept.kind === "link") return { kind: "link" };
  if (kept.kind === "file") return { kind: "file", safe: growing(kept.content), pending: [] };
  return {
    kind: "folder",
    entries: new Map([...kept.entries].map(([name, below]) => [name, nodeOf(before, below, nodes)])),
  };
}

function emptyNode(kind: Kept["kind"]): Node {
  if (kind === "file") return { kind, safe: growing(Buffer.alloc(0)), pending: [] };
  return kind === "folder" ? { kind, entries: new Map() } : { kind };
}

type Covered = { readonly node: FileNode; readonly changes: readonly Change<ContentStep>[] };

/** What a sync that begins now will have made safe. */
function coveredOf(node: FileNode): Covered {
  return { node, changes: node.pending.filter(({ isDone }) => isDone) };
}

/** What another sync has settled meanwhile is left alone: done once more it would undo what came after it. */
function settle(node: FileNode, covered: readonly Change<ContentStep>[]): void {
  const changes = new Set(covered);
  for (const change of node.pending) if (changes.has(change)) node.safe.apply(change.step);
  node.pending = node.pending.filter((change) => !changes.has(change));
}

type Growing = ReturnType<typeof growing>;

/** A copy of some bytes that is written to; it grows by doubling, for a log is written in many small pieces. */
function growing(from: Buffer) {
  let buffer = Buffer.from(from);
  let { length } = from;
  const reach = (size: number) => {
    if (size > buffer.length) buffer = Buffer.concat([buffer], Math.max(size, 2 * buffer.length));
    length = Math.max(length, size);
  };
  return {
    bytes: () => buffer.subarray(0, length),
    reach,
    apply(step: ContentStep) {
      if (step.does === "write") {
        reach(step.offset + step.data.length);
        step.data.copy(buffer, step.offset);
        return;
      }
      if (step.size < length) buffer.fill(0, step.size);
      reach(step.size);
      length = step.size;
    },
    applySectors(step: Extract<ContentStep, { does: "write" }>, isThere: () => boolean) {
      const { offset, data } = step;
      for (let at = offset; at < offset + data.length; ) {
        const end = Math.min(at - (at % sectorBytes) + sectorBytes, offset + data.length);
        if (isThere()) this.apply({ ...step, offset: at, data: data.subarray(at - offset, end - offset) });
        at = end;
      }
    },
  };
}

/** What can be reached from the root. A folder whose own name was lost is lost with all that was safe in it. */
function treeOf(root: Node, names: readonly NameChange[], fates: Fates): Tree {
  const folders = new Map<Node, Map<string, Node>>();
  const entriesOf = (folder: Node | undefined): Map<string, Node> => {
    if (folder === undefined) return new Map();
    const known = folders.get(folder) ?? new Map(folder.kind === "folder" ? folder.entries : []);
    folders.set(folder, known);
    return known;
  };
  for (const { step, node, folder, toFolder, isSafe } of names) {
    if (!isSafe && !fates.name(step)) continue;
    if (step.does === "rename" || step.does === "remove") entriesOf(folder).delete(step.name);
    if (step.does === "make" && node !== undefined) entriesOf(folder).set(step.name, node);
    if ("toName" in step && node !== undefined) entriesOf(toFolder).set(step.toName, node);
  }
  const tree = new Map<string, Buffer | "folder">();
  const walk = (node: Node, path: string) => {
    if (node.kind === "file") tree.set(path, contentOf(node, path, fates));
    if (node.kind !== "folder") return;
    if (path !== "") tree.set(path, "folder");
    for (const [name, below] of entriesOf(node)) walk(below, path === "" ? name : `${path}/${name}`);
  };
  walk(root, "");
  return tree;
}

function contentOf({ safe, pending }: FileNode, path: string, fates: Fates): Buffer {
  const decided = pending.map(({ step }) => ({ step, fate: fates.change(step, path) }));
  if (decided.every(({ fate }) => fate === "missing")) return safe.bytes();
  const content = growing(safe.bytes());
  for (const { step, fate } of decided) {
    if (fate === "missing") continue;
    if (step.does === "size" || fate === "there") content.apply(step);
    else if (fate === "torn") content.applySectors(step, fates.sector);
    else content.reach(step.offset + step.data.length);
  }
  return content.bytes();
}
