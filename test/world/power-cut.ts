import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chance, chanceOf } from "./fuzz-chance.ts";
import type { ContentStep, Kept, NameStep, Recording, Snapshot, Step } from "./power-cut-record.ts";

/** 10 in `npm run torture`: so many times as many cuts at random. */
const powerCutsTimes = Number(process.env.AGENTYARD_POWER_CUTS ?? 1);
/** The same recording and the same seed give the same disks; a new recording has its calls in another order. */
const seed = Number(process.env.AGENTYARD_POWER_CUT_SEED ?? 43);

/**
 * What a power cut left, written to a folder. It stands for every cut from `first` to `last`, both included: what was
 * acknowledged up to `last` must be there, and nothing that was not even asked for at `first`.
 */
export type Cut = { readonly folder: string; readonly first: number; readonly last: number; readonly what: string };

export type CutOptions = {
  readonly randomCuts: number;
  readonly check: (cut: Cut) => Promise<void>;
  /** Random cuts fall where files of these paths are written; elsewhere they tell little. */
  readonly where?: (path: string) => boolean;
  /** The first moment that matters; 0 is the start of the program. */
  readonly from?: number;
};

export type Figures = { readonly moments: number; readonly kept: number; readonly random: number };

/**
 * Cuts the power after every moment of the recording, with everything lost that nobody had synced; and `randomCuts` times
 * at random moments, with any part of it there, missing or torn. Throws what `check` throws, with seed and moment.
 */
