import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chance, chanceOf } from "./fuzz-chance.ts";
import { type Fates, openDisk, type Tree } from "./power-cut-disk.ts";
import type { Recording } from "./power-cut-record.ts";

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

/** How far back, in moments, a disk is behind that wrote things in order, or ahead with the newest. */
const windowMax = 60;

/** Ways of disks: each write by itself; all up to one, which is torn; only the newest; some files and others not. */
const kinds: readonly ((chance: Chance, moment: number) => Named)[] = [
  (chance) => ({
    ...{ what: "each write by itself", sector: () => chance.odds(0.5), name: () => chance.odds(0.5) },
    change: () => chance.pick(["there", "missing", "torn", "zeros"]),
  }),
  (chance, moment) => {
    const end = moment - chance.int(0, windowMax);
    const sector = () => chance.odds(0.5);
    const name = someNames(chance);
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
  (chance, moment) => {
    const begin = moment - chance.int(0, windowMax);
    const name = someNames(chance);
    const change: Fates["change"] = ({ began }) => (began >= begin ? "there" : "missing");
    return { what: `only what is newer than ${begin}`, sector: () => false, name, change };
  },
  (chance) => {
    const files = new Map<string, boolean>();
    const change: Fates["change"] = (_, file) => {
      const isThere = files.get(file) ?? chance.odds(0.5);
      files.set(file, isThere);
      return isThere ? "there" : "missing";
    };
    return { what: "whole files", sector: () => false, name: someNames(chance), change };
  },
];

/** All new names, none, or some. */
function someNames(chance: Chance): () => boolean {
  const share = chance.pick([0, 0.5, 1]);
  return () => chance.odds(share);
}

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
export function killedAt(recording: Pick<Recording, "before" | "steps">, moment = Number.POSITIVE_INFINITY): Tree {
  const disk = openDisk(recording);
  disk.advance(moment);
  const all: Fates = { change: () => "there", sector: () => true, name: () => true };
  return new Map([...disk.state(all)].filter(([path]) => !isSharedMemory(path)));
}

export function writeTree(tree: Tree, folder: string): void {
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
