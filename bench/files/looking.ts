/** Listing and counting many files against `find`, exact also after changes from outside, and how long it holds up the loop. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bestInTurns, type Figure } from "../figure.ts";
import { must } from "../must.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const ratioMax = 2.5;
const stallMsMax = 50;

export async function measureLooking({ workspace, outside }: World, sizes: Sizes): Promise<Figure[]> {
  const { rounds, folders, filesPerFolder, flatFiles } = sizes;
  const [tree, flat] = [join(outside, "outputs/tree"), join(outside, "outputs/flat")];
  const info = async () => must(await workspace.info());
  const walk = async () => {
    for await (const _ of must(await workspace.walk("outputs/tree")));
  };
  const list = async () => must(await workspace.list("outputs/flat"));

  makeTree(tree, sizes);
  const many = await bestInTurns(rounds, [cpuMs(info), () => findCpuMs(outside), cpuMs(walk), () => findCpuMs(tree)]);
  const stalls = [await longestStall(rounds, info), 0, await longestStall(rounds, walk)];
  await checkExact({ workspace, outside });
  rmSync(tree, { recursive: true });
  makeFiles(flat, flatFiles);
  const one = await bestInTurns(rounds, [cpuMs(list), () => findCpuMs(flat)]);
  stalls[1] = await longestStall(rounds, list);
  await checkExact({ workspace, outside });
  rmSync(flat, { recursive: true });

  const names = [
    `info, ${folders * filesPerFolder} files in ${folders} folders`,
    `list, one folder of ${flatFiles} files`,
    `walk, ${folders * filesPerFolder} files in ${folders} folders`,
  ];
  const pairs = [many.slice(0, 2), one, many.slice(2)];
  return [
    ...names.map((what, index) => {
      const [value = 0, theirs = 0] = pairs[index] ?? [];
      // The walk is what `find_files` goes by; it has no target of its own.
      const atMost = what.startsWith("walk") ? undefined : ratioMax;
      return { what, value, unit: "CPU ms", against: { what: "find", value: theirs }, atMost };
    }),
    ...names.map((what, index) => ({
      what: `longest stall, ${what}`,
      value: stalls[index] ?? 0,
      unit: "ms",
      atMost: stallMsMax,
    })),
    { what: "longest stall, nothing to do (the machine's own)", value: await longestStall(1, idle), unit: "ms" },
  ];
}

/** Processor time, because both only look at what the system has in memory: a busy machine makes neither slower. */
function cpuMs(work: () => Promise<unknown>): () => Promise<number> {
  return async () => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}

function findCpuMs(folder: string): number {
  const script = `TIMEFORMAT='%U %S'; time find "$0" -printf '%s %T@\\n' > /dev/null`;
  const { status, stderr } = spawnSync("bash", ["-c", script, folder], { encoding: "utf8" });
  const [user, system] = stderr.trim().split(" ").map(Number);
  if (status !== 0 || user === undefined || system === undefined)
    throw new Error(`find ended with ${status}: ${stderr}`);
  return (user + system) * 1_000;
}

function makeTree(folder: string, { folders, filesPerFolder }: Sizes): void {
  for (let index = 0; index < folders; index += 1) makeFiles(join(folder, `folder-${index}`), filesPerFolder);
}

function makeFiles(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index += 1)
    writeFileSync(join(folder, `file-${index}.txt`), "x".repeat(index % 50));
}

/** Adds, changes and removes files behind our back, then compares with `find`; throws when anything differs. */
async function checkExact({ workspace, outside }: Pick<World, "workspace" | "outside">): Promise<void> {
  const folder = join(outside, "temp", "outside");
  const changes = [
    () => makeFiles(folder, 10),
    () => writeFileSync(join(folder, "file-3.txt"), "grown".repeat(99)),
    () => rmSync(join(folder, "file-7.txt")),
  ];
  for (const change of changes) {
    change();
    assert.deepEqual(figuresOf(must(await workspace.info())), counted(outside));
    const { entries } = must(await workspace.list("temp/outside"));
    const present = readdirSync(folder).sort();
    assert.deepEqual(
      entries.map(({ name, bytes }) => ({ name, bytes })),
      present.map((name) => ({ name, bytes: statSync(join(folder, name)).size })),
    );
  }
  rmSync(folder, { recursive: true });
  assert.deepEqual(figuresOf(must(await workspace.info())), counted(outside));
}

function figuresOf({ fileCount, dirCount, totalSize }: { fileCount: number; dirCount: number; totalSize: number }) {
  return { fileCount, dirCount, totalSize };
}

/** What `find` says, without the root and our own `.metadata.json`. */
function counted(folder: string) {
  const lines = spawnSync("find", [folder, "-mindepth", "1", "-not", "-name", ".metadata.json", "-printf", "%y %s\n"], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  }).stdout.split("\n");
  const sizes = lines.filter((line) => line.startsWith("f ")).map((line) => Number(line.slice(2)));
  return {
    fileCount: sizes.length,
    dirCount: lines.filter((line) => line.startsWith("d ")).length,
    totalSize: sizes.reduce((sum, size) => sum + size, 0),
  };
}

/** The longest time between two turns of the event loop, in the best of the rounds: what else runs here only adds. */
async function longestStall(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    let [last, most, isOver] = [performance.now(), 0, false];
    const look = () => {
      const now = performance.now();
      most = Math.max(most, now - last);
      last = now;
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    await work();
    isOver = true;
    best = Math.min(best, Math.max(most, performance.now() - last));
  }
  return best;
}

function idle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 300));
}