export async function cutPower(
  recording: Recording,
  { randomCuts, check, where = () => true, from = 0 }: CutOptions,
): Promise<Figures> {
  checkMaps(recording);
  checkEnd(recording);
  const place = mkdtempSync(join(quickFolder(), "power-cut-"));
  const judge = async (tree: Tree, cut: Omit<Cut, "folder">) => {
    const folder = join(place, "disk");
    writeTree(tree, folder);
    try {
      await check({ ...cut, folder });
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      throw new Error(`power cut at moment ${cut.first} (${cut.what}, seed ${seed}): ${why}`, { cause: error });
    }
  };
  try {
    const moments = recording.steps.reduce((last, { ended }) => Math.max(last, ended), 0);
    const kept = await cutEverywhere(recording, { from, to: moments }, judge);
    const random = await cutAtRandom(recording, { cuts: randomCuts * powerCutsTimes, where, from }, judge);
    return { moments: moments - from, kept, random };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** In memory where there is some: the disk is played, and hundreds of real syncs would be all that is waited for. */
function quickFolder(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

type Judge = (tree: Tree, cut: Omit<Cut, "folder">) => Promise<void>;

/** The disk differs only where a sync has ended: the look before it stands for all cuts since the one before. */
async function cutEverywhere(
  { steps, ...recording }: Recording,
  { from, to }: { readonly from: number; readonly to: number },
  judge: Judge,
): Promise<number> {
  const disk = openDisk({ ...recording, steps });
  const syncs = steps.filter(({ does, ended }) => (does === "sync" || does === "sync-all") && ended > from);
  const ends = syncs.map(({ ended }) => ended).sort((a, b) => a - b);
  let first = from;
  for (const end of [...ends, to + 1]) {
    disk.advance(end - 1);
    await judge(disk.state(lost), { first, last: end - 1, what: lost.what });
    first = end;
  }
  return ends.length + 1;
}

type Wanted = Required<Pick<CutOptions, "where" | "from">> & { readonly cuts: number };

async function cutAtRandom(recording: Recording, { cuts, where, from }: Wanted, judge: Judge): Promise<number> {
  const disk = openDisk(recording);
  const chance = chanceOf(seed);
  // Where something changes or is said; the start of a program has thousands of other moments.
  const wanted = recording.steps.filter((step) => step.began >= from && (!("path" in step) || where(step.path)));
  const moments = wanted.flatMap(({ began, ended }) => [began, ended]);
  const chosen = Array.from({ length: cuts }, () => chance.pick(moments)).sort((a, b) => a - b);
  for (const moment of chosen) {
    disk.advance(moment);
    const fates = chance.pick(kinds)(chance, moment);
    const tree = withAnySharedMemory(disk.state(fates), chance);
    await judge(tree, { first: moment, last: moment, what: fates.what });
  }
  return cuts;
}

type Named = Fates & { readonly what: string };

const lost: Named = {
  what: "everything unsynced is lost",
  change: () => "missing",
  sector: () => false,
  name: () => false,
};

/** How far back, in moments, a disk is behind that wrote things in order. */
const windowMax = 60;

/** Ways of disks: each write by itself; all up to one, which is torn. */
const kinds: readonly ((chance: Chance, moment: number) => Named)[] = [
  (chance) => ({
    ...{ what: "each write by itself", sector: () => chance.odds(0.5), name: () => chance.odds(0.5) },
    change: () => chance.pick(["there", "missing", "torn", "zeros"]),
  }),
  (chance, moment) => {
    const end = moment - chance.int(0, windowMax);
    const sector = () => chance.odds(0.5);
    const share = chance.pick([0, 0.5, 1]);
    const name = () => chance.odds(share);
    let isTorn = false;
    return {
      ...{ what: `all before ${end}, and a torn one`, sector, name },
      change({ began }) {
        if (began < end) return "there";
        const fate = isTorn ? "missing" : "torn";
        isTorn = true;
        return fate;
      },
    };
  },
];

/** SQLite's shared memory is written through a mapping, which nobody sees: whatever is there must do no harm. */
function withAnySharedMemory(tree: Tree, chance: Chance): Tree {
  const changed = new Map(tree);
  for (const [path, content] of tree) {
    if (!isSharedMemory(path) || content === "folder") continue;
    const fate = chance.pick(["as it is", "gone", "noise"]);
    if (fate === "gone") changed.delete(path);
    if (fate === "noise") changed.set(path, Buffer.alloc(32_768, chance.int(0, 255)));
  }
  return changed;
}

function isSharedMemory(path: string): boolean {
  return path.endsWith("-shm");
}

/** A file that is written through a mapping would change unseen. */
function checkMaps({ steps }: Recording): void {
  const mapped = steps.flatMap((step) => (step.does === "map" && !isSharedMemory(step.path) ? [step.path] : []));
  if (mapped.length > 0) throw new Error(`written through a mapping, which is not recorded: ${mapped.join(", ")}`);
}

/** A call that was overlooked would show here: with every write there, the disk is as it really was at the end. */
function checkEnd(recording: Recording): void {
  const [played, real] = [killedAt(recording), killedAt({ before: recording.after, steps: [] })];
  const summary = (tree: Tree) =>
    [...tree].map(([path, content]) => `${path} ${content === "folder" ? content : hash("sha256", content)}`);
  assert.deepEqual(summary(played).sort(), summary(real).sort(), "the recorded calls lead to what lies there");
}

/**
 * What a program leaves that is killed at this moment: all that it wrote, synced or not. What it shared with others in memory
 * is not recorded, and SQLite makes it anew.
 */
function killedAt(recording: Pick<Recording, "before" | "steps">, moment = Number.POSITIVE_INFINITY): Tree {
  const disk = openDisk(recording);
  disk.advance(moment);
  const all: Fates = { change: () => "there", sector: () => true, name: () => true };
  return new Map([...disk.state(all)].filter(([path]) => !isSharedMemory(path)));
}

function writeTree(tree: Tree, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, content] of tree) {
    if (content === "folder") mkdirSync(join(folder, path));
    else writeFileSync(join(folder, path), content);
  }
}

/** The recording of a disk that breaks its word: it says yes to these syncs and does nothing. */
export function withoutSyncs(recording: Recording, isIgnored: (path: string) => boolean): Recording {
  return { ...recording, steps: recording.steps.filter((step) => step.does !== "sync" || !isIgnored(step.path)) };
}

/** Lines that the program wrote to its output, each with the moment at which it could be read. */
export function linesOf({ steps }: Recording): { readonly moment: number; readonly line: string }[] {
  return steps.flatMap((step) =>
    step.does === "say" && step.by === 1
      ? `${step.data}`.split("\n").map((line) => ({ moment: step.began, line }))
      : [],
  );
}

export function tellCuts(what: string, { moments, kept, random }: Figures): void {
  console.log(
    `power cuts, ${what}: ${moments} moments on ${kept} disks, ${random} torn disks, seed ${seed}, losses: 0`,
  );
}

/** What becomes of a write that nobody had synced: it is on the disk, is not, in parts, or only its length is. */
export type Fate = "there" | "missing" | "torn" | "zeros";

/** Decides what a power cut leaves of everything that is not yet safe. */
export type Fates = {
  change(change: ContentStep): Fate;
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

function openDisk({ before, steps }: Pick<Recording, "before" | "steps">): Disk {
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
    if (node.kind === "file") tree.set(path, contentOf(node, fates));
    if (node.kind !== "folder") return;
    if (path !== "") tree.set(path, "folder");
    for (const [name, below] of entriesOf(node)) walk(below, path === "" ? name : `${path}/${name}`);
  };
  walk(root, "");
  return tree;
}

function contentOf({ safe, pending }: FileNode, fates: Fates): Buffer {
  const decided = pending.map(({ step }) => ({ step, fate: fates.change(step) }));
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
